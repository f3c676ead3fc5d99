"""Faults of what makes pods: deployments, replica sets, stateful and daemon sets, controllers.

Upstream: pkg/apis/apps/validation/validation.go.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from listwatch.protocol.names import label_name_faults
from listwatch.schemas.validation.claims import claim_spec_faults
from listwatch.schemas.validation.faults import (
    IMMUTABLE,
    NEGATIVE,
    forbidden,
    invalid,
    negatives,
    not_supported,
    required,
)
from listwatch.schemas.validation.pods import pod_template_faults
from listwatch.schemas.validation.selectors import selector_faults, selects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_MISMATCH = "`selector` does not match template `labels`"
# Which kind a fault of a template names, by the one that a fault of its selector names.
_KINDS = {"deployment": "ReplicaSet", "statefulset": "StatefulSet", "daemonset": "DaemonSet"}


def deployment_faults(document: JSONObject) -> list[Cause]:
    """Faults of a Deployment by itself."""
    spec = document.get("spec") or {}
    faults = _negative(spec, ("replicas",))
    faults += _selector_and_template(spec, "deployment")
    faults += _deployment_strategy(spec.get("strategy") or {})
    faults += _negative(spec, ("minReadySeconds", "revisionHistoryLimit"))
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds", 0)
    if deadline is not None:
        faults += _negative(spec, ("progressDeadlineSeconds",))
        if deadline <= ready:
            why = "must be greater than minReadySeconds"
            faults.append(invalid("spec.progressDeadlineSeconds", deadline, why))
    return faults


def replica_set_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ReplicaSet by itself."""
    spec = document.get("spec") or {}
    faults = _negative(spec, ("replicas", "minReadySeconds"))
    return faults + _selector_and_template(spec, "deployment")


