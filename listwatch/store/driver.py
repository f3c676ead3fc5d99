"""The hot statements, straight on the driver: Django's way around one costs as much again.

Only `transactions` and `locked_log` go this way, inside a transaction and a cursor that Django
opened. Whoever opens these wraps them in `connection.wrap_database_errors`, so that errors are
Django's as everywhere else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from django.db.backends.utils import CursorWrapper

Row = tuple[Any, ...]  # Any: a row has columns of several types
Execute = Callable[[str, Sequence[Any]], Any]  # Any: parameters, and the driver's cursor


class Statements:
    """Runs statements that are written with `%s` and return at most one row that is looked at."""

    __slots__ = ("_cursor", "_execute", "_sqlite")

    def __init__(self, cursor: CursorWrapper) -> None:
        self._cursor: Any = cursor.cursor  # Any: the driver's own
        self._sqlite = isinstance(self._cursor, sqlite3.Cursor)
        # Past Django's subclass, which translates the statement anew each time.
        self._execute: Execute = (
            partial(sqlite3.Cursor.execute, self._cursor) if self._sqlite else self._cursor.execute
        )

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Carry out a statement."""
        self._execute(_with_marks(statement) if self._sqlite else statement, parameters)

    def row(self, statement: str, parameters: Sequence[Any] = ()) -> Row | None:
        """Carry out a statement; its first row."""
        self._execute(_with_marks(statement) if self._sqlite else statement, parameters)
        row: Row | None = self._cursor.fetchone()
        return row


@lru_cache(maxsize=64)
def _with_marks(statement: str) -> str:
    """A statement as sqlite3 takes it; ours hold no other per cent sign."""
    return statement.replace("%s", "?")
