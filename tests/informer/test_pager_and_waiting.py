"""Lists in pages, and waiting for several things at once."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest

from listwatch.informer.errors import ExpiredError, GoneError, api_error
from listwatch.informer.list_watch import ListPage, ListQuery
from listwatch.informer.pager import list_all, pages
from listwatch.informer.sync_tracker import SyncTracker
from listwatch.informer.waiting import NotSyncedError, wait_for_cache_sync
from listwatch.protocol.errors import expired
from listwatch.testing.clock import FakeClock
from tests.informer.kit import ended, page, settle, started, thing

EXPIRED = api_error(expired("token").to_dict())


class Paged:
    """A server with so many items, in pages as asked for; it can expire at an offset."""

    def __init__(self, items: int, expires_at: int = -1) -> None:
        self.items = [thing(f"n{number}", 1) for number in range(items)]
        self.expires_at = expires_at
        self.queries: list[ListQuery] = []

    async def list(self, query: ListQuery) -> ListPage:
        self.queries.append(query)
        at = int(query.continue_token or 0)
        if at == self.expires_at and query.limit:
            raise EXPIRED
        end = at + query.limit if query.limit else len(self.items)
        token = str(end) if end < len(self.items) else ""
        return page(100 + at, *self.items[at:end], token=token)


@pytest.mark.parametrize(("items", "asked"), [(0, 1), (5, 1), (10, 1), (15, 2), (25, 3)])
async def test_as_many_pages_as_it_takes_and_the_version_of_the_first(
    items: int, asked: int
) -> None:
    server = Paged(items)
    listed = await list_all(server.list, ListQuery("7", 10))

    assert len(listed.items) == items
    assert listed.pages == len(server.queries) == asked
    assert listed.resource_version == "100"
    versions = [query.resource_version for query in server.queries]
    assert versions == ["7", *[""] * (asked - 1)]


async def test_expired_on_the_first_page_is_raised() -> None:
    with pytest.raises(ExpiredError):
        await list_all(Paged(20, expires_at=0).list, ListQuery("7", 10))


async def test_expired_later_is_one_whole_list_at_the_version_asked_for() -> None:
    server = Paged(20, expires_at=10)
    listed = await list_all(server.list, ListQuery("7", 10))

    assert len(listed.items) == 20
    assert server.queries[-1] == ListQuery("7", 0)
    with pytest.raises(ExpiredError):
        await list_all(
            Paged(20, expires_at=10).list, ListQuery("7", 10), full_list_if_expired=False
        )


async def test_gone_without_the_reason_expired_is_raised_wherever_it_comes() -> None:
    async def answer(query: ListQuery) -> ListPage:
        if query.continue_token:
            raise api_error({"reason": "Gone", "code": 410})
        return page(1, thing("a"), token="next")

    with pytest.raises(GoneError):
        await list_all(answer, ListQuery("", 1))


async def test_a_list_can_be_left_in_the_middle() -> None:
    server, found = Paged(30), 0
    async for each in pages(server.list, ListQuery("", 10)):
        found += len(each.items)
        if found == 20:
            break

    assert len(server.queries) == 2


async def test_a_page_that_cannot_be_worked_on_is_the_last_one_asked_for() -> None:
    server = Paged(30)

    async def work() -> None:
        async for _ in pages(server.list, ListQuery("", 10)):
            if len(server.queries) == 2:
                raise ValueError("bad item")

    with pytest.raises(ValueError, match="bad item"):
        await work()
    assert len(server.queries) == 2


async def test_a_list_can_be_cancelled_in_the_middle() -> None:
    gate = asyncio.Event()

    async def answer(query: ListQuery) -> ListPage:
        if query.continue_token:
            gate.set()
            await asyncio.Event().wait()
        return page(1, thing("a"), token="next")

    task = started(list_all(answer, ListQuery("", 1)))
    await gate.wait()
    await ended(task)

    assert task.cancelled()


class Syncing:
    def __init__(self, name: str) -> None:
        self.name = name
        self.event = asyncio.Event()

    @property
    def has_synced(self) -> bool:
        return self.event.is_set()

    async def wait_synced(self) -> None:
        await self.event.wait()


async def test_waiting_ends_when_all_are_done_in_any_order() -> None:
    one, two = Syncing("one"), Syncing("two")
    waiting = started(wait_for_cache_sync(one, two, clock=FakeClock()))
    two.event.set()
    await settle()
    assert not waiting.done()
    one.event.set()
    await settle()

    assert waiting.done()


async def test_waiting_too_long_names_who_is_missing_in_order() -> None:
    clock, all_of_them = FakeClock(), [Syncing(name) for name in ("b", "c", "a")]
    waiting = started(wait_for_cache_sync(*all_of_them, within=5, clock=clock))
    await settle()
    all_of_them[1].event.set()
    await clock.advance(6)

    with pytest.raises(NotSyncedError, match="not synced: a, b") as caught:
        await waiting
    assert caught.value.names == ("a", "b")


async def test_waiting_for_nothing_is_done_at_once_and_can_be_cancelled() -> None:
    await wait_for_cache_sync(clock=FakeClock())
    before = asyncio.all_tasks()
    waiting = started(wait_for_cache_sync(Syncing("a"), clock=FakeClock()))
    await settle()
    await ended(waiting)

    assert asyncio.all_tasks() == before


def tracker(upstream: list[bool]) -> Any:
    return SyncTracker(lambda: upstream[0])


async def test_a_tracker_is_synced_once_upstream_is_and_all_have_arrived() -> None:
    upstream = [False]
    made = tracker(upstream)
    made.start()
    made.start()
    made.finish()
    upstream[0] = True
    assert not made.has_synced
    made.finish()
    assert made.has_synced
    made.start()

    assert made.has_synced
    other = tracker([False])
    assert not other.has_synced
    other.start()
    other.finish()
    assert not other.has_synced


async def test_more_arrivals_than_starts_are_a_fault() -> None:
    with pytest.raises(RuntimeError, match="more notifications finished"):
        tracker([True]).finish()


async def test_earlier_pages_are_not_kept_alive() -> None:
    class Items(list[Any]):
        """A list that can be watched."""

    ghosts: list[weakref.ref[Items]] = []
    alive: list[int] = []

    async def answer(query: ListQuery) -> ListPage:
        gc.collect()
        alive.append(sum(ghost() is not None for ghost in ghosts))
        number = int(query.continue_token or 0)
        items = Items([thing(f"n{number}")])
        ghosts.append(weakref.ref(items))
        return ListPage(items, "1", str(number + 1) if number < 3 else "")

    listed = await list_all(answer, ListQuery("", 1))

    assert len(listed.items) == 4
    assert max(alive) <= 2  # the first, and the one before
