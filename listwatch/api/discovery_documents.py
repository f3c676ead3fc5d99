"""Discovery documents: groups, versions and resources as clients read them.

Made of the table of resources when they are first asked for, kept as bytes, and made anew when
the table changes. The views of `discovery` hand them out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from listwatch.api.aggregation.discovery import merged
from listwatch.protocol.kinds import api_version
from listwatch.registry.conversions import stored_kind
from listwatch.schemas.kinds import storage_version_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.kinds import Resource, Subresource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.api_services.remotes import Remote, Remotes
    from listwatch.registry.resources import ResourceTable

AGGREGATED = ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")
_VERBS = frozenset(
    {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
)
# The order of upstream, which decides where a client looks first; others follow by name.
_ORDER = (
    "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io",
    "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "networking.k8s.io",
    "policy", "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io",
    "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io",
    "discovery.k8s.io", "resource.k8s.io", "flowcontrol.apiserver.k8s.io",
)  # fmt: skip
_VERSION = re.compile("v([0-9]+)(?:(alpha|beta)([0-9]+))?")


class Discovery:
    """The discovery documents of a table of resources, as they are now."""

    def __init__(self, table: ResourceTable, remotes: Remotes | None = None) -> None:
        self._table = table
        self._remotes = remotes
        self._made: dict[str, bytes] = {}
        table.subscribe(lambda resource, served: self._made.clear())
        if remotes is not None:
            remotes.listen(self._made.clear)

    def groups(self) -> list[str]:
        """The names of all groups but the core one, in order."""
        names = {name for name in self._table.groups() if name}
        names.update(remote.group for remote in self._others())
        rank = {name: number for number, name in enumerate(_ORDER)}
        return sorted(names, key=lambda name: (rank.get(name, len(rank)), name))

    def group_list(self) -> bytes:
        """`/apis`."""
        return self._kept("groups", self._group_list)

    def group(self, name: str) -> bytes | None:
        """`/apis/{group}`; None if there is none."""
        if not name or name not in self.groups():
            return None
        return self._kept(f"group {name}", lambda: self._group(name))

    def resources(self, group: str, version: str) -> bytes | None:
        """`/api/v1`, or `/apis/{group}/{version}`; None if there is none."""
        if version not in self._table.groups().get(group, ()):
            return None
        name = f"resources {group}/{version}"
        return self._kept(name, lambda: self._resources(group, version))

    def aggregated(self, *, core: bool) -> bytes:
        """All of `/api`, or of `/apis`, in one document."""
        groups = [""] if core else self.groups()
        return self._kept(f"aggregated {core}", lambda: self._aggregated(groups))

    def _kept(self, name: str, make: Callable[[], JSONObject]) -> bytes:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = orjson.dumps(make())
        return made

    def _versions(self, group: str) -> list[str]:
        versions = set(self._table.groups().get(group, ()))
        others = {one.version: one for one in self._others() if one.group == group}
        versions.update(others)
        if len(others) < len(versions):
            return sorted(versions, key=version_rank)
        # Of a group that is served elsewhere, its APIServices say what comes first.
        return sorted(versions, key=lambda v: (-others[v].version_priority, version_rank(v)))

    def _others(self) -> tuple[Remote, ...]:
        return () if self._remotes is None else self._remotes.all()

    def _group_list(self) -> JSONObject:
        groups = [self._described(name) for name in self.groups()]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}

    def _group(self, name: str) -> JSONObject:
        return {"kind": "APIGroup", "apiVersion": "v1", **self._described(name)}

    def _described(self, name: str) -> JSONObject:
        versions = [
            {"groupVersion": api_version(name, version), "version": version}
            for version in self._versions(name)
        ]
        return {"name": name, "versions": versions, "preferredVersion": versions[0]}

    def _resources(self, group: str, version: str) -> JSONObject:
        entries = []
        for resource in self._table.of(group, version):
            entries.append(_entry(resource))
            entries += [_subentry(resource, sub) for sub in sorted_subresources(resource)]
        # The core group's list has no apiVersion upstream.
        head = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group else {})
        return {**head, "groupVersion": api_version(group, version), "resources": entries}

    def _aggregated(self, groups: list[str]) -> JSONObject:
        items = [
            {
                "metadata": {"name": group, "creationTimestamp": None}
                if group
                else {"creationTimestamp": None},
                "versions": [
                    self._aggregated_version(group, version) for version in self._versions(group)
                ],
            }
            for group in groups
        ]
        return {
            "kind": AGGREGATED[2],
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }

    def _aggregated_version(self, group: str, version: str) -> JSONObject:
        remote = None if self._remotes is None else self._remotes.find(group, version)
        if remote is None or self._remotes is None:
            resources = [_aggregate(r) for r in self._table.of(group, version)]
            return {"version": version, "resources": resources, "freshness": "Current"}
        resources = merged(self._remotes.resources(group, version))
        freshness = "Current" if remote.available else "Stale"
        return {"version": version, "resources": resources, "freshness": freshness}


def version_rank(version: str) -> tuple[int, int, int, str]:
    """What sorts the versions of a group: the most settled first, of these the highest."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return (3, 0, 0, version)
    major, stage, minor = found.groups()
    settled = {None: 0, "beta": 1, "alpha": 2}[stage]
    return (settled, -int(major), -int(minor or 0), version)


def sorted_subresources(resource: Resource) -> list[Subresource]:
    """The subresources of a resource by name."""
    return sorted(resource.subresources, key=lambda sub: sub.name)


def verbs(of: Resource | Subresource) -> list[str]:
    """The verbs that discovery speaks of, sorted."""
    return sorted(_VERBS.intersection(of.verbs))


def _entry(resource: Resource) -> JSONObject:
    entry: JSONObject = {
        "name": resource.resource,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": verbs(resource),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if "list" in resource.verbs:  # what is not kept has no form to change
        entry["storageVersionHash"] = storage_version_hash(stored_kind(resource))
    return entry


def _subentry(resource: Resource, sub: Subresource) -> JSONObject:
    entry: JSONObject = {
        "name": f"{resource.resource}/{sub.name}",
        "singularName": "",
        "namespaced": resource.namespaced,
    }
    if (sub.kind.group, sub.kind.version) != (resource.group, resource.version):
        entry |= {"group": sub.kind.group, "version": sub.kind.version}
    return {**entry, "kind": sub.kind.kind, "verbs": verbs(sub)}


def _aggregate(resource: Resource) -> JSONObject:
    entry: JSONObject = {
        "resource": resource.resource,
        "responseKind": {"group": "", "version": "", "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": verbs(resource),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.subresources:
        entry["subresources"] = [_subaggregate(resource, s) for s in sorted_subresources(resource)]
    return entry


def _subaggregate(resource: Resource, sub: Subresource) -> JSONObject:
    own = (sub.kind.group, sub.kind.version) == (resource.group, resource.version)
    group, version = ("", "") if own else (sub.kind.group, sub.kind.version)
    return {
        "subresource": sub.name,
        "responseKind": {"group": group, "version": version, "kind": sub.kind.kind},
        "verbs": verbs(sub),
    }
