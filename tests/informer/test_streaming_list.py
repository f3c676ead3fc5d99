"""The state by a watch: when it is complete, and what is done when it does not come."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch.informer.errors import ConnectionRefused, ExpiredError, api_error
from listwatch.informer.in_order_fifo import InOrderFIFO
from listwatch.informer.list_watch import ListQuery, WatchQuery
from listwatch.informer.objects import JSONObject
from listwatch.protocol.errors import StatusError, expired, internal_error, too_many_requests
from listwatch.testing.clock import FakeClock
from tests.informer.kit import (
    END,
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

INVALID = {"code": 422, "reason": "Invalid", "message": "sendInitialEvents is forbidden"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def synced(
    clock: FakeClock, *streams: Any, seconds: float = 0.0, lists: Any = None, **options: Any
) -> tuple[Any, Script, RecordingStore]:
    source, store = Script(lists or [page(50)], list(streams)), RecordingStore()
    made = reflector(source, store, clock, streaming=True, **options)
    task = started(made.run())
    await settle()
    await clock.advance(seconds)
    await ended(task)
    return made, source, store


async def test_it_asks_for_the_state_by_a_watch_and_never_lists(clock: FakeClock) -> None:
    stream = FakeStream(event("ADDED", "a", 3), bookmark(5, END))
    _, source, store = await synced(clock, stream)

    [query] = source.watch_queries
    assert query.parameters() == {
        "watch": "1",
        "timeoutSeconds": str(query.timeout_seconds),
        "allowWatchBookmarks": "true",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }
    assert source.list_queries == []
    assert store.calls == [("replace", "5")]
    assert sorted(store.objects) == ["a"]


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("supported", [True, False, None])
async def test_it_streams_if_it_is_wanted_and_the_source_does_not_say_that_it_cannot(
    enabled: bool, supported: bool | None, clock: FakeClock
) -> None:
    source = Script([page(1)], [FakeStream(bookmark(1, END))])
    if supported is not None:
        source.supports_streaming_lists = supported  # type: ignore[attr-defined]
    task = started(reflector(source, RecordingStore(), clock, streaming=enabled).run())
    await settle()
    await ended(task)

    assert source.watch_queries[0].initial_events == (enabled and supported is not False)


@pytest.mark.parametrize("annotations", [None, {}, {"k8s.io/initial-events-end": "false"}])
async def test_without_its_last_bookmark_the_state_is_not_complete(
    annotations: dict[str, str] | None, clock: FakeClock
) -> None:
    _, _, store = await synced(clock, FakeStream(event("ADDED", "a", 3), bookmark(5, annotations)))

    assert store.calls == []


async def test_the_same_stream_goes_on_as_the_watch(clock: FakeClock) -> None:
    stream = FakeStream(event("ADDED", "a", 3), bookmark(5, END), event("MODIFIED", "a", 6))
    made, source, store = await synced(clock, stream)

    assert len(source.watch_queries) == 1
    assert store.calls == [("replace", "5"), ("update", "a")]
    assert made.last_sync_resource_version == "6"


async def test_changes_and_deletions_before_the_last_bookmark_count(clock: FakeClock) -> None:
    stream = FakeStream(
        event("ADDED", "a", 1),
        event("ADDED", "b", 2),
        event("MODIFIED", "a", 3),
        event("DELETED", "b", 4),
        bookmark(4, END),
    )
    _, _, store = await synced(clock, stream)

    assert {name: o["metadata"]["resourceVersion"] for name, o in store.objects.items()} == {
        "a": "3"
    }


@pytest.mark.parametrize("status", [INVALID, internal_error("x").to_dict(), {"code": 403}])
async def test_a_refusal_of_whatever_kind_falls_back_to_a_list(
    status: JSONObject, clock: FakeClock
) -> None:
    made, source, store = await synced(clock, api_error(status), FakeStream())

    assert source.asked == ["watch", "list", "watch"]
    assert source.list_queries == [ListQuery("0", 500)]
    assert not source.watch_queries[1].initial_events
    assert store.calls == [("replace", "50")]
    assert made.statistics().list_fallbacks == 1


async def test_two_429s_and_then_success_are_three_requests(clock: FakeClock) -> None:
    busy = api_error(too_many_requests("x", 0).to_dict())
    _, source, store = await synced(clock, busy, busy, FakeStream(bookmark(5, END)), seconds=10)

    assert source.asked == ["watch"] * 3
    assert all(query.initial_events for query in source.watch_queries)
    assert store.calls == [("replace", "5")]


async def test_a_refused_connection_is_waited_for(clock: FakeClock) -> None:
    _, source, store = await synced(
        clock, ConnectionRefused("x"), FakeStream(bookmark(5, END)), seconds=2
    )

    assert source.asked == ["watch", "watch"]
    assert store.calls == [("replace", "5")]


async def test_a_stream_dropped_before_the_end_is_asked_for_again_as_it_was(
    clock: FakeClock,
) -> None:
    dropped = FakeStream(event("ADDED", "a", 1), ended=True)
    good = FakeStream(event("ADDED", "b", 2), bookmark(5, END))
    _, source, store = await synced(clock, dropped, good)

    first, second = source.watch_queries
    assert first.initial_events
    assert second.initial_events
    assert first.resource_version == second.resource_version == ""
    assert sorted(store.objects) == ["b"]  # nothing of the first attempt


async def test_a_stream_dropped_after_the_end_is_an_ordinary_watch_from_there(
    clock: FakeClock,
) -> None:
    first = FakeStream(bookmark(2, END), event("ADDED", "a", 3), ended=True)
    _, source, _ = await synced(clock, first, FakeStream())

    assert source.watch_queries[1].resource_version == "3"
    assert not source.watch_queries[1].initial_events


async def test_a_stream_that_ends_at_once_with_nothing_falls_back(clock: FakeClock) -> None:
    _, source, _ = await synced(clock, FakeStream(ended=True), FakeStream())

    assert source.asked == ["watch", "list", "watch"]


async def test_a_server_that_drops_every_stream_is_not_asked_in_a_hot_loop(
    clock: FakeClock,
) -> None:
    def opening(_: WatchQuery) -> FakeStream:
        return FakeStream(event("ADDED", "a", 1), ended=True)

    _, source, _ = await synced(clock, opening, seconds=60)

    assert len(source.watch_queries) < 10


async def test_expired_on_the_request_after_the_state_is_an_error_and_the_store_keeps_it(
    clock: FakeClock,
) -> None:
    first = FakeStream(event("ADDED", "a", 1), bookmark(2, END), event("ADDED", "b", 3), ended=True)
    source = Script([page(1)], [first, api_error(expired("rv already expired").to_dict())])
    store = RecordingStore()
    with pytest.raises(ExpiredError):
        await reflector(source, store, clock, streaming=True).list_and_watch()

    assert sorted(store.objects) == ["a", "b"]


async def test_an_expired_version_is_asked_for_without_one_at_once(clock: FakeClock) -> None:
    refusal: StatusError = expired("too old")
    source = Script([page(1)], [api_error(refusal.to_dict()), FakeStream(bookmark(7, END))])
    store = RecordingStore()
    made = reflector(source, store, clock, streaming=True)
    made.last_sync_resource_version = "3"
    task = started(made.run())
    await settle()
    await ended(task)

    assert [query.resource_version for query in source.watch_queries] == ["3", ""]
    assert store.calls == [("replace", "7")]


async def test_what_is_missing_is_told_every_ten_seconds(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    stream = FakeStream()
    source = Script([page(1)], [stream])
    made = reflector(source, RecordingStore(), clock, streaming=True)
    task = started(made.run())
    await clock.advance(10)
    first = caplog.messages[-1]
    await clock.advance(5)
    stream.send(event("ADDED", "a", 1))
    await settle()
    await clock.advance(5)
    await ended(task)

    assert "no event received after 10 s" in first
    assert "last event received 5 s ago" in caplog.messages[-1]


async def test_a_server_that_never_ends_the_state_is_listed_instead(clock: FakeClock) -> None:
    stream = FakeStream(event("ADDED", "a", 1))
    made, source, store = await synced(clock, stream, FakeStream(), seconds=31)

    assert source.asked == ["watch", "list", "watch"]
    assert stream.closed >= 1
    assert store.calls == [("replace", "50")]
    assert made.statistics().silences == 1


async def test_the_transform_runs_once_for_each_object(clock: FakeClock) -> None:
    seen: list[str] = []

    def transform(subject: JSONObject) -> JSONObject:
        seen.append(subject["metadata"]["name"])
        return subject

    queue = InOrderFIFO(transform=transform)
    stream = FakeStream(
        event("ADDED", "a", 1), event("ADDED", "b", 2), bookmark(2, END), event("ADDED", "c", 3)
    )
    made = reflector(Script([page(1)], [stream]), queue, clock, streaming=True)
    task = started(made.run())
    await settle()
    await ended(task)

    # Upstream transforms initial objects twice (5 calls); here a transform may be anything.
    assert seen == ["a", "b", "c"]


async def test_objects_without_a_name_are_left_out_of_the_state(clock: FakeClock) -> None:
    nameless = event("ADDED", "a", 1)._replace(object={"kind": "Thing", "metadata": {}})
    _, _, store = await synced(
        clock, FakeStream(nameless, event("ADDED", "b", 1), bookmark(2, END))
    )

    assert sorted(store.objects) == ["b"]


async def test_a_store_that_refuses_the_state_closes_the_stream(clock: FakeClock) -> None:
    class Refusing(RecordingStore):
        def replace(self, subjects: list[JSONObject], resource_version: str) -> None:
            raise ValueError("no")

    stream = FakeStream(bookmark(2, END))
    made = reflector(Script([page(1)], [stream]), Refusing(), clock, streaming=True)
    with pytest.raises(ValueError, match="no"):
        await made.list_and_watch()

    assert stream.closed == 1
    assert made.last_sync_resource_version == ""
    assert not made.freshness.connected


async def test_a_big_state_lets_others_have_a_turn(clock: FakeClock) -> None:
    events = [event("ADDED", f"n{number}", 1) for number in range(2000)]
    source = Script([page(1)], [FakeStream(*events, bookmark(2, END))])
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    watching, counting = (
        started(reflector(source, RecordingStore(), clock, streaming=True).run()),
        started(other()),
    )
    await settle(12)
    await ended(watching)
    await ended(counting)

    assert turns >= 7
