"""Reading the truth: what is there now, what has happened, and what was there at a revision.

All of it is synchronous: servers call it through `readers`. The rows go to `changefeed`, and
through it to the watch cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connection

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import key_of
from listwatch.protocol.versions import Change, ChangeType
from listwatch.store.operations import Stored
from listwatch.store.rows import (
    CHANGE_COLUMNS,
    CHANGES,
    HEAD,
    OBJECTS,
    STORED_COLUMNS,
    Row,
    change_of,
    stored_of,
)

_BATCH = 1000  # rows of one query where all are wanted

_GET = (
    f"SELECT {STORED_COLUMNS} FROM {OBJECTS}"  # noqa: S608 (constants only, here and below)
    ' WHERE "group" = %s AND resource = %s AND key = %s'
)
_OBJECTS = (
    f"SELECT key, {STORED_COLUMNS} FROM {OBJECTS}"  # noqa: S608
    ' WHERE "group" = %s AND resource = %s AND key > %s ORDER BY key LIMIT %s'
)
# Only numbers, from an index alone. Asked in one query with the rows and a NOT EXISTS, PostgreSQL
# without statistics took 46 s for a page of a log of 45,000 changes; this has no plan as bad.
_NEWEST = f"""
    SELECT key, max(revision) FROM {CHANGES}
    WHERE "group" = %s AND resource = %s AND key > %s AND key < %s AND revision <= %s
    GROUP BY key ORDER BY key LIMIT %s
"""  # noqa: S608
# One step of a walk over the distinct resources, each a seek in an index: a DISTINCT would read
# every row of the log.
_NEXT_RESOURCE = f"""
    SELECT "group", resource FROM {CHANGES} WHERE ("group", resource) > (%s, %s)
    ORDER BY "group", resource LIMIT 1
"""  # noqa: S608
_AFTER_ALL_KEYS = "\U0010ffff\U0010ffff"  # names are far below this


class HeadState(NamedTuple):
    """How far the log has come, and from which revision on states can be read."""

    current: int
    compacted: int


class Compacted(Exception):  # noqa: N818 (what happened, not what went wrong)
    """The log no longer holds what was asked for; `oldest` is the oldest state it can give."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"the log has been compacted up to {oldest}")
        self.oldest = oldest


def head() -> HeadState:
    """How far the log has come, by all transactions that are committed now."""
    rows = _fetch(f"SELECT current, compacted FROM {HEAD} WHERE id = 1", ())  # noqa: S608
    return HeadState(*rows[0]) if rows else HeadState(0, 0)


def get(group_resource: GroupResource, namespace: str, name: str) -> Stored | None:
    """The newest state of one object."""
    group, resource = group_resource.group, group_resource.resource
    rows = _fetch(_GET, (group, resource, key_of(namespace, name)))
    return stored_of(rows[0]) if rows else None


def objects(group_resource: GroupResource | None = None) -> Iterator[Stored]:
    """The newest state of all objects, of one resource or of all; each resource in key order.

    Read in batches: what is written meanwhile may be seen or not, and each object is seen at most
    once. Inside `snapshot` it is the state of that one revision.
    """
    for wanted in [group_resource] if group_resource else sorted(group_resources()):
        key = ""
        while True:
            rows = _fetch(_OBJECTS, (wanted.group, wanted.resource, key, _BATCH))
            for row in rows:
                yield stored_of(row[1:])
            if len(rows) < _BATCH:
                break
            key = rows[-1][0]


def changes(
    after: int,
    limit: int,
    group_resource: GroupResource | None = None,
    until: int | None = None,
) -> list[Change]:
    """Changes with after < revision (<= until), oldest first: of all resources without a gap.

    Raises Compacted if some of them may be gone.
    """
    query = f"SELECT {CHANGE_COLUMNS} FROM {CHANGES} WHERE revision > %s"  # noqa: S608
    parameters: list[Any] = [after]  # Any: as cursors take them
    if until is not None:
        query += " AND revision <= %s"
        parameters.append(until)
    if group_resource is not None:
        query += ' AND "group" = %s AND resource = %s'
        parameters += [group_resource.group, group_resource.resource]
    rows = _fetch(f"{query} ORDER BY revision LIMIT %s", (*parameters, limit))
    _refuse_below_compacted(after)
    return [change_of(row) for row in rows]


def at_revisions(revisions: Sequence[int]) -> list[Change]:
    """The changes with these numbers that the log still holds, oldest first.

    A change that some readable state needs is always there: so is the one before any change
    above the compacted revision.
    """
    found: list[Change] = []
    wanted = sorted(set(revisions))
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        places = ", ".join(["%s"] * len(batch))
        query = f"SELECT {CHANGE_COLUMNS} FROM {CHANGES} WHERE revision IN ({places})"  # noqa: S608
        found += [change_of(row) for row in _fetch(f"{query} ORDER BY revision", batch)]
    return found


