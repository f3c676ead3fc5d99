"""What is there from the first start on: namespaces, priorities and flows that clients count on.

Called by `runtime` before the first request, through the registry like any other write.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import StatusError
from listwatch.registry import flow_control
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


async def make_flow_control(registry: Registry, now: float) -> None:
    """Make those of the flow schemas and priority levels that are missing."""
    find = registry.resources.find
    levels = find(flow_control.GROUP, "v1", "prioritylevelconfigurations")
    schemas = find(flow_control.GROUP, "v1", "flowschemas")
    # All at once, so that they share a few commits.
    made = flow_control.priority_levels()
    await asyncio.gather(*(_make(registry, levels, document) for document in made))
    stamp = rfc3339(now)
    made = flow_control.flow_schemas()
    await asyncio.gather(*(_make_schema(registry, schemas, one, stamp) for one in made))


async def _make_schema(
    registry: Registry, resource: Resource | None, document: JSONObject, now: str
) -> None:
    status = flow_control.found(document, now)
    name = document["metadata"]["name"]
    if await _make(registry, resource, document) and resource is not None:
        ctx = RequestContext(SYSTEM, resource, "status", name=name)
        stored = (await registry.get(RequestContext(SYSTEM, resource, name=name))).decode()
        await registry.update(ctx, {**stored, "status": status})


async def _make(registry: Registry, resource: Resource | None, document: JSONObject) -> bool:
    if resource is None:
        return False
    try:
        await registry.get(RequestContext(SYSTEM, resource, name=document["metadata"]["name"]))
    except StatusError as error:
        if error.code != 404:
            raise
    else:
        return False
    try:
        await registry.create(RequestContext(SYSTEM, resource), document)
    except StatusError as error:
        if error.reason != "AlreadyExists":  # another process was quicker
            raise
        return False
    return True
