"""Faults of what limits and ranks workloads: budgets, quotas, ranges, autoscalers, classes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, qualified_name_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.autoscaler_parts import (
    behavior_faults,
    metric_faults,
    reference_faults,
)
from listwatch.schemas.validation.faults import (
    NEGATIVE,
    chosen,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.metadata import label_faults
from listwatch.schemas.validation.selectors import selector_faults
from listwatch.schemas.validation.tolerations import toleration_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_PERCENT = re.compile("[0-9]+%")
_NO_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  "
    "or '93%', regex used for validation is '[0-9]+%')"
)
_UNHEALTHY = ("AlwaysAllow", "IfHealthyBudget")


def budget_faults(document: JSONObject) -> list[Cause]:
    """Faults of a PodDisruptionBudget by itself."""
    spec = document.get("spec") or {}
    faults: list[Cause] = []
    if "minAvailable" in spec and "maxUnavailable" in spec:
        why = "minAvailable and maxUnavailable cannot be both set"
        faults.append(invalid("spec", spec, why))
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            faults += _share_faults(spec[name], f"spec.{name}")
    faults += selector_faults(spec.get("selector") or {}, "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _UNHEALTHY:
        faults.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, _UNHEALTHY))
    return faults


def _share_faults(value: int | str, field: str) -> list[Cause]:
    if isinstance(value, int):
        return [invalid(field, value, NEGATIVE)] if value < 0 else []
    if not _PERCENT.fullmatch(value):
        return [invalid(field, value, _NO_PERCENT)]
    return [invalid(field, value, "must not be greater than 100%")] if int(value[:-1]) > 100 else []


def limit_range_faults(document: JSONObject) -> list[Cause]:
    """Faults of a LimitRange by itself."""
    faults: list[Cause] = []
    seen: set[str] = set()
    for index, item in enumerate((document.get("spec") or {}).get("limits") or ()):
        field, kind = f"spec.limits[{index}]", item.get("type", "")
        faults += [invalid(f"{field}.type", kind, why) for why in qualified_name_faults(kind)]
        if kind in seen:
            faults.append(duplicate(f"{field}.type", kind))
        seen.add(kind)
        faults += _limit_faults(item, field, kind)
    return faults


def _limit_faults(item: JSONObject, field: str, kind: str) -> list[Cause]:
    faults: list[Cause] = []
    if kind == "Pod":
        faults += [
            forbidden(f"{field}.{name}", "may not be specified when `type` is 'Pod'")
            for name in ("default", "defaultRequest")
            if item.get(name)
        ]
    if kind == "PersistentVolumeClaim" and not any(
        "storage" in (item.get(name) or {}) for name in ("min", "max")
    ):
        why = "either minimum or maximum storage value is required, but neither was provided"
        faults.append(required(f"{field}.limits", why))
    for lower, upper, words in _ORDERED:
        for name in sorted((item.get(lower) or {}).keys() & (item.get(upper) or {}).keys()):
            low, high = item[lower][name], item[upper][name]
            if Quantity.parse(low) > Quantity.parse(high):
                why = words.format(low, high)
                faults.append(invalid(f"{field}.{lower}[{name}]", low, why))
    for name, ratio in (item.get("maxLimitRequestRatio") or {}).items():
        if Quantity.parse(ratio) < Quantity.parse("1"):
            where = f"{field}.maxLimitRequestRatio[{name}]"
            faults.append(invalid(where, ratio, f"ratio {ratio} is less than 1"))
    return faults


_ORDERED = (
    ("min", "max", "min value {} is greater than max value {}"),
    ("min", "defaultRequest", "min value {} is greater than default request value {}"),
    ("defaultRequest", "max", "default request value {} is greater than max value {}"),
    (
        "defaultRequest",
        "default",
        "default request value {} is greater than default limit value {}",
    ),
    ("min", "default", "min value {} is greater than default value {}"),
    ("default", "max", "default value {} is greater than max value {}"),
)
_SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_HIGHEST = 1_000_000_000
_PREEMPTIONS = ("PreemptLowerPriority", "Never")


def priority_class_faults(document: JSONObject) -> list[Cause]:
    """Faults of a PriorityClass by itself."""
    name = (document.get("metadata") or {}).get("name") or ""
    value = document.get("value") or 0
    faults: list[Cause] = []
    if name.startswith("system-"):
        if _SYSTEM_CLASSES.get(name) != value:
            why = (
                "priority class names with 'system-' prefix are reserved for system use only. "
                f"error: {name} is not a known system priority class"
            )
            faults.append(forbidden("metadata.name", why))
    elif value > _HIGHEST:
        why = f"maximum allowed value of a user defined priority is {_HIGHEST}"
        faults.append(forbidden("value", why))
    policy = document.get("preemptionPolicy")
    return faults + chosen(policy, "preemptionPolicy", _PREEMPTIONS)


def priority_class_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What a class is worth stays as it is."""
    faults: list[Cause] = []
    if (new.get("value") or 0) != (old.get("value") or 0):
        faults.append(forbidden("value", "may not be changed in an update."))
    return faults + immutable(new, old, ("preemptionPolicy",))


def runtime_class_faults(document: JSONObject) -> list[Cause]:
    """Faults of a RuntimeClass by itself."""
    handler = document.get("handler") or ""
    if not handler:
        faults = [required("handler")]
    else:
        faults = [invalid("handler", handler, why) for why in label_name_faults(handler)]
    scheduling = document.get("scheduling") or {}
    faults += label_faults(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
    return faults + toleration_faults(scheduling.get("tolerations") or [], "scheduling.tolerations")


def runtime_class_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What handles the pods of a class stays as it is."""
    return immutable(new, old, ("handler",))


def autoscaler_faults(document: JSONObject) -> list[Cause]:
    """Faults of a HorizontalPodAutoscaler (v2) by itself."""
    spec = document.get("spec") or {}
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    faults: list[Cause] = []
    if least is not None and least < 1:
        faults.append(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most < 1:
        why = "must be set and greater than 0"
        faults.append(
            required("spec.maxReplicas", why)
            if not most
            else invalid("spec.maxReplicas", most, "must be greater than 0")
        )
    if least is not None and most < least:
        why = "must be greater than or equal to `minReplicas`"
        faults.append(invalid("spec.maxReplicas", most, why))
    faults += reference_faults(spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef")
    for index, metric in enumerate(spec.get("metrics") or ()):
        faults += metric_faults(metric, f"spec.metrics[{index}]")
    faults += behavior_faults(spec.get("behavior") or {}, "spec.behavior")
    return faults


def new_autoscaler_faults(document: JSONObject) -> list[Cause]:
    """Faults of the API group of what is scaled; only one kind of the core group can be."""
    target = (document.get("spec") or {}).get("scaleTargetRef") or {}
    version = target.get("apiVersion") or ""
    if "/" in version or target.get("kind") == "ReplicationController":
        return []
    why = "apiVersion must specify API group"
    return [invalid("spec.scaleTargetRef.apiVersion", version, why)]


def autoscaler_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """The same where something else is to be scaled from now on."""
    target, before = ((one.get("spec") or {}).get("scaleTargetRef") or {} for one in (new, old))
    same = all(target.get(name) == before.get(name) for name in ("apiVersion", "kind"))
    return [] if same else new_autoscaler_faults(new)
