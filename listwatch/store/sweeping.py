"""Compaction: forgetting what no readable state needs any more, as etcd does.

After `compact(C)` every state from C on reads as before; older ones raise Compacted. A Change goes
only if its object has a newer one up to C, and a deletion up to C goes itself. `compaction`
decides when and up to where.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from django.db import connection, transaction

from listwatch.store.rows import CHANGES, HEAD

BATCH = 500  # changes looked at in one transaction, each of which takes away at most two rows
# Seconds between two batches. SQLite hands its lock to whoever happens to ask: without a pause a
# writer waited for many batches (measured: 83 ms at most, 13 with it).
PAUSE = 0.02

_MOVE = (
    f"UPDATE {HEAD} SET compacted = CASE WHEN compacted < %s THEN %s ELSE compacted END"  # noqa: S608
    " WHERE id = 1 AND current >= %s"
)
_LOCK = f"UPDATE {HEAD} SET swept = swept WHERE id = 1 RETURNING swept, compacted"  # noqa: S608
_SWEPT = f"UPDATE {HEAD} SET swept = %s WHERE id = 1"  # noqa: S608
_NEXT = (
    f"SELECT revision, previous_revision, type FROM {CHANGES}"  # noqa: S608
    " WHERE revision > %s AND revision <= %s ORDER BY revision LIMIT %s"
)


class Sweep(NamedTuple):
    """What one transaction of compaction did."""

    rows: int  # taken away
    done: bool  # nothing is left to take away


def compact(revision: int, *, pause: Callable[[float], object] = time.sleep) -> int:
    """Compact up to a revision; returns how many rows went. Never goes back, may be repeated.

    Raises ValueError for a revision that is yet to come. Takes a transaction for each batch and
    pauses between two, so that writers wait for no more than one.
    """
    move(revision)
    swept = sweep()
    rows = swept.rows
    while not swept.done:
        pause(PAUSE)
        swept = sweep()
        rows += swept.rows
    return rows


def move(revision: int) -> None:
    """Declare the states below a revision unreadable; `sweep` then takes their rows away.

    In a transaction of its own, committed before any row goes: a reader who looks at `compacted`
    after its reading knows whether what it read was whole.
    """
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(_MOVE, (revision, revision, revision))
        if cursor.rowcount != 1:
            raise ValueError(f"cannot compact up to {revision}: no such revision yet")


def sweep() -> Sweep:
    """Take away one batch of what `move` has made unreadable.

    Walks the log from where the last batch ended (`Head.swept`, moved in the same transaction, so
    that a process which dies loses its place by no row). Each change up to `compacted` replaces
    the one before it of the same object, which goes; a deletion leaves nothing, and goes too.
    """
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        # The lock first: two processes that sweep the same rows would wait for each other.
        cursor.execute(_LOCK)
        row = cursor.fetchone()
        if row is None:
            return Sweep(0, done=True)
        swept, compacted = row
        cursor.execute(_NEXT, (swept, compacted, BATCH))
        seen = cursor.fetchall()
        gone = [previous for _, previous, _ in seen if previous]
        gone += [revision for revision, _, type_ in seen if type_ == "DELETED"]
        rows = 0
        if gone:
            places = ", ".join(["%s"] * len(gone))
            cursor.execute(f"DELETE FROM {CHANGES} WHERE revision IN ({places})", gone)  # noqa: S608
            rows = cursor.rowcount
        done = len(seen) < BATCH
        if swept < compacted:
            cursor.execute(_SWEPT, (compacted if done else seen[-1][0],))
    return Sweep(rows, done)
