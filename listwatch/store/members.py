"""The members of a group in its transaction: each its own outcome, for `group_commit`.

Savepoints cost as much as the writes they protect, and are hardly ever needed: a member that the
swap refuses has written nothing. So a group is first `tried` without them. Where a member failed
in a way that may have left something behind, the whole is rolled back and carried out `carefully`,
each member in a savepoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, transaction

from listwatch.protocol.versions import Change
from listwatch.store.operations import WriteConflict
from listwatch.store.transactions import Transaction

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.utils import CursorWrapper

    from listwatch.store.locked_log import LockedLog
    from listwatch.store.operations import Operation

Outcomes = list[Change | Exception]


class TryAgainCarefully(Exception):  # noqa: N818 (what is to be done, not what went wrong)
    """A member failed and may have left something: roll back, and use savepoints."""


class Members:
    """The operations of one transaction; `changes` is what was written, in the order of the log."""

    def __init__(self, cursor: CursorWrapper, log: LockedLog, now: float) -> None:
        self._cursor = cursor
        self._connection: BaseDatabaseWrapper = cursor.db
        self._log = log
        self._now = now
        self.changes: list[Change] = []

    def tried(self, operations: Sequence[Operation]) -> Outcomes:
        """Without savepoints; raises TryAgainCarefully, then nothing of it may be committed."""
        return [self._one(operation) for operation in operations]

    def carefully(self, operations: Sequence[Operation]) -> Outcomes:
        """With a savepoint for each."""
        return [self._one_in_savepoint(operation) for operation in operations]

    def _one(self, operation: Operation) -> Change | Exception:
        opened = Transaction(self._log, self._now)
        number, callbacks = self._log.number, len(self._connection.run_on_commit)
        try:
            change = opened.write(operation)
        except WriteConflict as refused:
            # Refused by the swap. What its guard wrote through the log is seen here.
            if self._log.number != number or len(self._connection.run_on_commit) != callbacks:
                raise TryAgainCarefully from refused
            return refused
        except Exception as error:
            raise TryAgainCarefully from error
        self.changes.extend(opened.changes)
        return change

    def _one_in_savepoint(self, operation: Operation) -> Change | Exception:
        connection = self._connection
        # Django's own savepoint costs more; it is needed where a guard may run queries and
        # register callbacks of its own.
        savepoint = _savepoint(self._cursor) if operation.guard is None else transaction.atomic()
        number = self._log.number
        try:
            with savepoint, connection.wrap_database_errors:
                opened = Transaction(self._log, self._now)
                change = opened.write(operation)
        except Exception as error:  # the member's own outcome
            if connection.needs_rollback or connection.closed_in_transaction:
                raise  # the savepoint is gone, and the whole group with it
            if isinstance(error, DatabaseError | InterfaceError) and not connection.is_usable():
                raise
            self._log.back(number)
            return error
        self.changes.extend(opened.changes)
        return change


@contextmanager
def _savepoint(cursor: CursorWrapper) -> Iterator[None]:
    cursor.execute("SAVEPOINT member")
    try:
        yield
    except BaseException:
        try:
            cursor.execute("ROLLBACK TO SAVEPOINT member")
            cursor.execute("RELEASE SAVEPOINT member")
        except (DatabaseError, InterfaceError):
            cursor.db.needs_rollback = True
        raise
    cursor.execute("RELEASE SAVEPOINT member")
