"""What the newest revision is, asked cheaply: a consistent read waits until the cache is there.

On SQLite a number in shared memory tells whether anything was committed since the last look
(`PRAGMA data_version`, a few microseconds), so an idle server's lists ask no query. On other
databases one query answers all who ask in the same turn of the loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from listwatch.store import reads
from listwatch.store.readers import Readers

_CURRENT = "SELECT current FROM listwatch_store_head"


class Freshness(Protocol):
    """Tells the newest committed revision; `seen` is the newest that it has told."""

    seen: int

    async def current(self) -> int:
        """The newest revision committed by anyone before this call; may be newer."""

    def moved(self) -> bool:
        """Whether anything was committed since the last answer, if that is cheap to tell."""

    def close(self) -> None:
        """Let go of the database."""


class SQLiteFreshness:
    """The newest revision of a SQLite file, read in the event loop without a query when idle.

    Readers of a file in WAL mode never wait for a writer, and the table has one row: this is as
    quick as a dictionary of moderate size, and spares a thread switch a request. Not for a file
    on a network drive.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None, timeout=1.0
        )
        self._version = -1
        self.seen = 0

    async def current(self) -> int:
        """The newest revision committed by anyone before this call."""
        return self.look()

    def look(self) -> int:
        """The same, without waiting."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            row = self._connection.execute(_CURRENT).fetchone()
            self.seen = row[0] if row else 0
            self._version = version
        return self.seen

    def moved(self) -> bool:
        """Whether anything was committed since the last look."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return bool(version != self._version)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class QueryFreshness:
    """The newest revision by a query; those who ask while none has begun share the next one."""

    def __init__(self, readers: Readers) -> None:
        self.seen = 0
        self._readers = readers
        self._next: asyncio.Future[int] | None = None

    async def current(self) -> int:
        """The newest revision committed by anyone before this call."""
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.create_future()
            loop.call_soon(self._begin)
        return await asyncio.shield(self._next)

    def moved(self) -> bool:
        """Not cheap to tell here: never says so."""
        return False

    def close(self) -> None:
        """Nothing is held."""

    def _begin(self) -> None:
        # Whoever asks from now on may have seen a later commit, so this query is not for them.
        future, self._next = self._next, None
        if future is not None:
            task = asyncio.ensure_future(self._query(future))
            future.add_done_callback(lambda _: task)  # keeps the task alive until it is done

    async def _query(self, future: asyncio.Future[int]) -> None:
        try:
            head = await self._readers.run(reads.head)
        except BaseException as error:  # noqa: BLE001 (handed to those who wait)
            if not future.done():
                future.set_exception(error)
                future.exception()  # marks it as seen: a waiter may have gone meanwhile
        else:
            self.seen = max(self.seen, head.current)
            if not future.done():
                future.set_result(head.current)
