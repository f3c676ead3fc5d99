"""What one open dashboard costs, and what it costs the watches: 1,000 of them, 500 events a second.

    python -m tests.benchmarks.dashboard [--watchers 1000] [--rate 500] [--pairs 6] [--seconds 10]

A server of its own, a writer, clients that watch, and Chromium on each page in turn; the watchers
share 100 label selectors, so that each event is due to ten of them. Measured, for each page:

    frames/s      data frames on its socket; the bound is 10
    main thread   share of the browser's main thread (Performance.getMetrics, TaskDuration)
    its CPU       the same by the processor's clock, which does not count what others take away
    server CPU    of the server's process, as a share of one core, with the page less without it,
                  each taken to the full rate of events
    latency p50   from the write's answer to the client's socket, with the page less without it

Stretches with and without the page alternate, and each with it is held against the mean of those
beside it, so that a machine that drifts drifts for both.
Figures are for docs/performance.md; a goal that is missed is said, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, CDPSession, Page, async_playwright

from tests.benchmarks.dashboard_load import Load
from tests.dashboard.journeys.conftest import ARGUMENTS, CHROMIUM
from tests.servers import Server

PAGES = ("/dashboard/flow/", "/dashboard/watchers/", "/dashboard/rings/configmaps/", "/dashboard/")
SETTLE = 3.0  # seconds before each measurement


@dataclass(frozen=True)
class Sample:
    """One stretch of time."""

    cpu: float  # of the server, as a share of one core
    latency: float  # median, in ms
    events: float  # written a second

    def cpu_at(self, rate: float) -> float:
        """What the server would use at a set rate: a machine that is shared never keeps to it."""
        return self.cpu / self.events * rate


@dataclass
class Figures:
    """All stretches of one page."""

    path: str
    frames: list[float] = field(default_factory=list)
    main_thread: list[float] = field(default_factory=list)
    main_cpu: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)
    events: list[float] = field(default_factory=list)

    def goals(self) -> list[tuple[str, float, float, str]]:
        """Name, median, goal and how it is written."""
        middle = statistics.median
        return [
            ("frames/s", middle(self.frames), 10.0, "{:.1f}"),
            ("main thread, %", 100 * middle(self.main_thread), 50.0, "{:.1f}"),
            ("its CPU, %", 100 * middle(self.main_cpu), 50.0, "{:.1f}"),
            ("server CPU, % of a core", 100 * middle(self.cpu), 3.0, "{:+.1f}"),
            ("latency p50, ms", middle(self.latency), 1.0, "{:+.2f}"),
        ]


class Looker:
    """One page in Chromium, counted."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self.page = page
        self.cdp = cdp
        self.frames = 0

    @classmethod
    async def open(cls, context: BrowserContext, path: str) -> Looker:
        """Open a page and wait until it is live."""
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        looker = cls(page, cdp)
        page.on("websocket", lambda socket: socket.on("framereceived", looker._received))
        await cdp.send("Performance.enable")
        await page.goto(path)
        await page.wait_for_selector("#chip[data-is=live]")
        return looker

    def _received(self, _: object) -> None:
        self.frames += 1

    async def busy(self) -> float:
        """Seconds that the main thread has worked."""
        metrics = (await self.cdp.send("Performance.getMetrics"))["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


async def main_threads(context: BrowserContext) -> dict[int, float]:
    """Seconds of processor that the main thread of each renderer has used, by process."""
    assert context.browser is not None
    session = await context.browser.new_browser_cdp_session()
    found = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    await session.detach()
    processes = (int(each["id"]) for each in found if each["type"] == "renderer")
    return {process: _thread_seconds(process) for process in processes}


def _thread_seconds(process: int) -> float:
    stat = Path(f"/proc/{process}/task/{process}/stat").read_text()
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def stretch(load: Load, server: Server, seconds: float) -> Sample:
    """Measure the server and the watches for a while."""
    await asyncio.sleep(SETTLE)
    load.latencies.clear()
    cpu, written = server.processor_seconds(), load.written
    began = asyncio.get_running_loop().time()
    await asyncio.sleep(seconds)
    took = asyncio.get_running_loop().time() - began
    return Sample(
        (server.processor_seconds() - cpu) / took,
        statistics.median(load.latencies) * 1000 if load.latencies else float("nan"),
        (load.written - written) / took,
    )


async def pair(
    load: Load,
    server: Server,
    context: BrowserContext,
    figures: Figures,
    seconds: float,
    before: Sample,
) -> Sample:
    """With the page, then without it, which is returned; `before` is the one without it before."""
    looker = await Looker.open(context, figures.path)
    await asyncio.sleep(SETTLE)
    frames, busy, used = looker.frames, await looker.busy(), await main_threads(context)
    began = asyncio.get_running_loop().time()
    with_it = await stretch(load, server, seconds)
    took = asyncio.get_running_loop().time() - began
    figures.frames.append((looker.frames - frames) / took)
    figures.main_thread.append((await looker.busy() - busy) / took)
    now = await main_threads(context)
    # The page's is the one that works; Chromium keeps a spare.
    figures.main_cpu.append(max(now[each] - used[each] for each in now.keys() & used) / took)
    await looker.page.close()
    after = await stretch(load, server, seconds)
    without = (before.cpu_at(load.rate) + after.cpu_at(load.rate)) / 2
    figures.cpu.append(with_it.cpu_at(load.rate) - without)
    figures.latency.append(with_it.latency - (before.latency + after.latency) / 2)
    figures.events.append(with_it.events)
    return after


async def measure(server: Server, browser: Browser, options: argparse.Namespace) -> bool:
    """All pages; True if every goal is met."""
    context = await browser.new_context(base_url=server.url)
    first = await context.new_page()
    await first.goto(server.login_link())
    await first.close()
    good = True
    async with Load(server, watchers=options.watchers, rate=options.rate) as load:
        empty = await stretch(load, server, options.seconds)
        print(
            f"| {options.watchers:,} watchers, {empty.events:.0f} events a second | "
            f"server {100 * empty.cpu:.0f} % of a core | p50 {empty.latency:.2f} ms |"
        )
        print("| page | figure | median | of each pair | goal |\n| --- | --- | --- | --- | --- |")
        for path in options.pages:
            figures = Figures(path)
            before = await stretch(load, server, options.seconds)
            for _ in range(options.pairs):
                before = await pair(load, server, context, figures, options.seconds, before)
            good = report(figures) and good
    return good


def report(figures: Figures) -> bool:
    """Print a page's lines."""
    good = True
    lists = (
        figures.frames, figures.main_thread, figures.main_cpu, figures.cpu, figures.latency,
    )  # fmt: skip
    for (name, value, goal, form), each in zip(figures.goals(), lists, strict=True):
        scale = 100 if "%" in name else 1
        singles = " ".join(form.format(scale * one) for one in each)
        met = value <= goal if name != "frames/s" else value < goal
        good = good and met
        verdict = "" if met else " **missed**"
        print(f"| {figures.path} | {name} | {form.format(value)}{verdict} | {singles} | {goal:g} |")
    return good


async def main(arguments: list[str]) -> int:
    """Run, and say which goals are met."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.dashboard")
    parser.add_argument("--watchers", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--pages", nargs="*", default=PAGES)
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="dashboard-bench-"))
    server = Server(folder, "--no-controllers").start()
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            good = await measure(server, browser, options)
            await browser.close()
    finally:
        server.stop()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
