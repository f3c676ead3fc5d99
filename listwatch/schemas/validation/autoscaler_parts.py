"""Faults of what a HorizontalPodAutoscaler (v2) measures, and of how fast it may scale.

Upstream: pkg/apis/autoscaling/validation/validation.go. Used by `validation.limits`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, qualified_name_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.faults import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.names import path_segment_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_METRICS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_TARGETS = ("AverageValue", "Utilization", "Value")
_STANDARD = ("cpu", "ephemeral-storage", "memory")
_LONGEST_WINDOW, _LONGEST_PERIOD = 3600, 1800
_CHOICES, _POLICIES = ("Disabled", "Max", "Min"), ("Percent", "Pods")


def reference_faults(target: JSONObject, field: str) -> list[Cause]:
    """Faults of what names an object of any kind."""
    faults = []
    for name in ("kind", "name"):
        value = target.get(name)
        if not value:
            faults.append(required(f"{field}.{name}"))
        else:
            faults += [invalid(f"{field}.{name}", value, why) for why in path_segment_faults(value)]
    version = target.get("apiVersion") or ""
    if version.count("/") > 1:
        why = f"unexpected GroupVersion string: {version}"
        faults.append(invalid(f"{field}.apiVersion", version, why))
    return faults


def metric_faults(metric: JSONObject, field: str) -> list[Cause]:
    """Faults of one metric: a source, and what is wished of it."""
    kind = metric.get("type") or ""
    faults = []
    if not kind:
        faults.append(required(f"{field}.type", "must specify a metric source type"))
    if kind not in _METRICS:
        # Upstream says it twice: in a list of what is known, and where each has its own rules.
        return [*faults, *[not_supported(f"{field}.type", kind, sorted(_METRICS))] * 2]
    source = _METRICS[kind]
    faults += [
        forbidden(f"{field}.{other}", "must populate the given metric source only")
        for other in _METRICS.values()
        if other != source and metric.get(other) is not None
    ]
    if metric.get(source) is None:
        why = "must populate information for the given metric source"
        return [*faults, required(f"{field}.{source}", why)]
    return faults + _source_faults(source, metric[source], f"{field}.{source}")


def _source_faults(source: str, given: JSONObject, field: str) -> list[Cause]:
    target = given.get("target") or {}
    if source in ("resource", "containerResource"):
        return _resource_faults(source, given, field)
    faults = []
    if source == "object":
        described = given.get("describedObject") or {}
        faults += reference_faults(described, f"{field}.describedObject")
    name = (given.get("metric") or {}).get("name") or ""
    where = f"{field}.metric.name"
    if not name:
        faults.append(required(where, "must specify a metric name"))
    faults += [invalid(where, name, why) for why in path_segment_faults(name)]
    faults += _target_faults(target, f"{field}.target")
    average = target.get("averageValue")
    where = f"{field}.target.averageValue"
    if source == "pods":
        if average is None or not _positive(average):
            faults.append(required(where, "must specify a positive target averageValue"))
    elif average is None and target.get("value") is None:
        why = "must set either a target value or averageValue"
        if source == "external":
            why = "must set either a target value for metric or a per-pod target"
        faults.append(required(where, why))
    elif source == "external" and average is not None and target.get("value") is not None:
        why = "may not set both a target value for metric and a per-pod target"
        faults.append(forbidden(f"{field}.target.value", why))
    return faults


def _resource_faults(source: str, given: JSONObject, field: str) -> list[Cause]:
    target, name = given.get("target") or {}, given.get("name") or ""
    faults = []
    if not name:
        faults.append(required(f"{field}.name", "must specify a resource name"))
    elif source == "containerResource":
        faults += [invalid(f"{field}.name", name, why) for why in qualified_name_faults(name)]
        if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
            why = "must be a standard resource for containers"
            faults.append(invalid(f"{field}.name", name, why))
    if source == "containerResource":
        container = given.get("container") or ""
        where = f"{field}.container"
        if not container:
            faults.append(required(where, "must specify a container"))
        else:
            faults += [invalid(where, container, why) for why in label_name_faults(container)]
    faults += _target_faults(target, f"{field}.target")
    share, value = target.get("averageUtilization"), target.get("averageValue")
    if share is None and value is None:
        why = "must set either a target raw value or a target utilization"
        faults.append(required(f"{field}.target.averageUtilization", why))
    if share is not None and value is not None:
        why = "may not set both a target raw value and a target utilization"
        faults.append(forbidden(f"{field}.target.averageValue", why))
    return faults


def _target_faults(target: JSONObject, field: str) -> list[Cause]:
    kind, share = target.get("type") or "", target.get("averageUtilization")
    faults = []
    if not kind:
        faults.append(required(f"{field}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        why = "must be either Utilization, Value, or AverageValue"
        faults.append(invalid(f"{field}.type", kind, why))
    faults += [
        invalid(f"{field}.{name}", target[name], "must be positive")
        for name in ("value", "averageValue")
        if target.get(name) is not None and not _positive(target[name])
    ]
    if share is not None and share < 1:
        faults.append(invalid(f"{field}.averageUtilization", share, "must be greater than 0"))
    return faults


def _positive(amount: str) -> bool:
    return Quantity.parse(amount) > Quantity.of(0)


def behavior_faults(behavior: JSONObject, field: str) -> list[Cause]:
    """Faults of how fast it may scale up, and down."""
    return [
        fault
        for way in ("scaleUp", "scaleDown")
        if behavior.get(way) is not None
        for fault in _way_faults(behavior[way], f"{field}.{way}")
    ]


def _way_faults(rules: JSONObject, field: str) -> list[Cause]:
    faults, window = [], rules.get("stabilizationWindowSeconds")
    where = f"{field}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        faults.append(invalid(where, window, "must be greater than or equal to zero"))
    if window is not None and window > _LONGEST_WINDOW:
        faults.append(invalid(where, window, f"must be less than or equal to {_LONGEST_WINDOW}"))
    choice = rules.get("selectPolicy")
    if choice is not None and choice not in _CHOICES:
        faults.append(not_supported(f"{field}.selectPolicy", choice, _CHOICES))
    policies = rules.get("policies") or ()
    if not policies:
        faults.append(required(f"{field}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        faults += _policy_faults(policy, f"{field}.policies[{index}]")
    return faults


def _policy_faults(policy: JSONObject, field: str) -> list[Cause]:
    faults = []
    if (policy.get("type") or "") not in _POLICIES:
        faults.append(not_supported(f"{field}.type", policy.get("type") or "", _POLICIES))
    for name in ("value", "periodSeconds"):
        if (policy.get(name) or 0) <= 0:
            why = "must be greater than zero"
            faults.append(invalid(f"{field}.{name}", policy.get(name) or 0, why))
    period = policy.get("periodSeconds") or 0
    if period > _LONGEST_PERIOD:
        why = f"must be less than or equal to {_LONGEST_PERIOD}"
        faults.append(invalid(f"{field}.periodSeconds", period, why))
    return faults
