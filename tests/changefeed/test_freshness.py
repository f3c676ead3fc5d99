"""The newest revision is known cheaply, and never older than what was committed before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from django.db import connection

from listwatch.changefeed.doorbells import DataVersionDoorbell
from listwatch.changefeed.freshness import QueryFreshness, SQLiteFreshness
from listwatch.store import reads
from listwatch.testing.clock import FakeClock
from tests.changefeed.conftest import Feed


@pytest.fixture
def sqlite() -> Path:
    if connection.vendor != "sqlite":
        pytest.skip("this is about SQLite")
    return Path(str(connection.settings_dict["NAME"]))


async def test_a_look_at_sqlite_sees_every_commit_before_it(feed: Feed, sqlite: Path) -> None:
    freshness = SQLiteFreshness(sqlite)
    try:
        for number in range(1, 20):
            created = await feed.create(f"c{number}")
            assert created.revision == number
            assert await freshness.current() == number
            assert not freshness.moved()
    finally:
        freshness.close()


async def test_an_idle_sqlite_is_asked_no_query(feed: Feed, sqlite: Path) -> None:
    await feed.create("a")
    freshness = SQLiteFreshness(sqlite)
    try:
        assert freshness.look() == 1
        asked: list[str] = []
        freshness._connection.set_trace_callback(asked.append)
        assert freshness.look() == 1
        assert asked == ["PRAGMA data_version"]
    finally:
        freshness.close()


async def test_the_doorbell_of_sqlite_rings_for_what_another_connection_wrote(
    feed: Feed, sqlite: Path
) -> None:
    clock, rings = FakeClock(), [0]
    freshness = SQLiteFreshness(sqlite)
    freshness.look()

    def ring() -> None:
        rings[0] += 1
        freshness.look()

    task = asyncio.create_task(DataVersionDoorbell(freshness, clock).run(ring))
    try:
        await clock.advance(1.0)
        assert rings == [0]
        await feed.create("a")
        await clock.advance(0.2)
        assert rings == [1]
    finally:
        task.cancel()
        freshness.close()


async def test_who_asks_in_the_same_turn_shares_one_query(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    head = reads.head

    def counted() -> reads.HeadState:
        nonlocal asked
        asked += 1
        return head()

    monkeypatch.setattr(reads, "head", counted)
    await feed.create("a")
    freshness = QueryFreshness(feed.readers)

    assert await asyncio.gather(*(freshness.current() for _ in range(50))) == [1] * 50
    assert asked == 1
    await feed.create("b")
    assert await freshness.current() == 2
    assert asked == 2


async def test_a_failed_query_fails_those_who_asked_and_nobody_later(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    freshness = QueryFreshness(feed.readers)
    with monkeypatch.context() as patch:
        patch.setattr(reads, "head", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await freshness.current()

    assert await freshness.current() == 0
