"""Every figure of docs/performance.md, measured: a server of its own, and `kbench` against it.

    python -m tests.benchmarks.run [--repeat 3] [--only fanout,list] > figures.md
    python -m tests.benchmarks.run --against https://127.0.0.1:6443,TOKEN,PID,PID

Needs Go for `kbench`. The figures of the real server, kube-apiserver 1.36.2 with etcd 3.6, were
taken with the same program on a machine of the same kind: two cores, shared with the client, TLS.
`--against` measures one that runs here instead, in turns with ours, and sets the goals by it.
Compare CPU per unit of work; rates and delays depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.servers import Server

KBENCH = Path(__file__).with_name("kbench")
Figures = dict[str, float]


@dataclass(frozen=True)
class Row:
    """One line of the table: what is run, which figure is shown, and the real server's."""

    group: str
    work: str
    arguments: str
    figure: str
    unit: str
    real: str
    goal: str = ""
    factor: float = 0.0  # of the real server's figure, where the goal is one of it


FANOUT_RATE = "fanout -w 1000 -k 200 -c 4 -rate 20"
ROWS = (
    Row("write", "write, 8 clients, CPU", "write -k 3000 -c 8", "cpu_us_per_write", "us", "1,815"),
    Row("write", "write, 8 clients, rate", "write -k 3000 -c 8", "per_s", "/s", "917", ">= 917",
        1.0),
    Row("write", "write, 32 clients, CPU", "write -k 3000 -c 32", "cpu_us_per_write", "us",
        "1,705"),
    Row("write", "write, 32 clients, rate", "write -k 3000 -c 32", "per_s", "/s", "1,025",
        ">= 1,025"),
    Row("write", "write, 8 clients, p99", "write -k 3000 -c 8", "p99_ms", "ms", "25"),
    Row("fanout", "fan-out to 100, CPU a delivery", "fanout -w 100 -k 1000 -c 8",
        "cpu_us_per_delivery", "us", "22.8", "<= 11.4", 0.5),
    Row("fanout", "fan-out to 100, p99", "fanout -w 100 -k 1000 -c 8", "p99_ms", "ms", "47.9"),
    Row("fanout", "fan-out to 500, CPU a delivery", "fanout -w 500 -k 500 -c 8",
        "cpu_us_per_delivery", "us", "16.4", "<= 8.2", 0.5),
    Row("fanout", "fan-out to 500, p99", "fanout -w 500 -k 500 -c 8", "p99_ms", "ms", "193"),
    Row("fanout", "1,000 watchers, 20 writes a second, CPU", FANOUT_RATE, "cpu_us_per_delivery",
        "us", "31.0"),
    Row("fanout", "1,000 watchers, 20 writes a second, p99", FANOUT_RATE, "p99_ms", "ms", "29.1"),
    Row("idle", "one write to 3,000 watchers, p99", "fanout -w 3000 -k 1 -c 1", "p99_ms", "ms",
        "759", "<= 200"),
    Row("idle", "an idle watcher", "fanout -w 3000 -k 1 -c 1", "kib_per_idle_watcher", "KiB",
        "93", "<= 56"),
    Row("selectors", "write, nobody watching", "fanout -w 0 -k 1000 -c 8", "cpu_us_per_write",
        "us", "1,815"),
    Row("selectors", "write, 1,000 distinct label selectors",
        "fanout -w 1000 -k 1000 -c 8 -sel label", "cpu_us_per_write", "us", "2,350",
        "<= 100 more"),
    Row("selectors", "write, 1,000 watchers by spec.nodeName",
        "fanout -w 1000 -k 1000 -c 8 -sel node", "cpu_us_per_write", "us", "2,670"),
    Row("list", "list 6,000 pods, consistent, rate", "list -k 100 -c 4", "req_per_s", "/s", "5.2",
        ">= 41.6", 8.0),
    Row("list", "list 6,000 pods, consistent, CPU", "list -k 100 -c 4", "cpu_ms_per_list", "ms",
        "264"),
    Row("list", "list 6,000 pods, RV 0, rate", "list -k 100 -c 4 -rv0", "req_per_s", "/s", "6.9"),
    Row("list", "list 60 of 6,000 by spec.nodeName, CPU", "list -k 2000 -c 4 -rv0 -sel node",
        "cpu_ms_per_list", "ms", "1.5"),
    Row("list", "list none of 6,000 by label, CPU", "list -k 2000 -c 4 -rv0 -sel label",
        "cpu_ms_per_list", "ms", "2.5"),
    Row("list", "page of 500, consistent, CPU", "list -k 200 -c 4 -limit 500", "cpu_ms_per_list",
        "ms", "16"),
)  # fmt: skip
SEEDS = {"list": "seedpods -n 6000 -c 16", "compete": "seedpods -n 6000 -c 16"}


