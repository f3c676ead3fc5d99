"""The resources that a form offers, by their apiVersion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dashboard.commands import kubectl_name
from listwatch.protocol.errors import bad_request

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

JSON = dict[str, Any]  # Any: JSON values


def resource_path(resource: Resource) -> str:
    """How forms name a resource: `v1/pods`, `apps/v1/deployments`."""
    return f"{resource.api_version}/{resource.resource}"


def chosen_resource(resources: Iterable[Resource], path: str) -> Resource:
    """The one that a form's address names; raises 400."""
    for each in resources:
        if resource_path(each) == path:
            return each
    raise bad_request(
        f'resource: there is no "{path}" to watch: it is said as v1/pods or apps/v1/deployments'
    )


def resource_groups(resources: Sequence[Resource]) -> list[JSON]:
    """Options in groups, the core group first.

    No two have the same title, since a closed menu shows nothing else: what shares its name is
    told apart by its group, as kubectl takes it, and by its version if that does not do.
    """
    named = Counter(each.resource for each in resources)
    grouped = Counter(kubectl_name(each) for each in resources)
    groups: dict[str, list[JSON]] = {}
    for each in resources:
        title = each.resource if named[each.resource] == 1 else kubectl_name(each)
        if grouped[kubectl_name(each)] > 1:
            title = ".".join(filter(None, (each.resource, each.version, each.group)))
        option = {"value": resource_path(each), "title": title, "namespaced": each.namespaced}
        groups.setdefault(each.api_version, []).append(option)
    ordered = sorted(groups.items(), key=lambda item: (item[0] != "v1", item[0]))
    return [{"title": title, "resources": all_} for title, all_ in ordered]
