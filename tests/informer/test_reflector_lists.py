"""What a reflector asks for when it lists, and what it makes of refusals."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from listwatch.informer.errors import ApiError, InternalError, api_error
from listwatch.informer.list_watch import ListPage, ListQuery, WatchQuery
from listwatch.protocol.errors import Cause, StatusError, expired, internal_error
from listwatch.testing.clock import FakeClock
from tests.informer.kit import (
    FakeStream,
    RecordingStore,
    Script,
    ended,
    event,
    page,
    reflector,
    settle,
    started,
    thing,
)


def refused(error: StatusError) -> ApiError:
    return api_error(error.to_dict())


def too_large(form: str) -> ApiError:
    text = "Too large resource version"
    causes = {
        "cause type": [{"reason": "ResourceVersionTooLarge", "message": "whatever"}],
        "cause text": [{"message": text}],
        "message": [],
    }[form]
    message = f"Timeout: {text}: 20, current: 10" if form == "message" else "Timeout: x"
    return api_error(
        {"reason": "Timeout", "code": 504, "message": message, "details": {"causes": causes}}
    )


async def once(made: Any) -> None:
    """One list_and_watch, stopped when it watches quietly."""
    task = started(made.list_and_watch())
    await settle()
    await ended(task)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_a_plain_reflector_lists_from_any_cache_and_watches_from_there(
    clock: FakeClock,
) -> None:
    source, store = Script([page(5, thing("a", 3))]), RecordingStore()
    made = reflector(source, store, clock)
    await once(made)

    assert source.list_queries == [ListQuery("0", 500)]
    [query] = source.watch_queries
    assert query == WatchQuery("5", query.timeout_seconds, bookmarks=True, initial_events=False)
    assert store.calls == [("replace", "5")]


async def test_a_list_error_and_a_watch_error_come_back_to_the_caller(clock: FakeClock) -> None:
    broken = reflector(Script([refused(internal_error("x"))]), RecordingStore(), clock)
    with pytest.raises(InternalError):
        await broken.list_and_watch()

    watchless = reflector(
        Script([page(1)], [refused(internal_error("y"))]), RecordingStore(), clock
    )
    with pytest.raises(InternalError):
        await watchless.list_and_watch()


async def test_an_explicit_page_size_is_kept_on_all_pages_at_any_version(clock: FakeClock) -> None:
    names = [f"n{number}" for number in range(10)]

    def answer(query: ListQuery) -> ListPage:
        at = int(query.continue_token or 0)
        token = str(at + 4) if at + 4 < 10 else ""
        return page(10, *(thing(name, 1) for name in names[at : at + 4]), token=token)

    source, store = Script([answer]), RecordingStore()
    made = reflector(source, store, clock, page_size=4)
    await once(made)
    await once(made)

    three = [("0", 4, ""), ("", 4, "4"), ("", 4, "8")]
    again = [("10", 4, ""), ("", 4, "4"), ("", 4, "8")]
    asked = [(q.resource_version, q.limit, q.continue_token) for q in source.list_queries]
    assert asked == three + again
    assert sorted(store.objects) == sorted(names)


async def test_a_relist_at_a_known_version_is_unpaged(clock: FakeClock) -> None:
    source = Script([page(10)])
    made = reflector(source, RecordingStore(), clock)
    await once(made)
    await once(made)

    assert source.list_queries == [ListQuery("0", 500), ListQuery("10", 0)]


async def test_a_server_that_paged_version_0_is_listed_in_pages_from_then_on(
    clock: FakeClock,
) -> None:
    source = Script([page(10, thing("a", 1), token="next"), page(11, thing("b", 2)), page(12)])
    made = reflector(source, RecordingStore(), clock)
    await once(made)
    await once(made)

    asked = [(q.resource_version, q.limit) for q in source.list_queries]
    assert asked == [("0", 500), ("", 500), ("10", 500)]


async def test_an_expired_relist_asks_at_once_for_any_version(clock: FakeClock) -> None:
    source = Script([page(10), refused(expired("too old")), page(11)])
    made = reflector(source, RecordingStore(), clock)
    await once(made)
    await once(made)

    assert [query.resource_version for query in source.list_queries] == ["0", "10", ""]
    assert made.last_sync_resource_version == "11"
    assert not made.version_unavailable


async def test_a_token_that_expires_on_page_2_leads_to_one_whole_list(clock: FakeClock) -> None:
    source = Script(
        [page(10), page(11, thing("a", 1), token="t"), refused(expired("token")), page(11)]
    )
    made = reflector(source, RecordingStore(), clock, page_size=1)
    await once(made)
    await once(made)

    asked = [(q.resource_version, q.limit) for q in source.list_queries]
    assert asked == [("0", 1), ("10", 1), ("", 1), ("10", 0)]


async def test_a_version_too_large_in_any_of_its_forms_asks_for_any_version(
    clock: FakeClock,
) -> None:
    source = Script(
        [
            page(20),
            *(too_large("cause type"), page(30)),
            *(too_large("cause text"), page(40)),
            *(too_large("message"), page(50)),
        ]
    )
    made = reflector(source, RecordingStore(), clock)
    for _ in range(4):
        await once(made)

    asked = [query.resource_version for query in source.list_queries]
    assert asked == ["0", "20", "", "30", "", "40", ""]


async def test_a_failed_second_chance_leaves_the_version_unavailable(clock: FakeClock) -> None:
    source = Script([page(10), refused(expired("x")), refused(internal_error("y")), page(12)])
    made = reflector(source, RecordingStore(), clock)
    await once(made)
    with pytest.raises(InternalError):
        await made.list_and_watch()
    await once(made)

    assert [query.resource_version for query in source.list_queries] == ["0", "10", "", ""]


@pytest.mark.parametrize("version", ["meta.k8s.io/v1", "meta.k8s.io/v1beta1"])
async def test_a_table_is_refused_where_a_list_was_asked_for(
    version: str, clock: FakeClock
) -> None:
    source = Script([ListPage([], "1", "", "Table", version)])
    with pytest.raises(ValueError, match="Table"):
        await reflector(source, RecordingStore(), clock).list_and_watch()


async def test_a_kind_of_the_same_name_in_another_group_is_no_table(clock: FakeClock) -> None:
    source, store = (
        Script([ListPage([], "1", "", "Table", "furniture.example/v1")]),
        RecordingStore(),
    )
    await once(reflector(source, store, clock))

    assert store.calls == [("replace", "1")]


async def test_a_store_that_refuses_a_list_does_not_move_the_version(clock: FakeClock) -> None:
    class Refusing(RecordingStore):
        def replace(self, subjects: list[Any], resource_version: str) -> None:
            raise ValueError("no")

    made = reflector(Script([page(10)]), Refusing(), clock)
    with pytest.raises(ValueError, match="no"):
        await made.list_and_watch()

    assert made.last_sync_resource_version == ""


async def test_stopped_before_it_began_a_reflector_asks_nothing(clock: FakeClock) -> None:
    source = Script([page(1)])
    task = started(reflector(source, RecordingStore(), clock).run())
    await ended(task)

    assert source.asked == []


async def test_stopped_in_a_list_a_reflector_does_not_watch(clock: FakeClock) -> None:
    listing = asyncio.Event()

    class Slow(Script):
        async def list(self, query: ListQuery) -> ListPage:
            listing.set()
            await asyncio.Event().wait()
            raise AssertionError

    source = Slow()
    task = started(reflector(source, RecordingStore(), clock).run())
    await listing.wait()
    await ended(task)

    assert source.asked == []


async def test_stopped_in_a_watch_a_reflector_closes_the_stream(clock: FakeClock) -> None:
    stream = FakeStream(event("ADDED", "a", 2))
    source, store = Script([page(1)], [stream]), RecordingStore()
    task = started(reflector(source, store, clock).run())
    await settle()
    await ended(task)

    assert stream.closed >= 1
    assert store.calls == [("replace", "1"), ("add", "a")]


async def test_an_outage_is_waited_out_with_growing_delays_up_to_a_cap(clock: FakeClock) -> None:
    source = Script([refused(internal_error("down"))])
    at: list[float] = []
    begin = clock.monotonic()
    made = reflector(source, RecordingStore(), clock)
    made.on_error = lambda *_: at.append(clock.monotonic() - begin)
    task = started(made.run())
    for _ in range(800):
        await clock.advance(0.5)
    await ended(task)

    gaps = [b - a for a, b in itertools.pairwise(at)]
    for gap, base in zip(gaps, [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30], strict=False):
        assert base <= gap < 2 * base + 0.5
    assert len(gaps) >= 8


async def test_an_error_handler_that_fails_hurts_nobody(clock: FakeClock) -> None:
    source = Script([refused(internal_error("x")), page(3)])
    made = reflector(source, RecordingStore(), clock)

    def fail(*_: object) -> None:
        raise RuntimeError

    made.on_error = fail
    task = started(made.run())
    await clock.advance(2)
    await ended(task)

    assert made.last_sync_resource_version == "3"
    assert made.statistics().errors == 1


async def test_a_429_with_retry_after_is_waited_for_as_long_as_it_says(clock: FakeClock) -> None:
    busy = {"reason": "TooManyRequests", "code": 429, "details": {"retryAfterSeconds": 17}}
    source = Script([api_error(busy), page(3)])
    made = reflector(source, RecordingStore(), clock)
    task = started(made.run())
    await clock.advance(16)
    assert len(source.list_queries) == 1
    await clock.advance(2)
    await ended(task)

    assert len(source.list_queries) == 2


CASES: list[tuple[dict[str, Any], str]] = [
    ({"reason": "Expired", "code": 410}, "ExpiredError"),
    ({"reason": "Gone", "code": 410}, "GoneError"),
    ({"code": 410}, "GoneError"),
    ({"reason": "Odd", "code": 410}, "GoneError"),
    ({"reason": "InternalError", "code": 500}, "InternalError"),
    ({"code": 500}, "InternalError"),
    ({"reason": "StoreReadError", "code": 500}, "InternalError"),
    ({"reason": "NotFound", "code": 429}, "TooManyRequestsError"),
    ({"reason": "Conflict", "code": 409}, "ConflictError"),
    ({"reason": "AlreadyExists", "code": 409}, "AlreadyExistsError"),
]


@pytest.mark.parametrize(("status", "name"), CASES)
def test_refusals_are_told_apart_by_reason_and_by_code_where_it_is_unknown(
    status: dict[str, Any], name: str
) -> None:
    assert type(api_error(status)).__name__ == name


def test_a_refusal_keeps_what_the_status_said() -> None:
    error = api_error(
        {
            "code": 422,
            "reason": "Invalid",
            "message": "no",
            "details": {"causes": [{"field": "a", "message": "b", "reason": "C"}], "name": "x"},
        },
        retry_after=4,
    )

    assert error.causes == (Cause("C", "b", "a"),)
    assert error.details["name"] == "x"
    assert error.retry_after == 4


async def test_all_items_of_earlier_pages_are_in_the_list(clock: FakeClock) -> None:
    source, store = (
        Script([page(7, thing("a", 1), token="x"), page(8, thing("b", 2))]),
        RecordingStore(),
    )
    await once(reflector(source, store, clock))

    assert sorted(store.objects) == ["a", "b"]
    assert store.calls == [("replace", "7")]  # the version of the first page


def test_watch_timeouts_are_random_between_the_least_and_twice_that() -> None:
    from random import Random

    from listwatch.informer.reflector_options import ReflectorOptions

    def drawn(seconds: float) -> tuple[int, int]:
        options, random = ReflectorOptions(watch_seconds=seconds), Random(1)
        all_of_them = [options.watch_timeout(random) for _ in range(2000)]
        return min(all_of_them), max(all_of_them)

    ranges: Callable[[float], tuple[int, int]] = drawn
    for asked, least in ((300, 300), (1, 300), (1800, 1800)):
        low, high = ranges(asked)
        assert least <= low < least * 1.02
        assert least * 1.98 < high <= 2 * least
    with contextlib.suppress(ValueError):
        ReflectorOptions(idle_seconds=0)
        raise AssertionError
