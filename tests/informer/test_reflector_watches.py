"""What a reflector makes of the events of a watch, and of every way in which one can end."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.informer.backoff import BackoffPolicy
from listwatch.informer.errors import (
    ConnectionFailedError,
    ConnectionRefused,
    ExpiredError,
    StreamCutError,
    VeryShortWatchError,
    api_error,
)
from listwatch.informer.list_watch import WatchEvent, WatchQuery
from listwatch.informer.reflector_options import InternalErrorRetry
from listwatch.protocol.errors import expired, internal_error, too_many_requests
from listwatch.testing.clock import FakeClock
from tests.informer.kit import (
    FakeStream,
    RecordingStore,
    Script,
    bookmark,
    ended,
    error_event,
    event,
    page,
    reflector,
    settle,
    started,
    thing,
)

BUSY = too_many_requests("busy", 0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def followed(
    clock: FakeClock, *streams: Any, seconds: float = 0.0, **options: Any
) -> tuple[Any, Script, RecordingStore]:
    """A reflector that has listed at 10 and been given these answers to its watches."""
    source, store = Script([page(10)], list(streams)), RecordingStore()
    made = reflector(source, store, clock, **options)
    task = started(made.run())
    await settle()
    await clock.advance(seconds)
    await ended(task)
    return made, source, store


async def test_events_reach_the_store_and_the_version_follows_each(clock: FakeClock) -> None:
    stream = FakeStream()
    source, store = Script([page(1)], [stream]), RecordingStore()
    made = reflector(source, store, clock)
    task = started(made.run())
    seen = []
    for given in (
        event("ADDED", "a", 10),
        event("MODIFIED", "a", 20),
        bookmark(30),
        event("DELETED", "a", 40),
    ):
        stream.send(given)
        await settle()
        seen.append(made.last_sync_resource_version)
    await ended(task)

    assert seen == ["10", "20", "30", "40"]
    calls = [("add", "a"), ("update", "a"), ("bookmark", "30"), ("delete", "a")]
    assert store.calls == [("replace", "1"), *calls]


async def test_without_the_guard_the_version_is_the_one_that_came_last(clock: FakeClock) -> None:
    stream = FakeStream(event("ADDED", "a", 55), event("ADDED", "b", 32))
    made, _, _ = await followed(clock, stream, drop_stale_events=False)

    assert made.last_sync_resource_version == "32"


async def test_an_event_older_than_what_is_known_is_dropped_and_counted(clock: FakeClock) -> None:
    stream = FakeStream(
        event("ADDED", "a", 55), event("DELETED", "a", 56), event("MODIFIED", "a", 55)
    )
    made, _, store = await followed(clock, stream)

    assert store.objects == {}
    assert made.last_sync_resource_version == "56"
    assert made.statistics().stale_events == 1


async def test_events_of_a_wrong_kind_neither_count_nor_move_the_version(clock: FakeClock) -> None:
    wrong = {"kind": "Other", "metadata": {"name": "x", "resourceVersion": "90"}}
    table = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "9"}}
    bare = {"kind": "Thing"}
    stream = FakeStream(
        WatchEvent("ADDED", wrong),
        WatchEvent("ADDED", table),
        WatchEvent("ADDED", bare),
        WatchEvent("ADDED", "text"),  # type: ignore[arg-type]
    )
    made, _, store = await followed(clock, stream)

    assert store.calls == [("replace", "10")]
    assert made.last_sync_resource_version == "10"
    assert made.statistics().skipped_events == 4


async def test_an_unknown_event_type_is_logged_and_moves_the_version(clock: FakeClock) -> None:
    made, _, store = await followed(clock, FakeStream(event("RENAMED", "a", 12)))

    assert store.calls == [("replace", "10")]
    assert made.last_sync_resource_version == "12"


async def test_an_object_that_the_store_refuses_is_passed_over(clock: FakeClock) -> None:
    class Refusing(RecordingStore):
        def add(self, subject: Any) -> None:
            raise ValueError("no")

    source, store = (
        Script([page(1)], [FakeStream(event("ADDED", "a", 2), event("MODIFIED", "b", 3))]),
        Refusing(),
    )
    made = reflector(source, store, clock)
    task = started(made.run())
    await settle()
    await ended(task)

    assert store.calls == [("replace", "1"), ("update", "b")]
    assert made.last_sync_resource_version == "3"


async def test_an_error_event_closes_the_stream_and_ends_without_an_error(
    clock: FakeClock,
) -> None:
    stream = FakeStream(error_event(expired("gone")), event("DELETED", "a", 9))
    source, store = Script([page(10, thing("a", 10))], [stream]), RecordingStore()
    made = reflector(source, store, clock)
    await made.list_and_watch()

    assert stream.closed >= 1
    assert sorted(store.objects) == ["a"]  # what came after the error was never read
    assert made.last_sync_resource_version == "10"


@pytest.mark.parametrize("status", [expired("x").to_dict(), {"code": 410, "message": "gone"}])
async def test_a_410_in_the_stream_relists_at_the_known_version_after_a_delay(
    status: dict[str, Any], clock: FakeClock
) -> None:
    stream = FakeStream(WatchEvent("ERROR", status))
    made, source, _ = await followed(clock, stream, FakeStream(), seconds=2)

    assert [query.resource_version for query in source.list_queries] == ["0", "10"]
    assert made.statistics().errors == 0  # not for the error handler
    assert made.statistics().backoffs == 1


async def test_a_410_at_the_request_is_told_and_relists_at_the_known_version(
    clock: FakeClock,
) -> None:
    answer = api_error(expired("x").to_dict())
    source, store = Script([page(10)], [answer, FakeStream()]), RecordingStore()
    made, told = reflector(source, store, clock), []
    made.on_error = lambda _, error: told.append(error)
    task = started(made.run())
    await clock.advance(2)
    await ended(task)

    assert [type(error) for error in told] == [ExpiredError]
    assert [query.resource_version for query in source.list_queries] == ["0", "10"]


async def test_a_clean_close_watches_on_at_once_without_a_list(clock: FakeClock) -> None:
    first = FakeStream(event("ADDED", "a", 11))
    source, store = Script([page(10)], [first, FakeStream()]), RecordingStore()
    task = started(reflector(source, store, clock).run())
    await clock.advance(70)
    first.end()
    await settle()
    await ended(task)

    assert source.asked == ["list", "watch", "watch"]
    assert source.watch_queries[1].resource_version == "11"


async def test_a_server_that_says_one_thing_and_closes_is_not_asked_in_a_hot_loop(
    clock: FakeClock,
) -> None:
    def opening(query: WatchQuery) -> FakeStream:
        return FakeStream(bookmark(int(query.resource_version) + 1), ended=True)

    _, source, _ = await followed(clock, opening, seconds=60)

    assert len(source.watch_queries) < 10
    assert len(source.list_queries) == 1  # nothing was lost


async def test_a_stream_that_ends_at_once_with_nothing_is_a_very_short_watch(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    made, source, _ = await followed(clock, FakeStream(ended=True), FakeStream(), seconds=2)

    text = str(VeryShortWatchError("things"))
    assert text in caplog.text
    assert "very short watch: things" in text
    assert source.asked == ["list", "watch", "list", "watch"]
    assert made.statistics().short_watches == 1


async def test_a_dying_server_that_accepts_and_closes_is_relisted_with_growing_delays(
    clock: FakeClock,
) -> None:
    _, source, _ = await followed(clock, lambda _: FakeStream(ended=True), seconds=120)

    assert 3 <= len(source.list_queries) <= 9


async def test_a_cut_line_watches_on_from_the_last_whole_event(clock: FakeClock) -> None:
    stream = FakeStream(event("ADDED", "a", 11))
    stream.end(StreamCutError("in the middle"))
    made, source, _ = await followed(clock, stream, FakeStream())

    assert source.asked == ["list", "watch", "watch"]
    assert source.watch_queries[1].resource_version == "11"
    assert made.statistics().cuts == 1


async def test_an_undecodable_frame_leads_to_a_relist(clock: FakeClock) -> None:
    stream = FakeStream(event("ADDED", "a", 11))
    stream.end(api_error({"reason": "ClientWatchDecoding", "code": 500, "message": "bad"}))
    _, source, _ = await followed(clock, stream, FakeStream(), seconds=2)

    assert source.asked == ["list", "watch", "list", "watch"]


async def test_a_corrupt_object_goes_with_the_relist_and_the_rest_stays(clock: FakeClock) -> None:
    status = {"code": 500, "reason": "StoreReadError", "message": "corrupt"}
    stream = FakeStream(event("ADDED", "a", 11), event("ADDED", "b", 12))
    stream.send(WatchEvent("ERROR", status))
    source = Script([page(10), page(13, thing("b", 12))], [stream, FakeStream()])
    store = RecordingStore()
    task = started(reflector(source, store, clock).run())
    await clock.advance(2)
    await ended(task)

    assert sorted(store.objects) == ["b"]


async def test_refused_connections_are_tried_again_with_growing_delays_and_no_relist(
    clock: FakeClock,
) -> None:
    made, source, _ = await followed(clock, ConnectionRefused("x"), seconds=100)

    assert len(source.list_queries) == 1
    # 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30: each to twice that
    assert 5 <= len(source.watch_queries) <= 8
    assert made.statistics().errors == 0


async def test_a_custom_back_off_is_honoured(clock: FakeClock) -> None:
    policy = BackoffPolicy(initial=0.01, cap=0.1, jitter=0)
    at = []

    def opening(_: WatchQuery) -> FakeStream:
        at.append(round(clock.monotonic() % 1, 3))
        raise ConnectionRefused("x")

    clock.set(1000.0)
    await followed(clock, opening, seconds=0.26, backoff=policy)

    assert at == [0.0, 0.01, 0.03, 0.07, 0.15, 0.25]


async def test_an_unreachable_server_is_told_to_the_handler_and_costs_no_relist(
    clock: FakeClock,
) -> None:
    made, source, _ = await followed(clock, ConnectionFailedError("no route"), seconds=10)

    assert len(source.list_queries) == 1
    assert made.statistics().errors == len(source.watch_queries) > 1


async def test_a_429_costs_one_delay_at_the_request_and_in_the_stream(clock: FakeClock) -> None:
    made, source, _ = await followed(
        clock, api_error(BUSY.to_dict()), FakeStream(error_event(BUSY)), FakeStream(), seconds=6
    )

    assert made.statistics().backoffs == 2
    assert source.asked == ["list", "watch", "watch", "watch"]
    assert made.statistics().throttlings == 2


async def test_repeated_429s_never_relist(clock: FakeClock) -> None:
    busy = api_error(BUSY.to_dict())
    _, source, _ = await followed(clock, busy, busy, busy, busy, FakeStream(), seconds=60)

    assert source.asked == ["list"] + ["watch"] * 5


async def test_an_internal_error_in_the_stream_relists_unless_a_retry_is_allowed(
    clock: FakeClock,
) -> None:
    def opening(_: WatchQuery) -> FakeStream:
        return FakeStream(error_event(internal_error("x")))

    _, strict, _ = await followed(clock, opening, FakeStream(), seconds=2)
    _, patient, _ = await followed(
        clock, opening, FakeStream(), seconds=2, internal_error_seconds=30
    )

    assert strict.asked == ["list", "watch", "list", "watch"]
    assert patient.asked == ["list", "watch", "watch"]


def test_internal_errors_are_retried_for_a_time_and_anew_after_a_quiet_minute() -> None:
    never, patient = InternalErrorRetry(0), InternalErrorRetry(30)

    assert not never.should_retry(0)
    assert sum(patient.should_retry(second) for second in range(31)) == 31
    assert not patient.should_retry(31)
    # another streak, with a quiet minute in the middle of it
    calm = InternalErrorRetry(30)
    times = [*range(20), *range(80, 100)]
    assert sum(calm.should_retry(second) for second in times) == 40
