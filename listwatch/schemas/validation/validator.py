"""The order in which faults are looked for, which is the order of the causes in a Status.

Upstream: apiserver/pkg/registry/rest/{create,update}.go and the ValidateX and ValidateXUpdate
functions of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.validation import configs, networking, others, pods, workloads
from listwatch.schemas.validation.metadata import metadata_faults, metadata_update_faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject


def validate(
    gvk: GroupVersionKind, document: JSONObject, *, old: JSONObject | None = None
) -> list[Cause]:
    """The faults of an object, or of the change from `old` to it; an empty list if there are none.

    The object is decoded and defaulted; a kind that is not built in has its metadata looked at.
    """
    rules = _RULES.get(gvk, _NO_RULES)
    metadata = document.get("metadata") or {}
    own = metadata_faults(gvk, metadata)
    if old is None:
        return own + rules.faults(document)
    change = metadata_update_faults(metadata, old.get("metadata") or {})
    # Upstream looks at metadata twice on update, for all kinds and for this one. A Status tells
    # each of these causes as often, its message once.
    faults = [*own, *change, *change]
    return [*faults, *rules.update_faults(document, old), *own, *rules.faults(document)]


class _Rules(NamedTuple):
    faults: Callable[[JSONObject], list[Cause]]
    update_faults: Callable[[JSONObject, JSONObject], list[Cause]]


def _none(_: JSONObject) -> list[Cause]:
    return []


def _no_change(_: JSONObject, __: JSONObject) -> list[Cause]:
    return []


_NO_RULES = _Rules(_none, _no_change)
_CORE, _APPS = "", "apps"
_RULES: dict[GroupVersionKind, _Rules] = {
    GroupVersionKind(group, "v1", kind): _Rules(faults, update_faults)
    for group, kind, faults, update_faults in (
        (_CORE, "ConfigMap", configs.config_map_faults, configs.config_map_update_faults),
        (_CORE, "Secret", configs.secret_faults, configs.secret_update_faults),
        (_CORE, "Pod", pods.pod_faults, pods.pod_update_faults),
        (_CORE, "PodTemplate", workloads.pod_template_object_faults, _no_change),
        (_CORE, "ReplicationController", workloads.replication_controller_faults, _no_change),
        (_CORE, "Service", networking.service_faults, _no_change),
        (_CORE, "Endpoints", networking.endpoints_faults, _no_change),
        (_CORE, "Event", others.event_faults, _no_change),
        (_CORE, "Namespace", others.namespace_faults, _no_change),
        (_CORE, "Node", others.node_faults, _no_change),
        (_APPS, "Deployment", workloads.deployment_faults, workloads.selector_update_faults),
        (_APPS, "ReplicaSet", workloads.replica_set_faults, workloads.selector_update_faults),
        (_APPS, "DaemonSet", workloads.daemon_set_faults, workloads.selector_update_faults),
        (_APPS, "StatefulSet", workloads.stateful_set_faults, workloads.stateful_set_update_faults),
        (
            "discovery.k8s.io",
            "EndpointSlice",
            networking.endpoint_slice_faults,
            networking.endpoint_slice_update_faults,
        ),
        ("coordination.k8s.io", "Lease", others.lease_faults, _no_change),
    )
}
