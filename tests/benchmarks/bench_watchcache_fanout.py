"""Lanes and cursors against a queue per watcher: what one delivery costs, in one process.

Both get the same events and have the same watchers, each read by a task of its own that takes whole
chunks, as a socket would. The queues are what kube-apiserver has, written as well as asyncio
allows: frames are encoded once an event there, too, and a reader takes all that waits at a time.

    python -m tests.benchmarks.bench_watchcache_fanout
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

from listwatch.protocol.clock import SystemClock
from listwatch.protocol.events import EndReason
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.requests import WatchRequest
from listwatch.watchcache.verdicts import content, verdict
from tests.benchmarks.bench_watchcache_support import JSON, PODS, caches, pod, report


class QueuedWatcher:
    """A watcher with a queue of its own, bounded, as upstream's."""

    def __init__(self, selector: Selector, size: int = 10_000) -> None:
        self.selector = selector
        self.queue: deque[bytes] = deque()
        self.size = size
        self.waiter: asyncio.Future[None] | None = None
        self.ended = False

    def offer(self, frame: bytes) -> None:
        if len(self.queue) < self.size:
            self.queue.append(frame)
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    async def next_chunk(self) -> bytes | None:
        while not self.queue:
            if self.ended:
                return None
            self.waiter = asyncio.get_running_loop().create_future()
            await self.waiter
        chunk = b"".join(self.queue)
        self.queue.clear()
        return chunk


class Queues:
    """Offers each event to every watcher, one after another."""

    def __init__(self, selectors: list[Selector]) -> None:
        self.watchers = [QueuedWatcher(selector) for selector in selectors]
        self.newest: dict[str, Version] = {}

    def apply(self, event: Version) -> None:
        before = self.newest.get(event.key)
        self.newest[event.key] = event
        frames: dict[str, bytes] = {}
        for watcher in self.watchers:
            heard = verdict(watcher.selector, event, before)
            if heard is not None:
                frame = frames.get(heard)
                if frame is None:
                    shown = content(heard, event, before)
                    frame = frames[heard] = JSON.frame(heard, shown, event.revision)
                watcher.offer(frame)


async def measure(
    kind: str, watchers: int, *, distinct: bool, events: int, rate: float
) -> tuple[float, int]:
    """CPU seconds of this process and frames delivered, at a rate of events a second."""
    selectors = [
        Selector.parse(labels=f"app=app-{n}" if distinct else "app!=none") for n in range(watchers)
    ]
    frames = 0

    async def read(watcher: object) -> None:
        nonlocal frames
        while (chunk := await watcher.next_chunk()) is not None:  # type: ignore[attr-defined]
            frames += chunk.count(b"\n")

    cache = caches(SystemClock())
    queues = Queues(selectors if kind == "queues" else [])
    readers: list[object] = list(queues.watchers)
    if kind == "lanes":
        cacher = cache.cacher(PODS)
        readers = [await cacher.watch(WatchRequest(JSON, selector=s)) for s in selectors]
    tasks = [asyncio.create_task(read(reader)) for reader in readers]
    await asyncio.sleep(0.1)
    versions = [pod(n + 1, f"pod-{n % 100}", app=f"app-{n % watchers}") for n in range(events)]
    cpu, start = time.process_time(), time.perf_counter()
    for n, version in enumerate(versions):
        if kind == "lanes":
            cache.apply(PODS, version)
            cache.advance(version.revision)
        else:
            queues.apply(version)
        ahead = start + (n + 1) / rate - time.perf_counter()
        if ahead > 0 or n % 20 == 0:
            await asyncio.sleep(max(ahead, 0))
    await asyncio.sleep(0.1)
    cpu = time.process_time() - cpu
    cache.end_watches(EndReason.SERVER_STOPPING)
    for queued in queues.watchers:
        queued.ended = True
        if queued.waiter is not None and not queued.waiter.done():
            queued.waiter.set_result(None)
    await asyncio.gather(*tasks)
    return cpu, frames


async def main() -> None:
    """Both, equal and distinct selectors, calm and busy."""
    for watchers, distinct, rate in [
        (100, False, 100.0),
        (500, False, 100.0),
        (500, False, 500.0),
        (500, False, 2000.0),
        (1000, True, 500.0),
    ]:
        events = 200 if rate <= 100 else 1000
        alone, _ = await measure("nobody", watchers, distinct=distinct, events=events, rate=rate)
        for kind in ("queues", "lanes"):
            cpu, frames = await measure(kind, watchers, distinct=distinct, events=events, rate=rate)
            cpu -= alone  # what feeding costs when nobody watches
            report(
                f"{kind:6} {watchers:5} {'distinct' if distinct else 'equal':8} {rate:6.0f}/s",
                f"{cpu / events * 1e6:8.1f} us an event",
                f"{cpu / max(frames, 1) * 1e6:7.2f} us a delivery",
                f"{frames} deliveries",
            )


if __name__ == "__main__":
    asyncio.run(main())
