"""One write inside a database transaction: the number first, then the swap and the log.

`writes` makes a Transaction in the caller's database transaction, `group_commit` one for each
member of a group. Both go on to `signals` after the commit.
"""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError
from django.db.backends.utils import CursorWrapper

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import key_of
from listwatch.protocol.versions import Change, ChangeType
from listwatch.store.operations import (
    AlreadyStored,
    Create,
    NotStored,
    Operation,
    RevisionMoved,
    Stored,
    Update,
)
from listwatch.store.rows import CHANGES, HEAD, OBJECTS, STORED_COLUMNS, stored_of

# All of these are put together from constants alone.
_TAKE_NUMBER = f"UPDATE {HEAD} SET current = current + 1 WHERE id = 1 RETURNING current"  # noqa: S608
_LOCK = f"UPDATE {HEAD} SET current = current WHERE id = 1"  # noqa: S608
_GET = (
    f"SELECT {STORED_COLUMNS} FROM {OBJECTS}"  # noqa: S608
    ' WHERE "group" = %s AND resource = %s AND key = %s'
)
_CREATE = (
    f'INSERT INTO {OBJECTS} ("group", resource, key, namespace, name, uid, revision, splice, body)'  # noqa: S608
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
    ' ON CONFLICT ("group", resource, key) DO NOTHING RETURNING uid'
)
_UPDATE = (
    f"UPDATE {OBJECTS} SET revision = %s, splice = %s, body = %s"  # noqa: S608
    ' WHERE "group" = %s AND resource = %s AND key = %s AND revision = %s RETURNING uid'
)
_DELETE = (
    f"DELETE FROM {OBJECTS}"  # noqa: S608
    ' WHERE "group" = %s AND resource = %s AND key = %s AND revision = %s RETURNING uid'
)
_LOG = (
    f'INSERT INTO {CHANGES} (revision, "group", resource, key, namespace, name, uid, type,'  # noqa: S608
    " previous_revision, splice, body, committed_at)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)


def lock_log(cursor: CursorWrapper) -> None:
    """Lock the log until the transaction ends, without taking a number."""
    cursor.execute(_LOCK)


class Transaction:
    """The log, locked, for one write and the guard before it.

    Made inside a savepoint or transaction that its maker rolls back when anything here raises.
    Its first statement takes the next number from Head and with it the lock on that row, which
    the database holds until the whole transaction ends. Hence the invariant: at every COMMIT
    `Head.current` is the number of the newest Change, the numbers have no gap, and their order is
    the order of commits. A write that fails burns nothing, because its number goes back with its
    savepoint; whoever locks the row next, in this transaction or another, takes the same number.

    A guard may read and write with it. It must not keep it.
    """

    __slots__ = ("_cursor", "_now", "_number", "changes")

    def __init__(self, cursor: CursorWrapper, now: float) -> None:
        self._cursor = cursor
        self._now = now
        self._number = self._take_number()
        self.changes: list[Change] = []

    def get(self, group_resource: GroupResource, namespace: str, name: str) -> Stored | None:
        """The object as this transaction sees it."""
        self._cursor.execute(
            _GET, (group_resource.group, group_resource.resource, key_of(namespace, name))
        )
        row = self._cursor.fetchone()
        return None if row is None else stored_of(row)

    def count(self, group_resource: GroupResource | None, namespace: str) -> int:
        """How many objects a namespace holds: of one resource, or (None) of all."""
        query = f"SELECT count(*) FROM {OBJECTS} WHERE namespace = %s"  # noqa: S608
        parameters: list[Any] = [namespace]  # Any: as cursors take them
        if group_resource is not None:
            query += ' AND "group" = %s AND resource = %s AND key >= %s AND key < %s'
            parameters += [
                group_resource.group, group_resource.resource, f"{namespace}/", f"{namespace}0",
            ]  # fmt: skip
        self._cursor.execute(query, parameters)
        return int(self._cursor.fetchone()[0])

    def write(self, operation: Operation) -> Change:
        """Carry out one operation: its guard, the swap, the log. Raises what refuses it."""
        number = self._number or self._take_number()
        self._number = 0
        if operation.guard is not None:
            operation.guard(self)
        group, resource = operation.group_resource.group, operation.group_resource.resource
        namespace, name = operation.namespace, operation.name
        body, splice = operation.encoded
        key = f"{namespace}/{name}" if namespace else name
        previous = 0
        execute = self._cursor.execute
        if isinstance(operation, Update):
            type_ = ChangeType.MODIFIED
            previous = operation.expected
            execute(_UPDATE, (number, splice, body, group, resource, key, previous))
        elif isinstance(operation, Create):
            type_ = ChangeType.ADDED
            execute(
                _CREATE,
                (group, resource, key, namespace, name, operation.uid, number, splice, body),
            )
        else:
            type_ = ChangeType.DELETED
            previous = operation.expected
            execute(_DELETE, (group, resource, key, previous))
        row = self._cursor.fetchone()
        if row is None:
            raise self._refusal(operation)
        uid: str = row[0]
        execute(
            _LOG,
            (number, group, resource, key, namespace, name, uid, type_.value, previous, splice,
             body, self._now),
        )  # fmt: skip
        change = Change(
            number, operation.group_resource, namespace, name, uid, type_, operation.encoded,
            previous, self._now,
        )  # fmt: skip
        self.changes.append(change)
        return change

    def _take_number(self) -> int:
        self._cursor.execute(_TAKE_NUMBER)
        row = self._cursor.fetchone()
        if row is None:
            raise DatabaseError("the store has no Head row: run `manage.py migrate`")
        return int(row[0])

    def _refusal(self, operation: Operation) -> Exception:
        stored = self.get(operation.group_resource, operation.namespace, operation.name)
        if stored is None:
            return NotStored(
                f"{operation.group_resource} {key_of(operation.namespace, operation.name)}"
            )
        return AlreadyStored(stored) if isinstance(operation, Create) else RevisionMoved(stored)
