"""What one event costs the cache before anyone reads it, and what selectors add to that.

python -m tests.benchmarks.bench_watchcache_apply
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from listwatch.protocol.events import EndReason
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.requests import WatchRequest
from listwatch.watchcache.watcher import CacheWatcher
from tests.benchmarks.bench_watchcache_support import JSON, PODS, caches, pod, report

EVENTS = 2000


async def measure(label: str, selectors: Sequence[Selector], objects: int = 6000) -> None:
    """Time of `apply` and `advance`; what the readers do with it meanwhile is not counted."""
    cache = caches(objects=objects, flush_interval=0.0)
    cacher = cache.cacher(PODS)
    readers = [
        asyncio.create_task(read(await cacher.watch(WatchRequest(JSON, selector=selector))))
        for selector in selectors
    ]
    flips: list[Version] = [
        pod(objects + n + 1, f"pod-{n * 7919 % objects:06}", app=f"app-{n % 100}")
        for n in range(EVENTS)
    ]
    costs = []
    for version in flips:
        start = time.perf_counter()
        cache.apply(PODS, version)
        cache.advance(version.revision)
        costs.append(time.perf_counter() - start)
        for _ in range(3):
            await asyncio.sleep(0)
    costs.sort()
    statistics = cacher.statistics()
    report(
        f"{label:34}",
        f"{costs[len(costs) // 2] * 1e6:7.1f} us median",
        f"{costs[len(costs) * 99 // 100] * 1e6:7.1f} us p99",
        f"{statistics.evaluations / EVENTS:6.1f} selectors asked",
    )
    cache.end_watches(EndReason.SERVER_STOPPING)
    await asyncio.gather(*readers)


async def read(watcher: CacheWatcher) -> None:
    """A reader who is always quick."""
    while await watcher.next_chunk() is not None:
        pass


async def main() -> None:
    """No watcher, few, and a thousand selectors of several shapes."""
    labels = Selector.parse
    await measure("no watcher", [])
    await measure("no watcher, 100,000 objects", [], objects=100_000)
    await measure("one watcher of everything", [labels()])
    await measure("ten lanes", [labels(f"app!=none-{n}") for n in range(10)])
    await measure("1,000 labels, equal to one value", [labels(f"app=app-{n}") for n in range(1000)])
    await measure("1,000 labels, other keys", [labels(f"key-{n}=x") for n in range(1000)])
    await measure(
        "1,000 labels, two values", [labels(f"app in (app-{n},b-{n})") for n in range(1000)]
    )
    await measure(
        "1,000 nodes (kubelets)", [labels("", f"spec.nodeName=node-{n}") for n in range(1000)]
    )
    await measure("1,000 names", [labels("", f"metadata.name=pod-{n:06}") for n in range(1000)])
    await measure("1,000 without equality (all asked)", [labels(f"app!=x{n}") for n in range(1000)])


if __name__ == "__main__":
    asyncio.run(main())
