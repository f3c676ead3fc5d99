"""Short ways to make operations."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import Encoded, encode
from listwatch.store.writes import Create, Delete, Update

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
