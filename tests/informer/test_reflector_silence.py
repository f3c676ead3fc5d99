"""Silence, resyncs, and watches without bookmarks."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.informer.list_watch import WatchQuery
from listwatch.testing.clock import FakeClock
from tests.informer.kit import (
    FakeStream,
    RecordingStore,
    Script,
    bookmark,
    ended,
    event,
    page,
    reflector,
    settle,
    started,
)
from tests.informer.test_reflector_watches import followed


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_a_silent_connection_is_noticed_and_replaced_without_a_relist(
    clock: FakeClock,
) -> None:
    silent = FakeStream(event("ADDED", "a", 11))
    source, store = Script([page(10)], [silent, FakeStream()]), RecordingStore()
    made = reflector(source, store, clock)
    task = started(made.run())
    await clock.advance(74)
    assert made.freshness.live
    await clock.advance(2)
    await ended(task)

    assert silent.closed >= 1
    assert source.asked == ["list", "watch", "watch"]
    assert made.statistics().silences == 1


async def test_bookmarks_keep_a_quiet_watch_alive(clock: FakeClock) -> None:
    stream = FakeStream()
    source = Script([page(10)], [stream])
    made = reflector(source, RecordingStore(), clock)
    task = started(made.run())
    for number in range(5):
        await clock.advance(60)
        stream.send(bookmark(11 + number))
        await settle()
    assert made.freshness.last_bookmark_at == clock.now()
    await ended(task)

    assert source.asked == ["list", "watch"]


async def test_a_server_that_never_answers_the_request_is_noticed(clock: FakeClock) -> None:
    class Mute(Script):
        async def watch(self, query: WatchQuery) -> FakeStream:
            self.watch_queries.append(query)
            await asyncio.Event().wait()
            raise AssertionError

    source = Mute([page(10)])
    made = reflector(source, RecordingStore(), clock)
    task = started(made.run())
    await clock.advance(80)
    await ended(task)

    assert len(source.watch_queries) == 2
    assert made.statistics().silences == 1


async def test_a_failing_resync_ends_the_watch_and_is_not_told(clock: FakeClock) -> None:
    source, store = Script([page(10)], [lambda _: FakeStream()]), RecordingStore()
    store.resync_error = RuntimeError("full")
    made = reflector(source, store, clock)
    made.resync_seconds = 5
    task = started(made.run())
    await clock.advance(7)
    await ended(task)

    assert source.asked == ["list", "watch", "list", "watch"]
    assert made.statistics().errors == 0


async def test_a_resync_happens_each_period_if_it_should(clock: FakeClock) -> None:
    source, store = Script([page(10)]), RecordingStore()
    made = reflector(source, store, clock)
    made.resync_seconds = 5
    answers = iter([True, False, True])
    made.should_resync = lambda: next(answers)
    task = started(made.run())
    await clock.advance(16)
    await ended(task)

    assert store.calls.count(("resync", "")) == 2


async def test_watches_without_bookmarks_ask_for_none(clock: FakeClock) -> None:
    _, source, _ = await followed(clock, FakeStream(), bookmarks=False)

    assert "allowWatchBookmarks" not in source.watch_queries[0].parameters()
