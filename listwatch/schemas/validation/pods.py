"""Faults of pods and of pod templates, and what of a pod may change.

Upstream: pkg/apis/core/validation/validation.go. Used by `validator` and `validation.workloads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)\n"
)


def pod_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Faults of a pod as the change of another: hardly anything of its spec may change."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if spec == before:
        return []
    for kind in ("containers", "initContainers"):
        if len(spec.get(kind) or ()) != len(before.get(kind) or ()):
            why = "pod updates may not add or remove containers"
            return [forbidden(f"spec.{kind}", why)]
    faults = _deadline_faults(spec.get("activeDeadlineSeconds"), before)
    if any(toleration not in (spec.get("tolerations") or ()) for toleration in _tolerated(before)):
        why = "existing toleration can not be modified except its tolerationSeconds"
        faults.append(forbidden("spec.tolerations", why))
    faults += _gate_faults(spec, before)
    if _fixed(spec) != _fixed(before):
        faults.append(forbidden("spec", _FROZEN))
    return faults


def _deadline_faults(deadline: int | None, before: JSONObject) -> list[Cause]:
    old = before.get("activeDeadlineSeconds")
    if old is None or deadline == old:
        return []
    field = "spec.activeDeadlineSeconds"
    if deadline is None:
        why = "must not update from a positive integer to nil value"
        return [invalid(field, deadline, why)]
    if deadline > old:
        return [invalid(field, deadline, "must be less than or equal to previous value")]
    return []


def _gate_faults(spec: JSONObject, before: JSONObject) -> list[Cause]:
    gates = [gate.get("name", "") for gate in before.get("schedulingGates") or ()]
    return [
        forbidden(
            "spec.schedulingGates",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'",
        )
        for gate in spec.get("schedulingGates") or ()
        if gate.get("name", "") not in gates
    ]


def _tolerated(spec: JSONObject) -> list[JSONObject]:
    # How long something is tolerated may change; that it is, may not.
    return [t for t in spec.get("tolerations") or () if "tolerationSeconds" not in t]


def _fixed(spec: JSONObject) -> dict[str, Any]:  # Any: JSON
    fixed = {
        key: value
        for key, value in spec.items()
        if key not in ("activeDeadlineSeconds", "tolerations", "schedulingGates")
    }
    if fixed.get("terminationGracePeriodSeconds", 0) in (1, -1):
        fixed["terminationGracePeriodSeconds"] = 1
    for kind in ("containers", "initContainers"):
        if fixed.get(kind):
            fixed[kind] = [
                {name: value for name, value in container.items() if name != "image"}
                for container in fixed[kind]
            ]
    return fixed
