"""A watch cache tells what is in it, and explains itself."""

from __future__ import annotations

from listwatch.protocol.events import EndReason
from listwatch.watchcache.requests import ClientInfo
from tests.watchcache.kit import World, documents, everything, labelled
from tests.watchcache.test_bookmarks_and_ends import TINY


async def test_statistics_tell_where_a_watch_stands_and_remember_how_it_ended() -> None:
    world = World()
    client = ClientInfo("kubectl/v1.37", "admin", "127.0.0.1:5000")
    watcher = await world.watch(
        namespace="blue", selector=labelled("app=web"), revision=0, client=client
    )
    world.write("a", {"app": "web"})
    world.write("a", {"app": "web", "n": "2"})
    await world.clock.advance(2)
    before = watcher.statistics()
    await everything(watcher)
    after = watcher.statistics()
    watcher.close(EndReason.CLIENT_LEFT)

    assert (before.agent, before.user, before.address) == (
        client.agent,
        client.user,
        client.address,
    )
    assert (before.namespace, before.selector) == ("blue", "labels:app=web")
    assert (before.lag_events, before.lag_seconds, before.delivered) == (2, 2.0, 0)
    assert (after.lag_events, after.lag_seconds, after.delivered) == (0, 0.0, 2)
    assert (after.frames, after.chunks, after.phase) == (2, 1, "live")
    (ended,) = world.pods.ended()
    assert (ended.id, ended.end_reason, ended.phase) == (
        watcher.id, EndReason.CLIENT_LEFT, "ended",
    )  # fmt: skip
    assert world.pods.statistics().delivered_frames == 2


async def test_the_arithmetic_of_410_is_explained() -> None:
    world = World(TINY)
    for _ in range(10):
        world.write("a", {})
    world.log.compacted_to = 3

    told = [await world.pods.explain(revision) for revision in (2, 3, 6, 8, 11)]
    assert [one.source for one in told] == ["refused", "log", "ring", "ring", "future"]
    assert told[0].message == "too old resource version: 2 (3)"
    assert (told[1].oldest_in_ring, told[1].oldest_in_log, told[3].replayed) == (6, 3, 2)


async def test_the_ring_shows_its_slots_and_the_way_of_each_event() -> None:
    world = World(TINY)
    reader = await world.watch(selector=labelled("app=web"))
    for labels in ({"app": "web"}, {"app": "db"}, None, {}, {"app": "web"}):
        world.write("a", labels)
        if labels is None:
            await everything(reader)
    await world.clock.advance(3)
    slots = world.pods.ring_slots()

    assert [(slot.index, slot.revision, slot.type.value) for slot in slots] == [
        (1, 2, "MODIFIED"), (2, 3, "DELETED"), (3, 4, "ADDED"), (4, 5, "MODIFIED"),
    ]  # fmt: skip
    assert all(slot.age == 3 and slot.bytes > 50 for slot in slots)
    assert [slot.revision for slot in world.pods.ring_slots(2, 1)] == [3]
    journey = world.pods.journey(5)
    assert journey is not None
    assert [(stop.watcher, stop.type, stop.delivered) for stop in journey.stops] == [
        (reader.id, "ADDED", False)
    ]
    assert world.pods.journey(1) is None
    watcher = await world.watch(revision=4, selector=labelled("app=web"))
    (document,) = documents(await watcher.next_chunk())
    assert document["type"] == "ADDED"
    journey = world.pods.journey(5)
    assert journey is not None
    assert {stop.watcher: stop.delivered for stop in journey.stops}[watcher.id] is True
