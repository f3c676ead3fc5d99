"""One write inside a database transaction that has the log locked: a number, the swap, the log.

`writes` makes a Transaction in the caller's database transaction, `group_commit` one for each
member of a group. Both go on to `signals` after the commit.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.utils import CursorWrapper

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import key_of
from listwatch.protocol.versions import Change, ChangeType
from listwatch.store.locked_log import LockedLog
from listwatch.store.operations import (
    AlreadyStored,
    Create,
    NotStored,
    Operation,
    RevisionMoved,
    Stored,
    Update,
)
from listwatch.store.rows import CHANGES, HEAD, OBJECTS

# All of these are put together from constants alone.
_LOCK = f"UPDATE {HEAD} SET current = current WHERE id = 1"  # noqa: S608
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
    """One write and the guard before it, in a database transaction that has the log locked.

    Whoever made it takes back what it wrote, should anything here raise: by a savepoint, or by
    rolling back the whole. A write that fails burns nothing, because its number goes back with it;
    the next write takes the same.

    A guard may read and write with it. It must not keep it.
    """

    __slots__ = ("_log", "_now", "changes")

    def __init__(self, log: LockedLog, now: float) -> None:
        self._log = log
        self._now = now
        self.changes: list[Change] = []

    def get(self, group_resource: GroupResource, namespace: str, name: str) -> Stored | None:
        """The object as this transaction sees it."""
        return self._log.get(group_resource, namespace, name)

    def count(self, group_resource: GroupResource | None, namespace: str) -> int:
        """How many objects a namespace holds: of one resource, or (None) of all."""
        query = f"SELECT count(*) FROM {OBJECTS} WHERE namespace = %s"  # noqa: S608
        parameters: list[Any] = [namespace]  # Any: as cursors take them
        if group_resource is not None:
            query += ' AND "group" = %s AND resource = %s AND key >= %s AND key < %s'
            parameters += [
                group_resource.group, group_resource.resource, f"{namespace}/", f"{namespace}0",
            ]  # fmt: skip
        row = self._log.statements.row(query, parameters)
        assert row is not None
        return int(row[0])

    def write(self, operation: Operation) -> Change:
        """Carry out one operation: its guard, the swap, the log. Raises what refuses it."""
        if operation.guard is not None:
            operation.guard(self)
        log = self._log
        row_of = log.statements.row
        number = log.number + 1
        group, resource = operation.group_resource
        namespace, name = operation.namespace, operation.name
        body, splice = operation.encoded
        key = f"{namespace}/{name}" if namespace else name
        log.forget((group, resource, key))
        previous = 0
        if isinstance(operation, Update):
            type_ = ChangeType.MODIFIED
            previous = operation.expected
            row = row_of(_UPDATE, (number, splice, body, group, resource, key, previous))
        elif isinstance(operation, Create):
            type_ = ChangeType.ADDED
            row = row_of(
                _CREATE,
                (group, resource, key, namespace, name, operation.uid, number, splice, body),
            )
        else:
            type_ = ChangeType.DELETED
            previous = operation.expected
            row = row_of(_DELETE, (group, resource, key, previous))
        if row is None:
            raise self._refusal(operation)
        uid: str = row[0]
        log.statements.run(
            _LOG,
            (number, group, resource, key, namespace, name, uid, type_.value, previous, splice,
             body, self._now),
        )  # fmt: skip
        log.number = number
        change = Change(
            number, operation.group_resource, namespace, name, uid, type_, operation.encoded,
            previous, self._now,
        )  # fmt: skip
        self.changes.append(change)
        return change

    def _refusal(self, operation: Operation) -> Exception:
        stored = self.get(operation.group_resource, operation.namespace, operation.name)
        if stored is None:
            return NotStored(
                f"{operation.group_resource} {key_of(operation.namespace, operation.name)}"
            )
        return AlreadyStored(stored) if isinstance(operation, Create) else RevisionMoved(stored)
