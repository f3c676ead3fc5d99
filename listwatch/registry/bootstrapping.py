"""What is there from the first start on: namespaces and priorities that every client counts on.

Called by `runtime` before the first request, through the registry like any other write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError
from listwatch.registry.context import SYSTEM, RequestContext

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.registry import Registry

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


_PRIORITIES: tuple[tuple[str, int, str], ...] = (
    (
        "system-cluster-critical", 2_000_000_000,
        ("Used for system critical pods that must run in the cluster, but can be moved to another "
        "node if necessary."),
    ),
    (
        "system-node-critical", 2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
)  # fmt: skip


async def make_namespaces(registry: Registry) -> None:
    """Make those of the namespaces that are missing."""
    resource = registry.resources.find("", "v1", "namespaces")
    for name in NAMESPACES:
        await _make(registry, resource, {"metadata": {"name": name}})


async def make_priorities(registry: Registry) -> None:
    """Make those of the system's priority classes that are missing."""
    resource = registry.resources.find("scheduling.k8s.io", "v1", "priorityclasses")
    for name, value, description in _PRIORITIES:
        document: JSONObject = {"metadata": {"name": name}, "value": value}
        await _make(registry, resource, {**document, "description": description})


async def _make(registry: Registry, resource: Resource | None, document: JSONObject) -> None:
    if resource is None:
        return
    try:
        await registry.get(RequestContext(SYSTEM, resource, name=document["metadata"]["name"]))
    except StatusError as error:
        if error.code != 404:
            raise
    else:
        return
    try:
        await registry.create(RequestContext(SYSTEM, resource), document)
    except StatusError as error:
        if error.reason != "AlreadyExists":  # another process was quicker
            raise
