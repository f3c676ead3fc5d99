"""Which rules the objects of each built-in kind have. Read by `validator` only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.validation import (
    admissions,
    batch,
    configs,
    device_slices,
    devices,
    flow_levels,
    flows,
    ingresses,
    job_updates,
    limits,
    networking,
    others,
    pod_parts,
    pod_updates,
    pods,
    quotas,
    rbac,
    requests,
    storage,
    workloads,
)
from listwatch.schemas.validation.faults import immutable

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_Faults = Callable[["JSONObject"], "list[Cause]"]
_Update = Callable[["JSONObject", "JSONObject"], "list[Cause]"]


class Rules(NamedTuple):
    """The rules of one kind; with `spec_only` they look at nothing but its spec.

    `new_faults` are those that only a new object can have.
    """

    faults: _Faults
    update_faults: _Update
    spec_only: bool = False
    new_faults: _Faults | None = None


def _none(_: JSONObject) -> list[Cause]:
    return []


def _no_change(_: JSONObject, __: JSONObject) -> list[Cause]:
    return []


def _same(name: str) -> _Update:
    return lambda new, old: immutable(new, old, (name,))


NO_RULES = Rules(_none, _no_change)
RULES: dict[GroupVersionKind, Rules] = {
    GroupVersionKind(group, "v1", kind): rules
    for group, kind, rules in (
        ("", "ConfigMap", Rules(configs.config_map_faults, configs.config_map_update_faults)),
        ("", "Secret", Rules(configs.secret_faults, configs.secret_update_faults)),
        (
            "",
            "Pod",
            Rules(pods.pod_faults, pod_updates.pod_update_faults, True, pods.new_pod_faults),
        ),
        ("", "PodTemplate", Rules(workloads.pod_template_object_faults, _no_change)),
        (
            "",
            "ReplicationController",
            Rules(workloads.replication_controller_faults, _no_change, True),
        ),
        ("", "Service", Rules(networking.service_faults, _no_change, True)),
        ("", "Endpoints", Rules(networking.endpoints_faults, _no_change)),
        ("", "Event", Rules(others.event_faults, _no_change)),
        ("", "Namespace", Rules(others.namespace_faults, _no_change, True)),
        ("", "Node", Rules(others.node_faults, others.node_update_faults, True)),
        (
            "apps",
            "Deployment",
            Rules(workloads.deployment_faults, workloads.selector_update_faults, True),
        ),
        (
            "apps",
            "ReplicaSet",
            Rules(workloads.replica_set_faults, workloads.selector_update_faults, True),
        ),
        (
            "apps",
            "DaemonSet",
            Rules(workloads.daemon_set_faults, workloads.selector_update_faults, True),
        ),
        (
            "apps",
            "StatefulSet",
            Rules(workloads.stateful_set_faults, workloads.stateful_set_update_faults, True),
        ),
        (
            "discovery.k8s.io",
            "EndpointSlice",
            Rules(networking.endpoint_slice_faults, networking.endpoint_slice_update_faults),
        ),
        ("coordination.k8s.io", "Lease", Rules(others.lease_faults, _no_change, True)),
        (rbac.RBAC, "Role", Rules(rbac.role_faults, _no_change)),
        (rbac.RBAC, "ClusterRole", Rules(rbac.cluster_role_faults, _no_change)),
        (rbac.RBAC, "RoleBinding", Rules(rbac.role_binding_faults, rbac.binding_update_faults)),
        (
            rbac.RBAC,
            "ClusterRoleBinding",
            Rules(rbac.cluster_role_binding_faults, rbac.binding_update_faults),
        ),
    )
}
_NETWORKING, _STORAGE, _ADMISSION = (
    "networking.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io",
)  # fmt: skip
_FLOW, _RESOURCE = "flowcontrol.apiserver.k8s.io", "resource.k8s.io"
_MORE: tuple[tuple[str, str, _Faults, _Update], ...] = (
    ("", "LimitRange", limits.limit_range_faults, _no_change),
    ("", "PersistentVolume", storage.volume_faults, storage.volume_update_faults),
    ("", "PersistentVolumeClaim", storage.claim_faults, storage.claim_update_faults),
    ("", "ResourceQuota", quotas.quota_faults, quotas.quota_update_faults),
    ("apps", "ControllerRevision", requests.revision_faults, _same("data")),
    ("batch", "CronJob", batch.cron_job_faults, _no_change),
    (
        "certificates.k8s.io", "CertificateSigningRequest",
        requests.signing_request_faults, _no_change,
    ),
    (
        "node.k8s.io", "RuntimeClass",
        limits.runtime_class_faults, limits.runtime_class_update_faults,
    ),
    ("policy", "PodDisruptionBudget", limits.budget_faults, _no_change),
    (
        "scheduling.k8s.io", "PriorityClass",
        limits.priority_class_faults, limits.priority_class_update_faults,
    ),
    (_NETWORKING, "IPAddress", ingresses.ip_address_faults, ingresses.ip_address_update_faults),
    (
        _NETWORKING, "IngressClass",
        ingresses.ingress_class_faults, ingresses.ingress_class_update_faults,
    ),
    (_NETWORKING, "NetworkPolicy", ingresses.network_policy_faults, _no_change),
    (
        _NETWORKING, "ServiceCIDR",
        ingresses.service_cidr_faults, ingresses.service_cidr_update_faults,
    ),
    (_STORAGE, "CSIDriver", storage.driver_faults, storage.driver_update_faults),
    (_STORAGE, "CSINode", storage.storage_node_faults, _no_change),
    (_STORAGE, "CSIStorageCapacity", storage.capacity_faults, storage.capacity_update_faults),
    (_STORAGE, "StorageClass", storage.storage_class_faults, storage.storage_class_update_faults),
    (_STORAGE, "VolumeAttachment", storage.attachment_faults, storage.attachment_update_faults),
    (
        _STORAGE, "VolumeAttributesClass",
        storage.attributes_class_faults, storage.attributes_class_update_faults,
    ),
    (_ADMISSION, "MutatingAdmissionPolicy", admissions.mutating_policy_faults, _no_change),
    (
        _ADMISSION, "MutatingAdmissionPolicyBinding",
        admissions.mutating_policy_binding_faults, _no_change,
    ),
    (
        _ADMISSION, "MutatingWebhookConfiguration",
        admissions.webhook_configuration_faults, _no_change,
    ),
    (_ADMISSION, "ValidatingAdmissionPolicy", admissions.policy_faults, _no_change),
    (_ADMISSION, "ValidatingAdmissionPolicyBinding", admissions.policy_binding_faults, _no_change),
    (
        _ADMISSION, "ValidatingWebhookConfiguration",
        admissions.webhook_configuration_faults, _no_change,
    ),
    (_FLOW, "FlowSchema", flows.flow_schema_faults, _no_change),
    (_FLOW, "PriorityLevelConfiguration", flow_levels.priority_level_faults, _no_change),
    (_RESOURCE, "DeviceClass", devices.class_faults, _no_change),
    (_RESOURCE, "ResourceSlice", device_slices.slice_faults, device_slices.slice_update_faults),
)  # fmt: skip
RULES |= {
    GroupVersionKind(group, "v1", kind): Rules(faults, update_faults)
    for group, kind, faults, update_faults in _MORE
}
RULES[GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")] = Rules(
    limits.autoscaler_faults, limits.autoscaler_update_faults, True, limits.new_autoscaler_faults
)
RULES[GroupVersionKind(_NETWORKING, "v1", "Ingress")] = Rules(
    ingresses.ingress_faults, _no_change, True, ingresses.ingress_class_note_faults
)
for _kind, _new_faults in (
    ("ResourceClaim", devices.new_claim_faults),
    ("ResourceClaimTemplate", devices.new_template_faults),
):
    RULES[GroupVersionKind(_RESOURCE, "v1", _kind)] = Rules(
        _none, devices.claim_update_faults, new_faults=_new_faults
    )
_POD, _JOB = GroupVersionKind("", "v1", "Pod"), GroupVersionKind("batch", "v1", "Job")
# A change of a job is told of the job's own faults first.
RULES[_JOB] = Rules(_none, job_updates.job_update_faults, new_faults=batch.job_faults)
PARTS: dict[tuple[GroupVersionKind, str], Rules] = {
    (_POD, "ephemeralcontainers"): Rules(pods.pod_faults, pod_parts.ephemeral_update_faults, True),
    (_POD, "resize"): Rules(pods.pod_faults, pod_parts.resize_faults, True),
    (_JOB, "status"): Rules(_none, job_updates.job_status_update_faults),
}
