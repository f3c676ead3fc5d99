"""The kinds that are served, and the addresses of their pages.

A kind is named as kubectl names it: `pods`, `deployments.apps`. Where it is served in several
versions, `?version=` chooses one; without it the version whose form is stored is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.http import urlencode

from listwatch.protocol.errors import resource_not_found
from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.registry.resources import ResourceTable

JSON = dict[str, Any]  # Any: JSON values


def find(resources: ResourceTable, text: str, version: str = "") -> Resource:
    """The resource that a page is about; raises 404."""
    wanted = GroupResource.parse(text)
    found = [each for each in resources.served() if each.group_resource == wanted]
    if version:
        found = [each for each in found if each.version == version]
    if not found:
        raise resource_not_found()
    return next((each for each in found if resources.stored(wanted) == each), found[0])


def by_kind(resources: ResourceTable, api_version: str, kind: str) -> Resource | None:
    """The resource that a reference means: in its own version, or in another of its group."""
    group, _, version = api_version.rpartition("/")
    found = [each for each in resources.served() if (each.group, each.kind) == (group, kind)]
    return next((each for each in found if each.version == version), found[0] if found else None)


def browsable(resources: Iterable[Resource]) -> list[Resource]:
    """One version of each kind that can be listed, the core group first."""
    chosen: dict[GroupResource, Resource] = {}
    for each in resources:
        if "list" in each.verbs:
            known = chosen.get(each.group_resource)
            if known is None or each.storage == each.group_resource:
                chosen.setdefault(each.group_resource, each)
    return sorted(chosen.values(), key=lambda each: (bool(each.group), each.group, each.resource))


def list_url(resource: Resource, **query: str) -> str:
    """The page that lists a kind, narrowed by what is not ''."""
    path = reverse("dashboard:objects-of", args=[str(resource.group_resource)])
    return _with(path, {"version": _version(resource), **query})


def object_url(resource: Resource, namespace: str, name: str, **query: str) -> str:
    """The page of one object, in one of its views."""
    place = [namespace, name] if resource.namespaced else [name]
    route = "object" if resource.namespaced else "cluster-object"
    path = reverse(f"dashboard:{route}", args=[str(resource.group_resource), *place])
    return _with(path, {"version": _version(resource), **query})


def _version(resource: Resource) -> str:
    """What the address must say: nothing for the one version of a built-in kind."""
    custom = resource.custom
    if custom is not None and resource.version != custom.stored_version:
        return resource.version
    return ""


def _with(path: str, query: JSON) -> str:
    given = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def directory(asker: Asker) -> list[JSON]:
    """Every kind by API group, with how many objects there are where the user may list them all."""
    runtime = asker.runtime
    groups: dict[str, list[JSON]] = {}
    for resource in browsable(runtime.resources.served()):
        places = asker.places("list", resource)
        if not places:
            continue
        count = None
        if places == [""]:
            count = runtime.caches.cacher(resource.storage).statistics().objects
        groups.setdefault(resource.group, []).append({
            "id": str(resource.group_resource),
            "kind": resource.kind,
            "resource": str(resource.group_resource),
            "url": list_url(resource),
            "objects": count,
            "custom": resource.custom is not None,
            "namespaced": resource.namespaced,
        })  # fmt: skip
    return [{"group": group or "core", "kinds": kinds} for group, kinds in groups.items()]
