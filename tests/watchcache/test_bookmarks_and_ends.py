"""Bookmarks, deadlines, slow readers: what the clock does to a watch, and how it ends by name."""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest

from listwatch.protocol.events import EndReason
from listwatch.watchcache.bookmarks import Schedule
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.requests import ClientInfo
from listwatch.watchcache.watcher import CacheWatcher
from tests.watchcache.kit import World, everything, frames, labelled, settle

TINY = CacheOptions(ring_minimum=4, ring_maximum=4, flush_interval=0.0, chunk_bytes=100)


class Reader:
    """Reads a watch all the time."""

    def __init__(self, watcher: CacheWatcher) -> None:
        self.watcher = watcher
        self.frames: list[tuple[str, str, int]] = []
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while (chunk := await self.watcher.next_chunk()) is not None:
            self.frames += frames(chunk)


async def test_a_bookmark_comes_each_period_if_there_is_something_new_to_tell() -> None:
    world = World()
    reader = Reader(await world.watch(bookmarks=True))
    silent = Reader(await world.watch())
    await world.clock.advance(61)
    assert reader.frames == []  # nothing has happened

    world.write_elsewhere()
    await world.clock.advance(58)
    assert reader.frames == []
    await world.clock.advance(3)
    assert reader.frames == [("BOOKMARK", "", 1)]
    await world.clock.advance(60)
    assert reader.frames == [("BOOKMARK", "", 1)]
    assert silent.frames == []
    world.caches.end_watches(EndReason.SERVER_STOPPING)
    await asyncio.gather(reader.task, silent.task)


async def test_a_bookmark_is_never_ahead_of_an_event_that_waits() -> None:
    world = World(CacheOptions(flush_interval=5.0))
    watcher = await world.watch(bookmarks=True)
    world.write("a", {})
    await settle()
    assert frames(await watcher.next_chunk()) == [("ADDED", "a", 1)]
    await world.clock.advance(59)
    world.write("b", {})
    await settle()
    assert frames(await watcher.next_chunk()) == [("ADDED", "b", 2)]
    world.write("c", {})  # the lane is busy: this one waits for five seconds
    world.write_elsewhere()
    reading = asyncio.create_task(watcher.next_chunk())
    await world.clock.advance(2)  # the bookmark is due meanwhile
    assert not reading.done()
    await world.clock.advance(5)

    assert frames(await reading) == [("ADDED", "c", 3)]
    assert frames(await watcher.next_chunk()) == [("BOOKMARK", "", 4)]


async def test_the_last_bookmark_comes_two_seconds_before_the_deadline() -> None:
    world = World()
    reader = Reader(await world.watch(bookmarks=True, timeout=10.0))
    world.write_elsewhere()
    await world.clock.advance(7.8)
    assert reader.frames == []
    await world.clock.advance(0.4)
    assert reader.frames == [("BOOKMARK", "", 1)]
    world.write_elsewhere()
    await world.clock.advance(1.7)
    assert not reader.task.done()
    await world.clock.advance(0.3)

    assert reader.task.done()
    assert reader.frames == [("BOOKMARK", "", 1)]
    assert reader.watcher.end_reason is EndReason.DEADLINE_REACHED


async def test_a_watch_that_has_heard_nothing_hears_so_before_its_deadline() -> None:
    world = World()
    world.write("a", {})
    silent = Reader(await world.watch(bookmarks=True, timeout=200.0))
    told = Reader(await world.watch(bookmarks=True, timeout=200.0, initial_events=True))
    to_come = Reader(await world.watch(bookmarks=True, timeout=200.0, revision=5))
    await world.clock.advance(190)
    assert silent.frames == []
    await world.clock.advance(11)

    assert silent.frames == [("BOOKMARK", "", 1)]
    assert told.frames == [("ADDED", "a", 1), ("BOOKMARK", "", 1)]
    assert to_come.frames == []
    assert silent.watcher.end_reason is EndReason.DEADLINE_REACHED


