"""Faults of pods and of pod templates; what of a pod may change is in `pod_updates`.

Upstream: pkg/apis/core/validation/validation.go. Used by `validator` and `validation.workloads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults
from listwatch.schemas.validation.containers import container_list_faults
from listwatch.schemas.validation.faults import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.metadata import label_faults
from listwatch.schemas.validation.pod_parts import ephemeral_faults
from listwatch.schemas.validation.pod_placement import affinity_faults, gate_faults, spread_faults
from listwatch.schemas.validation.pod_settings import (
    claim_faults,
    dns_faults,
    host_alias_faults,
    host_port_faults,
    host_user_faults,
    readiness_gate_faults,
    security_context_faults,
    system_faults,
)
from listwatch.schemas.validation.references import file_volume_faults
from listwatch.schemas.validation.tolerations import toleration_faults
from listwatch.schemas.validation.volumes import token_faults, volume_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def pod_faults(document: JSONObject) -> list[Cause]:
    """Faults of a pod by itself."""
    spec = document.get("spec") or {}
    faults = pod_spec_faults(spec, "spec")
    if not spec.get("serviceAccountName"):
        # A template may leave it open whose token it is.
        faults += token_faults(spec.get("volumes") or [], "spec.volumes")
    return faults


def new_pod_faults(document: JSONObject) -> list[Cause]:
    """Faults that only a new pod can have."""
    if not (document.get("spec") or {}).get("ephemeralContainers"):
        return []
    return [forbidden("spec.ephemeralContainers", "cannot be set on create")]


def pod_template_faults(template: JSONObject, field: str) -> list[Cause]:
    """Faults of a pod template: its labels and the spec of its pods."""
    metadata = template.get("metadata") or {}
    faults = label_faults(metadata.get("labels") or {}, f"{field}.labels")
    return faults + pod_spec_faults(template.get("spec") or {}, f"{field}.spec")


def pod_spec_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of what a pod runs and how."""
    faults, volumes = volume_faults(spec.get("volumes") or [], f"{field}.volumes")
    if not spec.get("containers"):
        faults.append(required(f"{field}.containers"))
    names: set[str] = set()
    for kind in _CONTAINERS:
        if spec.get(kind):
            faults += container_list_faults(spec, kind, field, volumes, names)
    if spec.get("ephemeralContainers"):
        faults += ephemeral_faults(spec, f"{field}.ephemeralContainers")
    policy, dns = spec.get("restartPolicy"), spec.get("dnsPolicy")
    faults += _one_of(policy, f"{field}.restartPolicy", _RESTART_POLICIES)
    faults += _one_of(dns, f"{field}.dnsPolicy", _DNS_POLICIES)
    if "nodeSelector" in spec:
        faults += label_faults(spec["nodeSelector"], f"{field}.nodeSelector")
    faults += security_context_faults(spec, field)
    if spec.get("affinity"):
        faults += affinity_faults(spec["affinity"], f"{field}.affinity")
    faults += dns_faults(spec, field)
    for name, rule in _LISTS_BEFORE_NAMES.items():
        if spec.get(name):
            faults += rule(spec[name], f"{field}.{name}")
    faults += host_user_faults(spec, field)
    faults += claim_faults(spec.get("resourceClaims") or [], f"{field}.resourceClaims")
    faults += host_port_faults(spec, field)
    return faults + _single_value_faults(spec, field)


def _single_value_faults(spec: JSONObject, field: str) -> list[Cause]:
    faults = _name_faults(spec, field, ("serviceAccountName", "nodeName"))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _LONGEST:
        why = f"must be between 1 and {_LONGEST}, inclusive"
        faults.append(invalid(f"{field}.activeDeadlineSeconds", deadline, why))
    faults += _name_faults(spec, field, ("hostname", "subdomain"))
    if spec.get("tolerations"):
        faults += toleration_faults(spec["tolerations"], f"{field}.tolerations")
    if spec.get("hostAliases"):
        faults += host_alias_faults(spec["hostAliases"], f"{field}.hostAliases")
    faults += _name_faults(spec, field, ("priorityClassName", "runtimeClassName"))
    if spec.get("preemptionPolicy") is not None:
        preemption = spec["preemptionPolicy"]
        faults += _one_of(preemption, f"{field}.preemptionPolicy", _PREEMPTION_POLICIES)
    if spec.get("os") is not None:
        faults += system_faults(spec["os"], f"{field}.os")
    return faults + file_volume_faults(spec, field)


def _name_faults(spec: JSONObject, field: str, names: tuple[str, ...]) -> list[Cause]:
    return [
        invalid(f"{field}.{name}", spec[name], why)
        for name in names
        if spec.get(name)
        for why in _NAMES[name](spec[name])
    ]


_LISTS_BEFORE_NAMES = {
    "readinessGates": readiness_gate_faults,
    "schedulingGates": gate_faults,
    "topologySpreadConstraints": spread_faults,
}
_LONGEST = (1 << 31) - 1
_NAMES = {
    "serviceAccountName": subdomain_faults,
    "nodeName": subdomain_faults,
    "hostname": label_name_faults,
    "subdomain": label_name_faults,
    "priorityClassName": subdomain_faults,
    "runtimeClassName": subdomain_faults,
}


def _one_of(value: str | None, field: str, supported: tuple[str, ...]) -> list[Cause]:
    if not value:
        return [required(field)]
    return [] if value in supported else [not_supported(field, value, supported)]
