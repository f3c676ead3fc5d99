"""Lists of 6,000 pods: whole, in pages, by index; and the sorted keys they come from.

References only; writing the bodies is `api`'s and costs more than all of this.

    python -m tests.benchmarks.bench_watchcache_lists
"""

from __future__ import annotations

import random
from bisect import bisect_left, insort

from listwatch.protocol.selectors import Selector
from listwatch.watchcache.cacher import Cacher
from listwatch.watchcache.requests import ListRequest
from listwatch.watchcache.sorted_keys import SortedKeys
from tests.benchmarks.bench_watchcache_support import PODS, caches, per_call, pod, report


def lists() -> None:
    """Each way of asking for pods."""
    cache = caches(objects=6000)
    cacher = cache.cacher(PODS)
    for label, request in [
        ("all 6,000", ListRequest()),
        ("one namespace", ListRequest(namespace="default")),
        ("one by name", ListRequest(namespace="default", name="pod-003000")),
        (
            "51 by spec.nodeName (index)",
            ListRequest(selector=Selector.parse("", "spec.nodeName=node-7")),
        ),
        ("60 by label (index)", ListRequest(selector=Selector.parse("app=app-7"))),
        ("5,940 by label (scan)", ListRequest(selector=Selector.parse("app!=app-7"))),
        ("first page of 500, pinned", ListRequest(limit=500)),
    ]:
        found = len(cacher.list(request).versions)
        cost = per_call(lambda request=request: cacher.list(request))  # type: ignore[misc]
        report(f"{label:32}", f"{cost:9.1f} us", f"{found} objects")
    report(f"{'12 pages of 500':32}", f"{per_call(lambda: pages(cacher)):9.1f} us")
    revision = 6000
    for _ in range(1000):
        revision += 1
        cache.apply(PODS, pod(revision, f"pod-{random.randrange(6000):06}"))
        cache.advance(revision)
    cost = per_call(lambda: cacher.versions.at(6000))
    report(f"{'state 1,000 events ago':32}", f"{cost:9.1f} us", "made once for all its pages")


def pages(cacher: Cacher) -> None:
    """All pages of one revision."""

    async def walk() -> None:
        revision = cacher.progress.applied
        page = cacher.list(ListRequest(limit=500))
        while page.next_key is not None:
            request = ListRequest(start_key=page.next_key, limit=500)
            page = await cacher.list_at(revision, request)

    coroutine = walk()
    try:
        coroutine.send(None)  # nothing in it waits
    except StopIteration:
        return
    raise AssertionError("a page waited")


def keys() -> None:
    """Inserting and removing in the middle: one list against chunks."""
    for count in (6000, 100_000, 1_000_000):
        names = [f"default/pod-{n:07}" for n in range(count)]
        plain, chunked = list(names), SortedKeys(names)
        chosen = random.Random(1)

        def in_list(plain: list[str] = plain, chosen: random.Random = chosen) -> None:
            key = f"default/pod-{chosen.randrange(len(plain)):07}x"
            insort(plain, key)
            del plain[bisect_left(plain, key)]

        def in_chunks(chunked: SortedKeys = chunked, chosen: random.Random = chosen) -> None:
            key = f"default/pod-{chosen.randrange(len(chunked)):07}x"
            chunked.add(key)
            chunked.remove(key)

        report(
            f"{count:9,} keys, in and out again",
            f"list {per_call(in_list):8.2f} us",
            f"chunks {per_call(in_chunks):6.2f} us",
        )


if __name__ == "__main__":
    lists()
    keys()
