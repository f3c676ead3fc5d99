"""The resources that a form offers, by their apiVersion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

JSON = dict[str, Any]  # Any: JSON values


def resource_path(resource: Resource) -> str:
    """How forms name a resource: `v1/pods`, `apps/v1/deployments`."""
    return f"{resource.api_version}/{resource.resource}"


def resource_groups(resources: Iterable[Resource]) -> list[JSON]:
    """Options in groups, the core group first."""
    groups: dict[str, list[JSON]] = {}
    for each in resources:
        option = {
            "value": resource_path(each), "title": each.resource, "namespaced": each.namespaced,
        }  # fmt: skip
        groups.setdefault(each.api_version, []).append(option)
    ordered = sorted(groups.items(), key=lambda item: (item[0] != "v1", item[0]))
    return [{"title": title, "resources": all_} for title, all_ in ordered]
