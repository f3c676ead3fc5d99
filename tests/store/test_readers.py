"""Readers: threads with connections that last, for an event loop that may not wait."""

from __future__ import annotations

import asyncio
import threading

import pytest
from django.db import connection

from listwatch.store import reads
from listwatch.store.readers import Readers
from listwatch.store.writes import StoreUnavailable
from tests.store.helpers import needs_postgres

pytestmark = pytest.mark.usefixtures("store")


def where() -> tuple[str, int]:
    connection.ensure_connection()
    return threading.current_thread().name, id(connection.connection)


async def test_calls_run_in_few_threads_on_connections_that_last(readers: Readers) -> None:
    places = {await readers.run(where) for _ in range(20)}
    places |= set(await asyncio.gather(*(readers.run(where) for _ in range(20))))

    assert 1 <= len(places) <= 2
    assert {name for name, _ in places} <= {"reader 0", "reader 1"}


async def test_the_result_and_the_error_come_back(readers: Readers) -> None:
    def fail() -> None:
        raise KeyError("x")

    assert await readers.run(reads.changes, 0, limit=1) == []
    with pytest.raises(KeyError):
        await readers.run(fail)
    assert await readers.run(reads.head) == (0, 0)


async def test_a_caller_who_left_disturbs_nobody(readers: Readers) -> None:
    free = threading.Event()
    held = [asyncio.ensure_future(readers.run(free.wait, 10)) for _ in range(2)]
    left = asyncio.ensure_future(readers.run(reads.head))
    await asyncio.sleep(0)
    left.cancel()
    held[0].cancel()
    await asyncio.sleep(0)
    free.set()

    assert await held[1]
    assert await readers.run(reads.head) == (0, 0)


async def test_stopping_answers_what_was_asked_and_then_refuses(store: None) -> None:
    readers = Readers(size=1)
    with pytest.raises(StoreUnavailable):
        await readers.run(reads.head)
    readers.start()
    asked = [asyncio.ensure_future(readers.run(reads.head)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.to_thread(readers.stop)

    assert await asyncio.gather(*asked) == [(0, 0)] * 3
    with pytest.raises(StoreUnavailable):
        await readers.run(reads.head)


@needs_postgres
async def test_a_connection_that_was_cut_is_replaced_and_nobody_notices(store: None) -> None:
    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    readers = Readers(size=1)
    readers.start()
    before = await readers.run(where)
    with pytest.raises(Exception, match="terminating connection"):
        await readers.run(cut)

    assert await readers.run(reads.head) == (0, 0)
    assert (await readers.run(where))[1] != before[1]
    await asyncio.to_thread(readers.stop)
