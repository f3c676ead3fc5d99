"""The order in which faults are looked for, which is the order of the causes in a Status.

Upstream: apiserver/pkg/registry/rest/{create,update}.go and the ValidateX and ValidateXUpdate
functions of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.validation import (
    configs,
    networking,
    others,
    pod_parts,
    pods,
    rbac,
    workloads,
)
from listwatch.schemas.validation.metadata import metadata_faults, metadata_update_faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject


def validate(
    gvk: GroupVersionKind,
    document: JSONObject,
    *,
    old: JSONObject | None = None,
    subresource: str = "",
) -> list[Cause]:
    """The faults of an object, or of the change from `old` to it; an empty list if there are none.

    The object is decoded and defaulted; a kind that is not built in has its metadata looked at.
    Parts of an object that change at an address of their own may have rules of their own.
    """
    rules = _PARTS.get((gvk, subresource)) or _RULES.get(gvk, _NO_RULES)
    metadata = document.get("metadata") or {}
    own = metadata_faults(gvk, metadata)
    if old is None:
        return own + rules.faults(document)
    change = metadata_update_faults(metadata, old.get("metadata") or {})
    # Upstream looks at metadata twice on update, for all kinds and for this one. A Status tells
    # each of these causes as often, its message once.
    faults = [*own, *change, *change]
    if rules.spec_only and document.get("spec") == old.get("spec"):
        # Most updates of these kinds are of the status, and nothing else of them has rules.
        return faults + own
    return [*faults, *rules.update_faults(document, old), *own, *rules.faults(document)]


class _Rules(NamedTuple):
    """The rules of one kind; with `spec_only` they look at nothing but its spec."""

    faults: Callable[[JSONObject], list[Cause]]
    update_faults: Callable[[JSONObject, JSONObject], list[Cause]]
    spec_only: bool = False


def _none(_: JSONObject) -> list[Cause]:
    return []


def _no_change(_: JSONObject, __: JSONObject) -> list[Cause]:
    return []


_NO_RULES = _Rules(_none, _no_change)
_RULES: dict[GroupVersionKind, _Rules] = {
    GroupVersionKind(group, "v1", kind): rules
    for group, kind, rules in (
        ("", "ConfigMap", _Rules(configs.config_map_faults, configs.config_map_update_faults)),
        ("", "Secret", _Rules(configs.secret_faults, configs.secret_update_faults)),
        ("", "Pod", _Rules(pods.pod_faults, pods.pod_update_faults, True)),
        ("", "PodTemplate", _Rules(workloads.pod_template_object_faults, _no_change)),
        (
            "",
            "ReplicationController",
            _Rules(workloads.replication_controller_faults, _no_change, True),
        ),
        ("", "Service", _Rules(networking.service_faults, _no_change, True)),
        ("", "Endpoints", _Rules(networking.endpoints_faults, _no_change)),
        ("", "Event", _Rules(others.event_faults, _no_change)),
        ("", "Namespace", _Rules(others.namespace_faults, _no_change, True)),
        ("", "Node", _Rules(others.node_faults, _no_change, True)),
        (
            "apps",
            "Deployment",
            _Rules(workloads.deployment_faults, workloads.selector_update_faults, True),
        ),
        (
            "apps",
            "ReplicaSet",
            _Rules(workloads.replica_set_faults, workloads.selector_update_faults, True),
        ),
        (
            "apps",
            "DaemonSet",
            _Rules(workloads.daemon_set_faults, workloads.selector_update_faults, True),
        ),
        (
            "apps",
            "StatefulSet",
            _Rules(workloads.stateful_set_faults, workloads.stateful_set_update_faults, True),
        ),
        (
            "discovery.k8s.io",
            "EndpointSlice",
            _Rules(networking.endpoint_slice_faults, networking.endpoint_slice_update_faults),
        ),
        ("coordination.k8s.io", "Lease", _Rules(others.lease_faults, _no_change, True)),
        (rbac.RBAC, "Role", _Rules(rbac.role_faults, _no_change)),
        (rbac.RBAC, "ClusterRole", _Rules(rbac.cluster_role_faults, _no_change)),
        (rbac.RBAC, "RoleBinding", _Rules(rbac.role_binding_faults, rbac.binding_update_faults)),
        (
            rbac.RBAC,
            "ClusterRoleBinding",
            _Rules(rbac.cluster_role_binding_faults, rbac.binding_update_faults),
        ),
    )
}
_POD = GroupVersionKind("", "v1", "Pod")
_PARTS: dict[tuple[GroupVersionKind, str], _Rules] = {
    (_POD, "ephemeralcontainers"): _Rules(pods.pod_faults, pod_parts.ephemeral_update_faults, True),
    (_POD, "resize"): _Rules(pods.pod_faults, pod_parts.resize_faults, True),
}
