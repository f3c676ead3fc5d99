"""What watchers share: one evaluation, one encoding, one joined chunk; and when they are woken."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from listwatch.protocol.events import EndReason, EventType
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.lanes import Offer
from listwatch.watchcache.observer import NullObserver, Observers
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.watcher import CacheWatcher
from tests.watchcache.kit import JSON, World, everything, frames, labelled, settle


@dataclass(frozen=True)
class Tabular(JSONRepresentation):
    """Says in its first frame that it is the first, as a Table does with its columns."""

    name: str = "table"
    first_frame_differs: bool = True

    def frame(
        self, event_type: EventType, version: Version, revision: int, *, first: bool = False
    ) -> bytes:
        frame = super().frame(event_type, version, revision)
        return frame.replace(b'"kind":"Pod"', b'"kind":"Pod","columns":1', 1) if first else frame

    def bookmark(self, revision: int, *, initial_events_end: bool, first: bool = False) -> bytes:
        frame = super().bookmark(revision, initial_events_end=initial_events_end)
        return frame.replace(b'"kind":"Pod"', b'"kind":"Pod","columns":1', 1) if first else frame


class CountingSelector(Selector):
    __slots__ = ()
    asked = 0

    def matches(self, version: Version) -> bool:
        CountingSelector.asked += 1
        return super().matches(version)


async def read(watcher: CacheWatcher, into: list[bytes]) -> None:
    while (chunk := await watcher.next_chunk()) is not None:
        into.append(chunk)


async def test_500_equal_watchers_cost_one_evaluation_and_one_encoding_an_event() -> None:
    world = World()
    CountingSelector.asked = 0
    selectors = [CountingSelector(labelled("app!=db").labels) for _ in range(500)]
    watchers = [await world.watch(selector=selector) for selector in selectors]
    heard: list[list[bytes]] = [[] for _ in watchers]
    reading = [
        asyncio.create_task(read(watcher, into))
        for watcher, into in zip(watchers, heard, strict=True)
    ]
    for n in range(20):
        world.write("a", {"n": str(n)})
        await settle()

    statistics = world.pods.statistics()
    assert (statistics.watchers, statistics.lanes, statistics.selectors) == (500, 1, 1)
    assert (statistics.evaluations, statistics.encodings) == (20, 20)
    assert CountingSelector.asked == 39  # each version and the one before, but for the first
    assert all(len(chunks) == 20 for chunks in heard)
    assert all(a is b for a, b in zip(heard[0], heard[499], strict=True))
    world.caches.end_watches(EndReason.SERVER_STOPPING)
    await asyncio.gather(*reading)


async def test_lanes_that_differ_only_in_how_they_write_share_the_evaluation() -> None:
    world = World()
    selector = labelled("app!=db")
    other = JSONRepresentation("PartialObjectMetadata", "meta.k8s.io/v1", name="partial")
    watchers = [
        await world.watch(selector=selector),
        await world.watch(selector=selector, representation=other),
        await world.watch(selector=selector, namespace="blue"),
    ]
    world.write("a", {})

    for watcher in watchers:
        assert [frame[:2] for frame in await everything(watcher)] == [("ADDED", "a")]
    statistics = world.pods.statistics()
    assert (statistics.lanes, statistics.selectors) == (3, 1)
    assert (statistics.evaluations, statistics.encodings) == (1, 3)


async def test_an_event_does_not_ask_the_selectors_that_require_other_values() -> None:
    world = World()
    watchers = [await world.watch(selector=labelled(f"app=a{n}")) for n in range(1000)]
    world.write("x", {"app": "a7"})
    world.write("x", {"app": "a8"})

    statistics = world.pods.statistics()
    assert (statistics.evaluations, statistics.index_hits) == (3, 3)
    assert statistics.index_spared == 1997
    assert await everything(watchers[7]) == [("ADDED", "x", 1), ("DELETED", "x", 2)]
    assert await everything(watchers[8]) == [("ADDED", "x", 2)]
    assert await everything(watchers[9]) == []


async def test_watchers_of_a_lane_without_an_event_are_not_woken() -> None:
    world = World()
    quiet = await world.watch(selector=labelled("app=quiet"))
    reading = asyncio.create_task(quiet.next_chunk())
    await settle()
    waiter = quiet._waiter
    for _ in range(10):
        world.write("a", {"app": "busy"})
        await settle()

    assert quiet._waiter is waiter
    assert waiter is not None
    assert not waiter.done()
    quiet.close(EndReason.CLIENT_LEFT)
    assert await reading is None


async def test_what_is_applied_together_is_read_together() -> None:
    world = World(CacheOptions())
    watcher = await world.watch()
    reading = asyncio.create_task(watcher.next_chunk())
    await settle()
    for n in range(5):
        world.write(f"p{n}", {})

    assert [revision for _, _, revision in frames(await reading)] == [1, 2, 3, 4, 5]


async def test_an_idle_lane_is_flushed_at_once_and_a_busy_one_waits_its_interval_out() -> None:
    world = World(CacheOptions(flush_interval=0.005))
    watcher = await world.watch()
    chunks: list[bytes] = []
    reading = asyncio.create_task(read(watcher, chunks))
    await settle()
    world.write("a", {})
    await settle()
    assert len(chunks) == 1  # at once

    for name in ("b", "c"):
        world.write(name, {})
        await settle()
    assert len(chunks) == 1
    await world.clock.advance(0.004)
    assert len(chunks) == 1
    await world.clock.advance(0.002)
    assert [revision for _, _, revision in frames(chunks[1])] == [2, 3]

    await world.clock.advance(1.0)
    world.write("d", {})
    await settle()
    assert len(chunks) == 3  # idle again
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)


async def test_an_idle_lane_is_flushed_at_once_though_another_is_busy() -> None:
    world = World(CacheOptions(flush_interval=0.005))
    busy, idle = await world.watch(name="busy"), await world.watch(name="idle")
    for _ in range(3):
        world.write("busy", {})
        await settle()
    assert len(frames(await busy.next_chunk())) == 1
    waiting = asyncio.create_task(busy.next_chunk())
    world.write("idle", {})
    await settle()

    assert frames(await idle.next_chunk()) == [("ADDED", "idle", 4)]
    assert not waiting.done()
    await world.clock.advance(0.006)
    assert len(frames(await waiting)) == 2


async def test_a_thousand_busy_lanes_are_flushed_by_few_timers() -> None:
    world = World(CacheOptions(flush_interval=0.005))
    watchers = [await world.watch(name=f"p{n}") for n in range(1000)]
    timers = 0
    call_later = world.clock.call_later

    def counted(seconds, callback):  # type: ignore[no-untyped-def]
        nonlocal timers
        timers += 1
        return call_later(seconds, callback)

    world.clock.call_later = counted  # type: ignore[method-assign]
    for _ in range(2):
        for n in range(1000):
            world.write(f"p{n}", {})
            if n % 100 == 0:
                await world.clock.advance(0.0004)
    await world.clock.advance(0.02)

    assert timers <= 12
    assert all(watcher.lane and watcher.lane.released == 2 for watcher in watchers)


async def test_a_reader_who_comes_back_early_does_not_undo_the_coalescing() -> None:
    world = World(CacheOptions(flush_interval=0.005))
    watcher = await world.watch()
    world.write("a", {})
    await settle()
    assert len(frames(await watcher.next_chunk())) == 1
    world.write("b", {})
    reading = asyncio.create_task(watcher.next_chunk())
    await settle()
    assert not reading.done()
    world.write("c", {})
    await world.clock.advance(0.006)

    assert len(frames(await reading)) == 2


async def test_a_chunk_is_joined_once_for_those_who_stand_at_the_same_place() -> None:
    world = World(CacheOptions(chunk_bytes=500, flush_interval=0.0))
    first, second, late = [await world.watch() for _ in range(3)]
    for n in range(20):
        world.write(f"p{n}", {})
    await settle()

    assert await first.next_chunk() is await second.next_chunk()
    chunk = await first.next_chunk()
    assert chunk is await second.next_chunk()
    assert len(chunk or b"") <= 500
    assert [revision for _, _, revision in await everything(late)] == list(range(1, 21))
    rest = await everything(first)
    assert rest == await everything(second)
    assert rest[-1][2] == 20


async def test_frames_of_old_events_are_dropped_and_made_again_for_who_lags_behind() -> None:
    world = World(CacheOptions(chunk_bytes=1000, flush_interval=0.0))
    quick, slow = await world.watch(), await world.watch()
    expected: list[tuple[str, str, int]] = []
    for n in range(90):
        world.write(f"p{n}", {})
        expected += await everything(quick)
    (lane,) = world.pods.lanes
    kept = sum(len(entry.frame or b"") for entry in lane._entries)

    assert lane._frame_bytes == kept <= 1000
    assert await everything(slow) == expected
    assert lane._frame_bytes == 0
    assert lane.statistics().window == 0


async def test_a_lane_lives_as_long_as_it_is_watched() -> None:
    world = World()
    first, second = await world.watch(), await world.watch()
    assert world.pods.statistics().lanes == 1
    first.close(EndReason.CLIENT_LEFT)
    assert world.pods.statistics().lanes == 1
    second.close(EndReason.CLIENT_LEFT)

    statistics = world.pods.statistics()
    assert (statistics.lanes, statistics.selectors, statistics.watchers) == (0, 0, 0)
    world.write("a", {})
    assert world.pods.statistics().evaluations == 0


async def test_the_first_frame_of_a_table_is_each_watchers_own() -> None:
    world = World()
    table = Tabular("Pod", "v1")
    live, other = [await world.watch(representation=table) for _ in range(2)]
    world.write("a", {})
    world.write("b", {})
    state = await world.watch(representation=table, initial_events=True, bookmarks=True)
    empty = await world.watch(
        representation=table, initial_events=True, bookmarks=True, namespace="green"
    )
    resumed = await world.watch(representation=table, revision=0)
    world.write("c", {})
    await settle()

    for watcher, count in ((live, 3), (other, 3), (state, 4), (empty, 1), (resumed, 3)):
        said = b""
        while said.count(b"\n") < count:
            said += await watcher.next_chunk() or b""
        lines = said.splitlines()
        assert [b"columns" in line for line in lines] == [True] + [False] * (len(lines) - 1)


class Recorder(NullObserver):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def received(self, group_resource: GroupResource, event: Version) -> None:
        self.lines.append(f"received {group_resource} {event.revision}")

    def offered(self, group_resource: GroupResource, event: Version, offer: Offer) -> None:
        self.lines.append(f"offered {event.revision} to {len(offer.lanes)}")

    def delivered(self, watcher: CacheWatcher, after: int, until: int, size: int) -> None:
        self.lines.append(f"delivered ({after}, {until}]")

    def ended(self, watcher: CacheWatcher, reason: EndReason) -> None:
        self.lines.append(f"ended {reason}")


async def test_an_observer_sees_every_stage() -> None:
    recorder = Recorder()
    observers = Observers()
    observers.add(recorder)
    world = World(observer=observers)
    watcher = await world.watch()
    world.write("a", {})
    world.write("b", {})
    await everything(watcher)
    watcher.close(EndReason.DETACHED)
    observers.remove(recorder)
    world.write("c", {})

    assert recorder.lines == [
        "received pods 1", "offered 1 to 1", "received pods 2", "offered 2 to 1",
        "delivered (0, 2]", "ended detached",
    ]  # fmt: skip


async def test_a_representation_is_part_of_the_lane() -> None:
    world = World()
    plain = await world.watch(representation=JSON)
    equal = await world.watch(representation=JSONRepresentation("Pod", "v1"))
    other = await world.watch(representation=JSONRepresentation("Pod", "v2"))

    assert plain.lane is equal.lane
    assert plain.lane is not other.lane