def of_object(group_resource: GroupResource, namespace: str, name: str, limit: int) -> list[Change]:
    """The changes of one object that the log still holds, newest first."""
    query = (
        f"SELECT {CHANGE_COLUMNS} FROM {CHANGES}"  # noqa: S608
        ' WHERE "group" = %s AND resource = %s AND key = %s ORDER BY revision DESC LIMIT %s'
    )
    group, resource = group_resource.group, group_resource.resource
    return [
        change_of(row) for row in _fetch(query, (group, resource, key_of(namespace, name), limit))
    ]


def state_at(
    group_resource: GroupResource,
    revision: int,
    *,
    prefix: str = "",
    after_key: str = "",
    limit: int = 500,
) -> list[Change]:
    """The objects of a resource as they stood at a revision, in byte order of their keys.

    Each as the change that made it so. `prefix` is a namespace with or without its slash and
    never matches the beginning of another one; pages begin behind `after_key`. Raises Compacted
    below the compacted revision. A revision yet to come reads as the newest.
    """
    low, high = "", _AFTER_ALL_KEYS
    if prefix:
        # The slash is followed by 0 in byte order.
        low, high = prefix.rstrip("/") + "/", prefix.rstrip("/") + "0"
    found: list[Change] = []
    low = max(low, after_key)
    while len(found) < limit:
        # Deletions are among the keys, and drop out below: so ask for some more than are missing.
        wanted = max(limit - len(found), _BATCH // 4)
        newest = _fetch(
            _NEWEST, (group_resource.group, group_resource.resource, low, high, revision, wanted)
        )
        rows = {row.revision: row for row in at_revisions([number for _, number in newest])}
        states = (rows.get(number) for _, number in newest)
        found += [row for row in states if row and row.type is not ChangeType.DELETED]
        if len(newest) < wanted:
            break
        low = newest[-1][0]
    _refuse_below_compacted(revision)
    return found[:limit]


def group_resources() -> set[GroupResource]:
    """The resources that the log knows of: all that have objects, and those that had lately."""
    found: set[GroupResource] = set()
    last = ("", "")
    while rows := _fetch(_NEXT_RESOURCE, last):
        last = rows[0]
        found.add(GroupResource(*last))
    return found


def floor_since(since: float, byte_cap: int) -> int:
    """The revision behind which all changes are younger than `since` (wall time) and below a size.

    Never below the compacted revision, so `changes(floor)` is whole. For filling rings.
    """
    current, compacted = head()
    low = max(compacted, youngest_before(since))
    size = 0
    upper = current
    query = f"""
        SELECT revision, length(body) FROM {CHANGES}
        WHERE revision <= %s AND revision > %s ORDER BY revision DESC LIMIT %s
    """  # noqa: S608
    while upper > low:
        rows = _fetch(query, (upper, low, _BATCH))
        if not rows:  # compacted meanwhile
            break
        for revision, length in rows:
            size += length
            if size > byte_cap:
                return int(revision)
            upper = revision - 1
    return max(low, head().compacted)


def youngest_before(moment: float) -> int:
    """The newest revision committed before a moment of wall time, 0 if the log has none so old.

    Found by halving, since the log is in order of time as far as the writers' clocks agree.
    """
    low, high = head().compacted, head().current
    query = f"""
        SELECT committed_at FROM {CHANGES} WHERE revision <= %s ORDER BY revision DESC LIMIT 1
    """  # noqa: S608
    while low < high:
        middle = (low + high + 1) // 2
        rows = _fetch(query, (middle,))
        if rows and rows[0][0] < moment:
            low = middle
        else:
            high = middle - 1
    return low


@contextmanager
def snapshot() -> Iterator[HeadState]:
    """All reads inside see the one state that is yielded; for reading, and outside any transaction.

    Keep it short: the database cannot tidy up behind it.
    """
    if connection.in_atomic_block:
        raise RuntimeError("a snapshot needs a transaction of its own")
    with connection.cursor() as cursor:
        cursor.execute(
            "BEGIN" if connection.vendor == "sqlite"
            else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )  # fmt: skip
        try:
            yield head()
        finally:
            cursor.execute("COMMIT")


def _refuse_below_compacted(revision: int) -> None:
    # After the reading, not before: compaction moves `compacted` first and deletes later, so what
    # was read was whole if the revision still is readable now.
    compacted = head().compacted
    if revision < compacted:
        raise Compacted(compacted)


def _fetch(query: str, parameters: Sequence[Any]) -> list[Row]:  # Any: as cursors take them
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        rows: list[Row] = cursor.fetchall()
    return rows
