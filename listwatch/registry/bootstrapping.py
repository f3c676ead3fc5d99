"""What is there from the first start on: the namespaces that every client counts on.

Called by `runtime` before the first request, through the registry like any other write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError
from listwatch.registry.context import SYSTEM, RequestContext

if TYPE_CHECKING:
    from listwatch.registry.registry import Registry

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


async def make_namespaces(registry: Registry) -> None:
    """Make those of the namespaces that are missing."""
    resource = registry.resources.find("", "v1", "namespaces")
    if resource is None:
        return
    for name in NAMESPACES:
        ctx = RequestContext(SYSTEM, resource, name=name)
        try:
            await registry.get(ctx)
        except StatusError as error:
            if error.code != 404:
                raise
        else:
            continue
        try:
            await registry.create(RequestContext(SYSTEM, resource), {"metadata": {"name": name}})
        except StatusError as error:
            if error.reason != "AlreadyExists":  # another process was quicker
                raise