def stateful_set_faults(document: JSONObject) -> list[Cause]:
    """Faults of a StatefulSet by itself."""
    spec = document.get("spec") or {}
    faults = []
    policy = spec.get("podManagementPolicy", "")
    if policy not in ("OrderedReady", "Parallel"):
        why = "must be 'OrderedReady' or 'Parallel'"
        faults.append(invalid("spec.podManagementPolicy", policy, why))
    strategy = (spec.get("updateStrategy") or {}).get("type", "")
    if strategy not in ("RollingUpdate", "OnDelete"):
        why = "must be 'RollingUpdate' or 'OnDelete'"
        shown = _shown_strategy(spec.get("updateStrategy") or {})
        faults.append(invalid("spec.updateStrategy", shown, why))
    else:
        faults += _partition_faults((spec.get("updateStrategy") or {}).get("rollingUpdate") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for name in ("whenDeleted", "whenScaled"):
        where = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
        if retention.get(name) and retention[name] not in _RETENTIONS:
            faults.append(not_supported(where, retention[name], _RETENTIONS))
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        where = f"spec.volumeClaimTemplates[{index}].spec"
        faults += claim_spec_faults(claim.get("spec") or {}, where)
    faults += _negative(spec, ("replicas", "minReadySeconds"))
    faults += negatives(spec.get("ordinals") or {}, ("start",), "spec.ordinals")
    service = spec.get("serviceName")
    if service:
        faults += [invalid("spec.serviceName", service, why) for why in label_name_faults(service)]
    return faults + _selector_and_template(_as_its_pods_are(spec), "statefulset")


def _partition_faults(rolling: JSONObject) -> list[Cause]:
    field = "spec.updateStrategy.rollingUpdate"
    faults = negatives(rolling, ("partition",), field)
    unavailable = rolling.get("maxUnavailable")
    if unavailable is not None:
        faults += _share_faults(unavailable, f"{field}.maxUnavailable")
        if _number(unavailable) == 0:
            faults.append(invalid(f"{field}.maxUnavailable", unavailable, "cannot be 0"))
    return faults


def daemon_set_faults(document: JSONObject) -> list[Cause]:
    """Faults of a DaemonSet by itself."""
    spec = document.get("spec") or {}
    faults = _selector_and_template(spec, "daemonset")
    faults += _negative(spec, ("minReadySeconds",))
    strategy = (spec.get("updateStrategy") or {}).get("type", "")
    if strategy not in ("RollingUpdate", "OnDelete"):
        supported = ("RollingUpdate", "OnDelete")
        shown = _shown_strategy(spec.get("updateStrategy") or {})
        faults.append(not_supported("spec.updateStrategy", shown, supported))
    elif strategy == "RollingUpdate":
        faults += _daemon_rolling_faults(spec["updateStrategy"].get("rollingUpdate") or {})
    return faults + _negative(spec, ("revisionHistoryLimit",))


def _daemon_rolling_faults(rolling: JSONObject) -> list[Cause]:
    field = "spec.updateStrategy.rollingUpdate"
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    faults = _share_faults(unavailable, f"{field}.maxUnavailable")
    faults += _share_faults(surge, f"{field}.maxSurge")
    if faults:
        return faults
    if _number(unavailable) and _number(surge):
        why = "may not be set when maxUnavailable is non-zero"
        return [invalid(f"{field}.maxSurge", surge, why)]
    if not _number(unavailable) and not _number(surge):
        why = "cannot be 0 when maxSurge is 0"
        return [required(f"{field}.maxUnavailable", why)]
    return []


def replication_controller_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ReplicationController by itself."""
    spec = document.get("spec") or {}
    faults = _negative(spec, ("minReadySeconds",))
    selector = spec.get("selector") or {}
    if not selector:
        faults.append(required("spec.selector"))
    faults += _negative(spec, ("replicas",))
    template = spec.get("template")
    if template is None:
        return [*faults, required("spec.template")]
    labels = (template.get("metadata") or {}).get("labels") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        faults.append(invalid("spec.template.metadata.labels", labels or None, _MISMATCH))
    return faults + _template_faults(template, "ReplicationController")


def pod_template_object_faults(document: JSONObject) -> list[Cause]:
    """Faults of a PodTemplate by itself."""
    return pod_template_faults(document.get("template") or {}, "template")


def selector_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """A workload keeps its selector, or its pods would be nobody's."""
    selector = (new.get("spec") or {}).get("selector")
    if selector == (old.get("spec") or {}).get("selector"):
        return []
    return [invalid("spec.selector", selector, IMMUTABLE)]


_CHANGEABLE = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip


def stateful_set_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Of a StatefulSet only a few fields may change."""
    if _without(new, _CHANGEABLE) == _without(old, _CHANGEABLE):
        return []
    *others, last = (f"'{name}'" for name in _CHANGEABLE)
    why = (
        "updates to statefulset spec for fields other than "
        f"{', '.join(others)} and {last} are forbidden"
    )
    return [forbidden("spec", why)]


def _without(document: JSONObject, names: Iterable[str]) -> dict[str, Any]:  # Any: JSON
    spec = document.get("spec") or {}
    return {key: value for key, value in spec.items() if key not in names}


def _negative(spec: JSONObject, names: Iterable[str]) -> list[Cause]:
    return [
        invalid(f"spec.{name}", spec[name], NEGATIVE) for name in names if (spec.get(name) or 0) < 0
    ]


def _as_its_pods_are(spec: JSONObject) -> JSONObject:
    """A StatefulSet with the template of its pods: claims are volumes, names are given."""
    template = spec.get("template") or {}
    inner = template.get("spec") or {}
    claims = [
        (claim.get("metadata") or {}).get("name")
        for claim in spec.get("volumeClaimTemplates") or ()
    ]
    source = {"persistentVolumeClaim": {"claimName": "claim"}}
    volumes = [{"name": name, **source} for name in claims]
    volumes += [each for each in inner.get("volumes") or () if each.get("name") not in claims]
    made = {key: value for key, value in inner.items() if key != "hostname"}
    return {**spec, "template": {**template, "spec": {**made, "volumes": volumes}}}


def _selector_and_template(spec: JSONObject, kind: str) -> list[Cause]:
    faults: list[Cause] = []
    selector = spec.get("selector")
    if selector is None:
        faults.append(required("spec.selector"))
    elif not selector:
        why = f"empty selector is invalid for {kind}"
        faults.append(invalid("spec.selector", selector, why))
    else:
        faults += selector_faults(selector, "spec.selector")
        if faults:
            faults += _unread_selector(selector, kind)
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    # No selector at all selects nothing, an empty one everything, and one with faults is passed.
    if selector is None or (not faults and not selects(selector, labels)):
        faults.append(invalid("spec.template.metadata.labels", labels or None, _MISMATCH))
    return faults + _template_faults(template, _KINDS[kind])


def _unread_selector(selector: JSONObject, kind: str) -> list[Cause]:
    # Upstream reads it again after its faults are told, and says so in other words for each kind.
    if kind == "daemonset":
        return []
    whole = invalid("spec.selector", selector, "invalid label selector")
    if kind == "statefulset":
        return [replace(whole, message=whole.message.removesuffix(": invalid label selector"))]
    return [whole]


def _template_faults(template: JSONObject, kind: str) -> list[Cause]:
    faults = pod_template_faults(template, "spec.template")
    spec = template.get("spec") or {}
    policy = spec.get("restartPolicy")
    if policy in ("OnFailure", "Never"):
        faults.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        why = f"activeDeadlineSeconds in {kind} is not Supported"
        faults.append(forbidden("spec.template.spec.activeDeadlineSeconds", why))
    return faults


def _deployment_strategy(strategy: JSONObject) -> list[Cause]:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is None:
            return []
        why = "may not be specified when strategy `type` is 'Recreate'"
        return [forbidden("spec.strategy.rollingUpdate", why)]
    if kind != "RollingUpdate":
        shown = _shown_strategy(strategy)
        return [not_supported("spec.strategy", shown, ("Recreate", "RollingUpdate"))]
    field = "spec.strategy.rollingUpdate"
    rolling = rolling or {}
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    faults = _share_faults(unavailable, f"{field}.maxUnavailable")
    faults += _share_faults(surge, f"{field}.maxSurge")
    if not faults and _number(unavailable) == 0 and _number(surge) == 0:
        why = "may not be 0 when `maxSurge` is 0"
        faults.append(invalid(f"{field}.maxUnavailable", unavailable, why))
    if isinstance(unavailable, str) and _is_share(unavailable) and _number(unavailable) > 100:
        why = "must not be greater than 100%"
        faults.append(invalid(f"{field}.maxUnavailable", unavailable, why))
    return faults


def _shown_strategy(strategy: JSONObject) -> JSONObject:
    # A structure of the server, whose fields have no names but their own.
    return {"Type": strategy.get("type", ""), "RollingUpdate": strategy.get("rollingUpdate")}


_RETENTIONS = ("Retain", "Delete")
_PERCENT = re.compile("[0-9]+%")


def _is_share(value: str) -> bool:
    return _PERCENT.fullmatch(value) is not None


def _share_faults(value: int | str, field: str) -> list[Cause]:
    if isinstance(value, int):
        return [invalid(field, value, NEGATIVE)] if value < 0 else []
    if _PERCENT.fullmatch(value):
        return []
    why = (
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  "
        "or '93%', regex used for validation is '[0-9]+%')"
    )
    return [invalid(field, value, why)]


def _number(value: int | str) -> int:
    if isinstance(value, int):
        return value
    return int(value[:-1]) if _PERCENT.fullmatch(value) else 0  # as upstream reads what is neither
