"""Writing: operations, and `write`, which carries one out in the transaction of its caller.

Servers write through `group_commit`, which shares one commit among many. From here the change
goes to `signals`.
"""

from __future__ import annotations

from django.db import connection, transaction

from listwatch.protocol.clock import Clock, SystemClock
from listwatch.protocol.versions import Change
from listwatch.store.locked_log import locked_log
from listwatch.store.operations import (
    AlreadyStored,
    Create,
    Delete,
    Guard,
    NotStored,
    Operation,
    RevisionMoved,
    Stored,
    StoreUnavailable,
    Update,
    WriteConflict,
)
from listwatch.store.signals import announce_on_commit, notify
from listwatch.store.transactions import Transaction

_SYSTEM_CLOCK = SystemClock()


def write(operation: Operation, *, clock: Clock = _SYSTEM_CLOCK) -> Change:
    """Carry out one operation, durable when this returns.

    Inside an open transaction it joins that one, as a savepoint: it is then durable when that
    commits, and until then every other writer waits. Raises AlreadyStored, NotStored,
    RevisionMoved, what the guard raises, and database errors; nothing is written then and no
    number is used up. On PostgreSQL the surrounding transaction must be READ COMMITTED.
    """
    with (
        transaction.atomic(),
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        locked_log(cursor, 1) as log,
    ):
        opened = Transaction(log, clock.now())
        change = opened.write(operation)
        announce_on_commit(opened.changes)
        notify(cursor, change.revision)
    return change


__all__ = [
    "AlreadyStored",
    "Create",
    "Delete",
    "Guard",
    "NotStored",
    "Operation",
    "RevisionMoved",
    "StoreUnavailable",
    "Stored",
    "Transaction",
    "Update",
    "WriteConflict",
    "write",
]
