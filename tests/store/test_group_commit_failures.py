"""The committer's connection: durable, and replaced when it breaks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from listwatch.store.group_commit import GroupCommitter
from listwatch.store.readers import Readers
from listwatch.store.transactions import Transaction
from listwatch.store.writes import (
    Create,
    StoreUnavailable,
)
from tests.store.helpers import PODS, body, create, log_is_whole, needs_postgres
from tests.store.test_group_commit import outcomes

pytestmark = pytest.mark.usefixtures("store")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own durability")
async def test_the_live_writer_syncs_fully(committer: GroupCommitter) -> None:
    seen: list[object] = []

    def guard(_: Transaction) -> None:
        with connection.cursor() as cursor:
            for pragma in ("synchronous", "journal_mode"):
                cursor.execute(f"PRAGMA {pragma}")
                seen.append(cursor.fetchone()[0])

    await committer.submit(create("a", guard=guard))

    assert seen == [2, "wal"]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's lock of the whole file")
async def test_a_file_that_stays_locked_fails_the_group_and_not_the_connection(
    committer: GroupCommitter, readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.05)
    locked, free = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic():
            locked.set()
            assert free.wait(10)

    locking = asyncio.ensure_future(readers.run(lock))
    assert await asyncio.to_thread(locked.wait, 10)
    with pytest.raises(StoreUnavailable, match="locked"):
        await committer.submit(create("a"))
    free.set()
    await locking

    assert (await committer.submit(create("a"))).revision == 1
    assert committer.statistics().reconnections == 0


def _backend_killer(pid: list[int]) -> Callable[[Transaction], None]:
    def guard(_: Transaction) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pid.append(cursor.fetchone()[0])

    return guard


def _kill(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


@needs_postgres
async def test_a_connection_that_was_cut_is_replaced_and_nobody_notices(
    committer: GroupCommitter, readers: Readers
) -> None:
    pid: list[int] = []
    await committer.submit(create("a", guard=_backend_killer(pid)))
    await readers.run(_kill, pid[0])
    changes = await asyncio.gather(committer.submit(create("b")), committer.submit(create("c")))

    assert [change.revision for change in changes] == [2, 3]
    assert committer.statistics().reconnections == 1
    await readers.run(log_is_whole)


@needs_postgres
async def test_a_connection_cut_amid_a_group_has_the_group_carried_out_again(
    committer: GroupCommitter, readers: Readers
) -> None:
    times: list[int] = []

    def guard(opened: Transaction) -> None:
        times.append(opened.count(None, "ns"))
        if len(times) == 1:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    changes = await asyncio.gather(
        committer.submit(create("a")), committer.submit(create("b", guard=guard))
    )

    assert [change.revision for change in changes] == [1, 2]
    assert times == [1, 1]
    await readers.run(log_is_whole)


@needs_postgres
async def test_an_error_of_one_statement_fails_one_member(committer: GroupCommitter) -> None:
    bad = Create(PODS, "ns", "a", "PostgreSQL has no \0 in text", body())
    answers = await outcomes(committer.submit(bad), committer.submit(create("b")))

    assert [type(answer).__name__ for answer in answers] == ["DataError", "Change"]
