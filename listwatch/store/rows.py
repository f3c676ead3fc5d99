"""Rows of the three tables as values: the columns every query reads, and what is made of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import Encoded
from listwatch.protocol.versions import Change, ChangeType
from listwatch.store.operations import Stored

HEAD = "listwatch_store_head"
OBJECTS = "listwatch_store_storedobject"
CHANGES = "listwatch_store_change"

STORED_COLUMNS = '"group", resource, namespace, name, uid, revision, splice, body'
CHANGE_COLUMNS = (
    'revision, "group", resource, namespace, name, uid, type, previous_revision, splice, body,'
    " committed_at"
)

Row = tuple[Any, ...]  # Any: a row has columns of several types

_TYPES = {str(type_): type_ for type_ in ChangeType}


@lru_cache(maxsize=4096)
def group_resource(group: str, resource: str) -> GroupResource:
    """One value a resource, however many rows name it."""
    return GroupResource(group, resource)


def stored_of(row: Row) -> Stored:
    """The value of a row of STORED_COLUMNS."""
    group, resource, namespace, name, uid, revision, splice, body = row
    return Stored(
        group_resource(group, resource), namespace, name, uid, revision, Encoded(body, splice)
    )


def change_of(row: Row) -> Change:
    """The value of a row of CHANGE_COLUMNS."""
    revision, group, resource, namespace, name, uid, type_, previous, splice, body, at = row
    return Change(
        revision, group_resource(group, resource), namespace, name, uid, _TYPES[type_],
        Encoded(body, splice), previous, at,
    )  # fmt: skip