class Target(NamedTuple):
    """A server that is measured: its secure port, a token, and the processes whose CPU counts."""

    url: str
    token: str
    pids: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read URL,TOKEN,PID[,PID]."""
        return cls(*text.split(",", 2))


class Bench:
    """One server, ours or a given one, and kbench against its secure port."""

    def __init__(self, folder: Path, binary: Path, target: Target | None = None) -> None:
        self.server = Server(folder, "--no-controllers")
        self.binary = binary
        self.target = target

    def command(self, arguments: str, size: int = 1024) -> list[str]:
        server = self.server
        target = self.target or Target(server.secure_url, server.token, str(server.pid))
        return [
            str(self.binary), "-url", target.url, "-token", target.token,
            "-pids", target.pids, "-size", str(size), *arguments.split(),
        ]  # fmt: skip

    def run(self, arguments: str) -> Figures:
        """The figures that one run prints."""
        size = 2048 if arguments.startswith(("seedpods", "list")) else 1024
        done = subprocess.run(
            self.command(arguments, size), capture_output=True, text=True, check=True, timeout=600
        )
        found = {name: float(value) for name, value in re.findall(r"(\w+)=(-?[\d.]+)", done.stdout)}
        if found.get("failed") or found.get("dropped_streams"):
            raise SystemExit(f"{arguments}: {done.stdout}{done.stderr[-2000:]}")
        return found


def start_figures(folder: Path) -> Figures:
    """Seconds to /readyz on an empty directory, and the memory then."""
    server = Server(folder, "--no-controllers")
    begun = time.monotonic()
    server.start()
    seconds = time.monotonic() - begun
    memory = server.resident() / 2**20
    server.stop()
    return {"ready_s": seconds, "ready_mib": memory}


def compete(bench: Bench) -> Figures:
    """The delay of watches while four clients list 6,000 pods in a loop, and without them."""
    arguments = "fanout -w 100 -k 200 -c 2 -rate 20"
    alone = bench.run(arguments)
    lists = subprocess.Popen(
        bench.command("list -k 4000 -c 4", 2048), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        time.sleep(1)
        beside = bench.run(arguments)
        assert lists.poll() is None, "the lists ended too early"
    finally:
        lists.kill()
        lists.wait()
    return {"alone_p99_ms": alone["p99_ms"], "beside_p99_ms": beside["p99_ms"]}


def median_of(repeat: int, measure: Callable[[], Figures]) -> Figures:
    """The median of each figure, of so many runs."""
    runs = [measure() for _ in range(repeat)]
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def shown(value: float, unit: str) -> str:
    """A figure as the table has it."""
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def medians(runs: list[dict[str, Figures]]) -> dict[str, Figures]:
    """By command, the median of each figure."""
    return {
        command: {name: statistics.median(run[command][name] for run in runs) for name in first}
        for command, first in runs[0].items()
    }


def table(
    groups: set[str], repeat: int, binary: Path, folder: Path, against: Target | None
) -> list[str]:
    lines = ["| work | listwatch | real server | goal |", "| --- | ---: | ---: | ---: |"]

    def line(work: str, value: float, unit: str, real: str, goal: str) -> None:
        lines.append(f"| {work} | {shown(value, unit)} | {real} | {goal} |")
        print(lines[-1], file=sys.stderr, flush=True)

    if "start" in groups:
        numbers = iter(range(repeat))
        started = median_of(repeat, lambda: start_figures(folder / f"start{next(numbers)}"))
        line("start on an empty directory", started["ready_s"], "s", "4.1 s", "<= 1.5")
        line("memory then", started["ready_mib"], "MiB", "322 MiB", "<= 120")
    for group in dict.fromkeys(row.group for row in ROWS if row.group in groups):
        bench = Bench(folder / group, binary)
        other = Bench(folder, binary, against) if against is not None else None
        bench.server.start()
        try:
            for each in (bench, other):
                if group in SEEDS and each is not None:
                    each.run(SEEDS[group])
            rows = [row for row in ROWS if row.group == group]
            commands = dict.fromkeys(row.arguments for row in rows)
            ours, theirs = [], []
            # Interleaved, so that a disturbance of the machine touches all of them alike.
            for _ in range(repeat):
                ours.append({command: bench.run(command) for command in commands})
                if other is not None:
                    theirs.append({command: other.run(command) for command in commands})
            measured, real = medians(ours), medians(theirs) if theirs else None
            for row in rows:
                value = measured[row.arguments][row.figure]
                if real is None:
                    line(row.work, value, row.unit, f"{row.real} {row.unit}", row.goal)
                    continue
                beside = real[row.arguments][row.figure]
                goal = f"{row.goal[:2]} {beside * row.factor:,.3g}" if row.factor else row.goal
                line(row.work, value, row.unit, shown(beside, row.unit), goal)
        finally:
            bench.server.stop()
    if "compete" in groups:
        bench = Bench(folder / "compete", binary)
        bench.server.start()
        try:
            bench.run(SEEDS["compete"])
            figures = median_of(repeat, lambda: compete(bench))
            line("watch p99, nobody listing", figures["alone_p99_ms"], "ms", "", "")
            line("watch p99, 4 clients listing 6,000 pods", figures["beside_p99_ms"], "ms", "",
                 "<= 50")  # fmt: skip
        finally:
            bench.server.stop()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    every = ["start", *dict.fromkeys(row.group for row in ROWS), "compete"]
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default=",".join(every))
    parser.add_argument("--against", type=Target.parse, metavar="URL,TOKEN,PIDS")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        binary = folder / "kbench"
        subprocess.run(["go", "build", "-o", binary, "."], cwd=KBENCH, check=True)
        groups = set(arguments.only.split(","))
        lines = table(groups, arguments.repeat, binary, folder, arguments.against)
    print(f"{os.cpu_count()} cores, median of {arguments.repeat}\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