def test_the_times_of_a_watch() -> None:
    def bookmarks(timeout: float | None, until: float) -> list[float]:
        schedule = Schedule(0.0, timeout, 60.0, lead=2.0, bookmarks=True)
        times = []
        while schedule.next < min(schedule.deadline, until):
            now = schedule.next
            assert schedule.take_bookmark(now)
            assert not schedule.take_bookmark(now)
            times.append(now)
        return times

    assert bookmarks(None, 200) == [60, 120, 180]
    assert bookmarks(150, 1000) == [60, 120, 148]
    assert bookmarks(3, 1000) == [1]
    assert bookmarks(1, 1000) == []
    assert Schedule(0.0, 150, 60.0, lead=2.0, bookmarks=False).next == 150


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_a_deadline_that_is_past_ends_at_once(seconds: float) -> None:
    world = World()
    world.write("a", {})
    watcher = await world.watch(timeout=seconds, initial_events=True)

    assert await watcher.next_chunk() is None
    assert watcher.end_reason is EndReason.DEADLINE_REACHED
    assert world.pods.statistics().lanes == 0


async def test_many_watches_share_one_timer() -> None:
    world = World()
    calls = 0
    call_later = world.clock.call_later

    def counted(seconds, callback):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        return call_later(seconds, callback)

    world.clock.call_later = counted  # type: ignore[method-assign]
    readers = [Reader(await world.watch(bookmarks=True)) for _ in range(200)]
    await settle()
    tasks = len(asyncio.all_tasks())
    world.write_elsewhere()
    await world.clock.advance(61)

    assert all(reader.frames == [("BOOKMARK", "", 1)] for reader in readers)
    assert calls < 20
    assert tasks == 201  # a watch has no task of its own
    world.caches.end_watches(EndReason.SERVER_STOPPING)
    await asyncio.gather(*(reader.task for reader in readers))


async def test_a_watch_that_the_ring_has_moved_past_ends_as_too_slow_and_never_skips() -> None:
    world = World(TINY)
    watcher = await world.watch()
    quick = Reader(await world.watch())
    await settle()
    for n in range(3):
        world.write(f"p{n}", {})
        await settle()
    first = frames(await watcher.next_chunk())
    for n in range(3, 20):
        world.write(f"p{n}", {})
        await settle()

    assert first == [("ADDED", "p0", 1)]
    assert watcher.end_reason is EndReason.TOO_SLOW  # at once, though nobody reads it
    assert await watcher.next_chunk() is None
    assert [revision for _, _, revision in quick.frames] == list(range(1, 21))
    resumed = await world.watch(revision=1)
    assert [revision for _, _, revision in await everything(resumed)] == list(range(2, 21))
    quick.watcher.close(EndReason.CLIENT_LEFT)
    await quick.task


async def test_a_watch_in_a_silent_lane_ends_as_well_when_the_ring_moves_past_it() -> None:
    world = World(TINY)
    watcher = await world.watch(selector=labelled("app=web"))
    world.write("a", {"app": "web"})
    for _ in range(10):
        world.write("b", {})
    late = await world.watch(selector=labelled("app=web"))
    assert watcher.statistics().end_reason is None

    assert await watcher.next_chunk() is None
    assert (watcher.end_reason, late.end_reason) == (EndReason.TOO_SLOW, None)

    stuck = await world.watch(selector=labelled("app=web"))
    world.write("a", {"app": "web"})
    for _ in range(10):
        world.write("b", {})
    await world.clock.advance(16)
    assert stuck.end_reason is EndReason.TOO_SLOW  # found by the timer, though nobody reads it


async def test_a_lagging_watch_is_served_as_long_as_the_ring_reaches_back() -> None:
    world = World(TINY)
    watcher = await world.watch()
    heard: list[int] = []
    for n in range(60):
        world.write(f"p{n}", {})
        if n % 3 == 2:  # always a little behind, never past the ring
            while len(heard) < n:
                heard += [revision for _, _, revision in frames(await watcher.next_chunk())]

    heard += [revision for _, _, revision in await everything(watcher)]
    assert heard == list(range(1, 61))


