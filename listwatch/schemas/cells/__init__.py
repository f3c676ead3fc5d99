"""The cells of an object's row in a Table: what `kubectl get` prints, kind by kind.

One function a kind, in the order of the kind's columns (which are facts, in `schemas.kinds`).
Every function bears an empty object, since a bookmark is a row too. `api.tables` puts the cells
into rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells import (
    batch,
    events,
    extensions,
    network,
    nodes,
    plain,
    pods,
    policies,
    storage,
    workloads,
)
from listwatch.schemas.cells.texts import created, name_of

Cells = list[Any]  # Any: texts and numbers, null

_CELLS: dict[tuple[str, str], Callable[[JSONObject, float], Cells]] = {
    ("", "ComponentStatus"): policies.component_status,
    ("", "ConfigMap"): plain.config_map,
    ("", "Endpoints"): network.endpoints,
    ("", "Event"): events.event,
    ("", "Namespace"): plain.namespace,
    ("", "Node"): nodes.node,
    ("", "PersistentVolume"): storage.persistent_volume,
    ("", "PersistentVolumeClaim"): storage.persistent_volume_claim,
    ("", "Pod"): pods.pod,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "ResourceQuota"): policies.resource_quota,
    ("", "Secret"): plain.secret,
    ("", "Service"): network.service,
    ("", "ServiceAccount"): plain.service_account,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): policies.mutating_policy,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): policies.policy_binding,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): policies.webhooks,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): policies.validating_policy,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): policies.policy_binding,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): policies.webhooks,
    ("apiregistration.k8s.io", "APIService"): extensions.api_service,
    ("apps", "ControllerRevision"): policies.controller_revision,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): batch.autoscaler,
    ("batch", "CronJob"): batch.cron_job,
    ("batch", "Job"): batch.job,
    ("certificates.k8s.io", "CertificateSigningRequest"): policies.signing_request,
    ("coordination.k8s.io", "Lease"): plain.lease,
    ("discovery.k8s.io", "EndpointSlice"): network.endpoint_slice,
    ("events.k8s.io", "Event"): events.event,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): policies.flow_schema,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): policies.priority_level,
    ("networking.k8s.io", "IPAddress"): network.ip_address,
    ("networking.k8s.io", "Ingress"): network.ingress,
    ("networking.k8s.io", "IngressClass"): network.ingress_class,
    ("networking.k8s.io", "NetworkPolicy"): network.network_policy,
    ("networking.k8s.io", "ServiceCIDR"): network.service_cidr,
    ("node.k8s.io", "RuntimeClass"): storage.runtime_class,
    ("policy", "PodDisruptionBudget"): batch.pod_disruption_budget,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): policies.binding,
    ("rbac.authorization.k8s.io", "RoleBinding"): policies.binding,
    ("resource.k8s.io", "DeviceClass"): storage.device_class,
    ("resource.k8s.io", "ResourceClaim"): storage.resource_claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): storage.device_class,
    ("resource.k8s.io", "ResourceSlice"): storage.resource_slice,
    ("scheduling.k8s.io", "PriorityClass"): storage.priority_class,
    ("storage.k8s.io", "CSIDriver"): storage.csi_driver,
    ("storage.k8s.io", "CSINode"): storage.csi_node,
    ("storage.k8s.io", "StorageClass"): storage.storage_class,
    ("storage.k8s.io", "VolumeAttachment"): storage.volume_attachment,
    ("storage.k8s.io", "VolumeAttributesClass"): storage.volume_attributes_class,
}


def row_cells(gvk: GroupVersionKind, document: JSONObject, now: float) -> Cells:
    """The cells of an object; `now` is wall time, from which ages are told.

    A kind that is not known here has its name and the time it was created.
    """
    cells = _CELLS.get((gvk.group, gvk.kind))
    if cells is batch.autoscaler and gvk.version == "v1":
        cells = batch.autoscaler_v1
    if cells is None:
        return [name_of(document), created(document)]
    return cells(document, now)


_ENDED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def row_conditions(gvk: GroupVersionKind, document: JSONObject) -> list[JSONObject]:
    """What is said of the row itself: that a pod has ended, so that clients may hide it."""
    if (gvk.group, gvk.kind) != ("", "Pod"):
        return []
    phase = (document.get("status") or {}).get("phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]
