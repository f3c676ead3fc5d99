"""The built-in kinds that are served, as values made of the data files.

Which of the recorded resources are served, and which fields can be selected, is said here; verbs,
names, columns and subresources are facts of the data. The result goes to `registry`, whose
resource table holds it, and from there to discovery, the API's paths and the caches.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from listwatch.protocol.kinds import (
    Column,
    GroupResource,
    GroupVersionKind,
    Resource,
    Subresource,
)
from listwatch.schemas.facts import resource_facts

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUBRESOURCES = frozenset((
    "approval", "binding", "ephemeralcontainers", "eviction", "finalize", "log", "resize", "scale",
    "status", "token",
))  # fmt: skip
# What needs a kubelet behind the server: known to discovery, and refused by name.
_STREAMS = frozenset(("attach", "exec", "portforward", "proxy"))

# Kinds that are kept as the objects of another resource.
_STORED_AS = {("events.k8s.io", "events"): GroupResource("", "events")}

_INVOLVED_OBJECT = tuple(
    f"involvedObject.{part}"
    for part in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
)
_SELECTABLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "pods"): (
        "spec.nodeName", "spec.host", "spec.restartPolicy", "spec.schedulerName",
        "spec.serviceAccountName", "spec.hostNetwork", "status.phase", "status.podIP",
        "status.podIPs", "status.nominatedNodeName",
    ),
    ("", "nodes"): ("spec.unschedulable",),
    ("", "namespaces"): ("status.phase",),
    ("", "secrets"): ("type",),
    ("", "replicationcontrollers"): ("status.replicas",),
    ("", "services"): ("spec.clusterIP", "spec.type"),
    ("batch", "jobs"): ("status.successful",),
    ("certificates.k8s.io", "certificatesigningrequests"): ("spec.signerName",),
    ("resource.k8s.io", "resourceslices"): ("spec.driver", "spec.nodeName"),
    ("", "events"): (*_INVOLVED_OBJECT, "reason", "reportingComponent", "source", "type"),
    ("events.k8s.io", "events"): (
        *(field.replace("involvedObject", "regarding") for field in _INVOLVED_OBJECT),
        "reason", "reportingController", "type",
    ),
}  # fmt: skip


@cache
def builtin_resources() -> tuple[Resource, ...]:
    """Every resource served from the start, sorted by group, version and name."""
    return tuple(
        sorted(
            map(_resource, resource_facts()),
            key=lambda resource: (resource.group, resource.version, resource.resource),
        )
    )


@cache
def kept_resources() -> tuple[Resource, ...]:
    """Those whose objects can be made and are kept; of a kind with two versions the stored one."""
    newest = {resource.group_resource: resource for resource in builtin_resources()}
    return tuple(resource for resource in newest.values() if {"create", "list"} <= resource.verbs)


def stored_field(resource: Resource, field: str) -> str:
    """The name under which a selectable field stands in the versions of the stored resource.

    Only a kind that is kept as another's objects has fields of another name.
    """
    if resource.storage == resource.group_resource:
        return field
    field = field.replace("regarding.", "involvedObject.")
    return "reportingComponent" if field == "reportingController" else field


def storage_version_hash(gvk: GroupVersionKind) -> str:
    """What discovery says of the form in which a kind is stored: it changes when that does."""
    text = f"{gvk.group}/{gvk.version}/{gvk.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


def _resource(row: Mapping[str, Any]) -> Resource:  # Any: a row of the data file
    group, version, name = row["group"], row["version"], row["resource"]
    return Resource(
        group=group,
        version=version,
        resource=name,
        kind=row["kind"],
        namespaced=row["scope"] == "Namespaced",
        verbs=frozenset(row["verbs"]),
        singular=row["singular"],
        short_names=tuple(row["shortNames"]),
        categories=tuple(row["categories"]),
        subresources=tuple(
            _subresource(group, version, part)
            for part in row["subresources"]
            if part["subresource"] in _SUBRESOURCES | _STREAMS
        ),
        columns=tuple(_column(column) for column in row.get("columns", ())),
        selectable_fields=_SELECTABLE.get((group, name), ()),
        storage=_STORED_AS.get((group, name), GroupResource(group, name)),
    )


def _subresource(group: str, version: str, part: Mapping[str, Any]) -> Subresource:  # Any: as above
    kind = part["kind"]
    if kind["version"]:
        group, version = kind["group"], kind["version"]
    return Subresource(
        name=part["subresource"],
        kind=GroupVersionKind(group, version, kind["kind"]),
        verbs=tuple(part["verbs"]),
    )


def _column(column: Mapping[str, Any]) -> Column:  # Any: as above
    return Column(
        name=column["name"],
        type=column["type"],
        format=column["format"],
        priority=column["priority"],
        description=column.get("description", ""),
    )