async def test_a_watch_that_takes_nothing_for_the_set_time_ends_as_too_slow() -> None:
    world = World()
    stuck, reading = await world.watch(), Reader(await world.watch())
    ended = []
    stuck.on_end = lambda: ended.append(stuck.end_reason)
    world.write("a", {})
    await settle()
    assert frames(await stuck.next_chunk()) == [("ADDED", "a", 1)]
    await world.clock.advance(59)
    assert stuck.end_reason is None
    await world.clock.advance(17)

    assert ended == [EndReason.TOO_SLOW]
    assert reading.watcher.end_reason is None
    assert world.pods.statistics().ends == {EndReason.TOO_SLOW: 1}
    reading.watcher.close(EndReason.CLIENT_LEFT)
    await reading.task


async def test_ending_all_watches_wakes_all_at_once_and_names_the_reason() -> None:
    world = World()
    readers = [Reader(await world.watch(bookmarks=True)) for _ in range(50)]
    await settle()
    world.caches.end_watches(EndReason.SERVER_STOPPING)
    await settle()

    assert all(reader.task.done() for reader in readers)
    assert {reader.watcher.end_reason for reader in readers} == {EndReason.SERVER_STOPPING}
    assert len(world.pods._wheel) == 0


async def test_whoever_ends_a_watch_first_is_named() -> None:
    world = World()
    watcher = await world.watch()
    watcher.close(EndReason.CLIENT_LEFT)
    watcher.close(EndReason.SERVER_STOPPING)

    assert watcher.end_reason is EndReason.CLIENT_LEFT
    assert world.pods.statistics().ends == {EndReason.CLIENT_LEFT: 1}


async def test_a_cancelled_read_loses_nothing() -> None:
    world = World()
    watcher = await world.watch()
    heard: list[int] = []
    cancelled = 0
    for n in range(20):
        reading = asyncio.create_task(watcher.next_chunk())
        for _ in range(n % 4):
            await asyncio.sleep(0)
        world.write(f"p{n}", {})
        reading.cancel()
        (chunk,) = await asyncio.gather(reading, return_exceptions=True)
        if isinstance(chunk, bytes):
            heard += [revision for _, _, revision in frames(chunk)]
        else:
            cancelled += 1

    heard += [revision for _, _, revision in await everything(watcher)]
    assert heard == list(range(1, 21))
    assert cancelled >= 5


async def test_a_watch_has_one_reader() -> None:
    world = World()
    watcher = await world.watch()
    reading = asyncio.create_task(watcher.next_chunk())
    await settle()

    with pytest.raises(RuntimeError, match="one reader"):
        await watcher.next_chunk()
    watcher.close(EndReason.CLIENT_LEFT)
    assert await reading is None


async def test_a_fault_of_our_own_ends_the_watch_as_failed() -> None:
    world = World(CacheOptions(ring_minimum=1, ring_maximum=1))
    for _ in range(4):
        world.write("a", {})
    watcher = await world.watch(revision=0)

    async def broken(*args: object) -> list[object]:
        raise OSError("disk")

    world.log.changes = broken  # type: ignore[assignment, method-assign]
    with pytest.raises(OSError, match="disk"):
        await watcher.next_chunk()
    assert watcher.end_reason is EndReason.FAILED
    assert await watcher.next_chunk() is None


async def test_an_idle_watch_is_small() -> None:
    world = World()
    client = ClientInfo("agent", "user", "127.0.0.1")
    first = Reader(await world.watch(client=client))
    await settle()
    tracemalloc.start()
    watchers = [await world.watch(client=client, bookmarks=True) for _ in range(1000)]
    await settle()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size / 1000 < 1500
    for watcher in watchers:
        watcher.close(EndReason.CLIENT_LEFT)
    first.watcher.close(EndReason.CLIENT_LEFT)
    await first.task


async def test_a_slow_reader_keeps_little_alive_beyond_the_ring() -> None:
    world = World(CacheOptions(ring_minimum=10, ring_maximum=10, flush_interval=0.0))
    watcher = await world.watch()
    await settle()
    for n in range(500):
        world.write(f"p{n % 20}", {"note": "x" * 60})
        await settle()

    assert watcher.end_reason is EndReason.TOO_SLOW
    assert world.pods.statistics().lanes == 0
    assert watcher.lane is not None
    assert watcher.lane._entries == []
