"""The log, locked by one database transaction: the numbers it gives, and what is read meanwhile.

`group_commit` opens one for a group, `writes` one for a write in a transaction of its caller's;
`transactions` writes through it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import DatabaseError

from listwatch.protocol.objects import key_of
from listwatch.store.driver import Statements
from listwatch.store.rows import HEAD, OBJECTS, STORED_COLUMNS, stored_of

if TYPE_CHECKING:
    from django.db.backends.utils import CursorWrapper

    from listwatch.protocol.kinds import GroupResource
    from listwatch.store.operations import Stored

# All of these are put together from constants alone.
_TAKE = f"UPDATE {HEAD} SET current = current + %s WHERE id = 1 RETURNING current"  # noqa: S608
_SETTLE = f"UPDATE {HEAD} SET current = %s WHERE id = 1"  # noqa: S608
_GET = (
    f"SELECT {STORED_COLUMNS} FROM {OBJECTS}"  # noqa: S608
    ' WHERE "group" = %s AND resource = %s AND key = %s'
)

_Key = tuple[str, str, str]
_thread = threading.local()


class LockedLog:
    """Numbers for the writes of one database transaction, and a memory of what it has read.

    Made by the transaction's first statement, which moves Head and so takes the lock on its row;
    the database holds that until the transaction ends, so nobody else writes meanwhile and what
    was read stays true. `settle` must be its last statement: it moves Head to the last number that
    was used. Hence the invariant: at every COMMIT `Head.current` is the number of the newest
    Change, the numbers have no gap, and their order is the order of commits.
    """

    __slots__ = ("_ahead", "_read", "number", "statements")

    def __init__(self, cursor: CursorWrapper, expected: int) -> None:
        self.statements = Statements(cursor)
        row = self.statements.row(_TAKE, (expected,))
        if row is None:
            raise DatabaseError("the store has no Head row: run `manage.py migrate`")
        self._ahead = int(row[0])  # where Head stands now
        self.number = self._ahead - expected  # of the last write
        self._read: dict[_Key, Stored | None] = {}

    def get(self, group_resource: GroupResource, namespace: str, name: str) -> Stored | None:
        """The object as this transaction sees it; raises nothing of its own."""
        key = (group_resource.group, group_resource.resource, key_of(namespace, name))
        if key not in self._read:
            row = self.statements.row(_GET, key)
            self._read[key] = None if row is None else stored_of(row)
        return self._read[key]

    def forget(self, key: _Key) -> None:
        """What was read of an object holds no longer: it is about to be written."""
        self._read.pop(key, None)

    def back(self, number: int) -> None:
        """The writes after this number have been taken back."""
        self.number = number
        self._read.clear()

    def settle(self) -> None:
        """Move Head to the last number used."""
        if self._ahead != self.number:
            self.statements.run(_SETTLE, (self.number,))
            self._ahead = self.number


@contextmanager
def locked_log(cursor: CursorWrapper, expected: int) -> Iterator[LockedLog]:
    """The log of this thread's open transaction, which whoever opened it first settles.

    A guard that writes for itself joins the transaction of the write that it guards, in this way.
    """
    outer: LockedLog | None = getattr(_thread, "log", None)
    if outer is not None:
        number = outer.number
        try:
            yield outer
        except BaseException:
            outer.back(number)
            raise
        return
    log = LockedLog(cursor, expected)
    _thread.log = log
    try:
        yield log
        log.settle()
    finally:
        _thread.log = None
