"""All caches together: made on demand, filled and refilled at one revision."""

from __future__ import annotations

import pytest

from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import ListRequest, WatchRequest
from tests.watchcache.kit import JSON, PODS, Log, World, everything, version

LEASES = GroupResource("coordination.k8s.io", "leases")


def empty() -> Caches:
    clock = FakeClock()
    return Caches(Progress(clock), history=Log(), clock=clock)


async def test_nothing_is_served_before_the_caches_are_filled() -> None:
    caches = empty()
    with pytest.raises(StatusError) as caught:
        caches.cacher(PODS).list(ListRequest())
    assert caught.value.code == 429

    caches.fill(7, 5, {})
    assert caches.cacher(PODS).list(ListRequest()).revision == 7


async def test_a_resource_that_is_seen_for_the_first_time_can_be_watched_from_the_floor() -> None:
    caches = empty()
    caches.fill(7, 5, {PODS: ([version(6, "a")], [version(6, "a")])})
    caches.apply(LEASES, version(8, "lock"))
    caches.advance(8)
    leases = caches.cacher(LEASES)
    watcher = await leases.watch(WatchRequest(JSON, revision=5))

    assert await everything(watcher) == [("ADDED", "lock", 8)]
    assert [v.name for v in leases.list(ListRequest()).versions] == ["lock"]
    assert caches.cacher(PODS).list(ListRequest()).revision == 8
    assert set(caches.statistics()) == {PODS, LEASES}


async def test_a_refill_forgets_what_is_gone_and_ends_what_watched() -> None:
    world = World()
    world.write("a", {})
    watcher = await world.watch()
    page = world.pods.list(ListRequest(limit=1))
    world.log.write("a", None)  # in the log, and never applied
    world.log.write("b", {})
    world.log.compacted_to = 3
    world.fill(3)

    assert watcher.end_reason is EndReason.HISTORY_LOST
    assert world.names() == ["b"]
    assert world.pods.floor == 3
    with pytest.raises(StatusError):
        await world.pods.list_at(page.revision, ListRequest())


async def test_ending_all_watches_reaches_every_resource() -> None:
    caches = empty()
    caches.fill(0, 0, {})
    watchers = [
        await caches.cacher(resource).watch(WatchRequest(JSON)) for resource in (PODS, LEASES)
    ]
    caches.end_watches(EndReason.SERVER_STOPPING)

    assert [watcher.end_reason for watcher in watchers] == [EndReason.SERVER_STOPPING] * 2
    assert [statistics.watchers for statistics in caches.statistics().values()] == [0, 0]


@pytest.mark.parametrize(
    "options",
    [
        {"ring_minimum": 10, "ring_maximum": 5},
        {"ring_minimum": 0},
        {"chunk_bytes": 0},
    ],
)
def test_options_that_cannot_work_together_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must"):
        CacheOptions(**options)
