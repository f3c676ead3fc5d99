"""What a server serves, asked of the server itself.

Used by controllers that work on every kind there is, such as the garbage collector.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import APIResource
from listwatch.protocol.kinds import split_api_version

if TYPE_CHECKING:
    from listwatch.informer.client import Client


async def served_resources(client: Client) -> list[APIResource]:
    """Every resource, each in the version that its group prefers; no subresources.

    A group that vanishes meanwhile, or whose server does not answer 200, is left out.
    """
    core, groups = await asyncio.gather(
        client.request("GET", "/api"), client.request("GET", "/apis")
    )
    versions = [f"/api/{version}" for version in core.get("versions") or ()]
    for group in groups.get("groups") or ():
        preferred = group.get("preferredVersion") or (group.get("versions") or [{}])[0]
        if preferred.get("groupVersion"):
            versions.append(f"/apis/{preferred['groupVersion']}")
    lists = await asyncio.gather(*(_version(client, path) for path in versions))
    return [resource for found in lists for resource in found]


async def find_resource(client: Client, api_version: str, kind: str) -> APIResource | None:
    """The resource of a kind in a version, None if it is not served."""
    group = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    return next((r for r in await _version(client, group) if r.kind == kind), None)


async def _version(client: Client, path: str) -> list[APIResource]:
    try:
        document = await client.request("GET", path)
    except NotFoundError:
        return []
    group, version = split_api_version(str(document.get("groupVersion") or ""))
    return [
        _resource(item, group, version)
        for item in document.get("resources") or ()
        if "/" not in item["name"]
    ]


def _resource(item: Mapping[str, Any], group: str, version: str) -> APIResource:
    return APIResource(
        group,
        version,
        str(item["name"]),
        str(item.get("kind") or ""),
        bool(item.get("namespaced")),
        frozenset(item.get("verbs") or ()),
    )
