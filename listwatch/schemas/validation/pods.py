"""Faults of pods and of pod templates; what of a pod may change is in `pod_updates`.

Upstream: pkg/apis/core/validation/validation.go. Used by `validator` and `validation.workloads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults
from listwatch.schemas.validation.containers import container_list_faults
from listwatch.schemas.validation.faults import (
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.metadata import label_faults
from listwatch.schemas.validation.pod_parts import ephemeral_faults
from listwatch.schemas.validation.tolerations import toleration_faults
from listwatch.schemas.validation.volumes import volume_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def pod_faults(document: JSONObject) -> list[Cause]:
    """Faults of a pod by itself."""
    return pod_spec_faults(document.get("spec") or {}, "spec")


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
            faults += container_list_faults(spec[kind], f"{field}.{kind}", volumes, names)
    if spec.get("ephemeralContainers"):
        faults += ephemeral_faults(spec, f"{field}.ephemeralContainers")
    policy, dns = spec.get("restartPolicy"), spec.get("dnsPolicy")
    faults += _one_of(policy, f"{field}.restartPolicy", _RESTART_POLICIES)
    faults += _one_of(dns, f"{field}.dnsPolicy", _DNS_POLICIES)
    if dns == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        why = "must provide `dnsConfig` when `dnsPolicy` is None"
        where = f"{field}.dnsConfig"
        if spec.get("dnsConfig") is not None:
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            where += ".nameservers"
        faults.append(required(where, why))
    if "nodeSelector" in spec:
        faults += label_faults(spec["nodeSelector"], f"{field}.nodeSelector")
    for name, rule in _NAMES.items():
        if spec.get(name):
            faults += [invalid(f"{field}.{name}", spec[name], why) for why in rule(spec[name])]
    if spec.get("tolerations"):
        faults += toleration_faults(spec["tolerations"], f"{field}.tolerations")
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _LONGEST:
        why = f"must be between 1 and {_LONGEST}, inclusive"
        faults.append(invalid(f"{field}.activeDeadlineSeconds", deadline, why))
    for index, reference in enumerate(spec.get("imagePullSecrets") or ()):
        if not reference.get("name"):
            faults.append(required(f"{field}.imagePullSecrets[{index}].name"))
    return faults


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
