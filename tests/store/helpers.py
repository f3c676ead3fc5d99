"""Short ways to make operations."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import Encoded, encode
from listwatch.store import reads
from listwatch.store.writes import Create, Delete, Update

needs_postgres = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="PostgreSQL alone: test_postgresql runs it there"
)

PODS = GroupResource("", "pods")
NODES = GroupResource("", "nodes")


def body(name: str = "a", **spec: Any) -> Encoded:  # Any: whatever JSON holds
    return encode({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name}, "spec": spec})


def create(name: str, namespace: str = "ns", **kwargs: Any) -> Create:  # Any: as Create takes them
    return Create(PODS, namespace, name, f"uid-{name}", body(name), **kwargs)


def update(name: str, expected: int, namespace: str = "ns", n: int = 0, **kwargs: Any) -> Update:
    return Update(PODS, namespace, name, expected, body(name, n=n), **kwargs)


def delete(name: str, expected: int, namespace: str = "ns", **kwargs: Any) -> Delete:
    return Delete(PODS, namespace, name, expected, body(name), **kwargs)


def log_is_whole() -> None:
    """Assert what holds at every commit: no gaps, and the log's newest is what stands."""
    head = reads.head()
    rows = reads.changes(head.compacted, 1_000_000)
    assert [row.revision for row in rows] == list(range(head.compacted + 1, head.current + 1))
    newest = {
        (gr, row.namespace, row.name): (row.revision, row.uid, row.encoded)
        for gr in reads.group_resources()
        for row in reads.state_at(gr, head.current, limit=1_000_000)
    }
    stored = {
        (row.group_resource, row.namespace, row.name): (row.revision, row.uid, row.encoded)
        for row in reads.objects()
    }
    assert stored == newest


def emptied() -> None:
    """Begin anew, as the fixture `store` does, between two examples of one test."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM listwatch_store_storedobject")
        cursor.execute("DELETE FROM listwatch_store_change")
        cursor.execute("UPDATE listwatch_store_head SET current = 0, compacted = 0, swept = 0")
