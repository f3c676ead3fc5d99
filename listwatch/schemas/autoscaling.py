"""HorizontalPodAutoscalers of `autoscaling/v1` and of `v2`: the same objects in two forms.

What v1 has no fields for stands in annotations there, as JSON. Used by `registry.conversions`, and
by the cells, which are told from the form of v2. Upstream: pkg/apis/autoscaling/v1/conversion.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS = f"{_PREFIX}metrics"
_CURRENT_METRICS = f"{_PREFIX}current-metrics"
_CONDITIONS = f"{_PREFIX}conditions"
_BEHAVIOR = f"{_PREFIX}behavior"
_ANNOTATIONS = (_METRICS, _CURRENT_METRICS, _CONDITIONS, _BEHAVIOR)


def from_v1(document: JSONObject) -> JSONObject:
    """The form of v2; an annotation that is no JSON of the right kind stays out of it."""
    spec, status = dict(document.get("spec") or {}), dict(document.get("status") or {})
    notes = (document.get("metadata") or {}).get("annotations") or {}
    metrics = _read(notes, _METRICS, list)
    target = spec.pop("targetCPUUtilizationPercentage", None)
    if target is not None:
        metrics.append(_cpu({"target": {"type": "Utilization", "averageUtilization": target}}))
    if metrics:
        spec["metrics"] = metrics
    if behavior := _read(notes, _BEHAVIOR, dict):
        spec["behavior"] = behavior
    current = _read(notes, _CURRENT_METRICS, list)
    used = status.pop("currentCPUUtilizationPercentage", None)
    if used is not None:
        current.append(_cpu({"current": {"averageUtilization": used}}))
    if current:
        status["currentMetrics"] = current
    if conditions := _read(notes, _CONDITIONS, list):
        status["conditions"] = conditions
    return _made(document, "autoscaling/v2", spec, status, _without(notes))


def to_v1(document: JSONObject) -> JSONObject:
    """The form of v1."""
    spec, status = dict(document.get("spec") or {}), dict(document.get("status") or {})
    notes = _without((document.get("metadata") or {}).get("annotations") or {})
    metrics = _take(spec.pop("metrics", None), "target", spec, "targetCPUUtilizationPercentage")
    if metrics:
        notes[_METRICS] = _text(metrics)
    if behavior := spec.pop("behavior", None):
        notes[_BEHAVIOR] = _text(behavior)
    current = _take(
        status.pop("currentMetrics", None), "current", status, "currentCPUUtilizationPercentage"
    )
    if current:
        notes[_CURRENT_METRICS] = _text(current)
    if conditions := status.pop("conditions", None):
        notes[_CONDITIONS] = _text(conditions)
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    return _made(document, "autoscaling/v1", spec, status, notes)


def _cpu(target: JSONObject) -> JSONObject:
    return {"type": "Resource", "resource": {"name": "cpu", **target}}


def _take(metrics: Any, part: str, into: JSONObject, field: str) -> list[JSONObject]:
    # The utilization of the CPU has a field; the first of its kind goes there.
    left: list[JSONObject] = []
    for metric in metrics or ():
        resource = metric.get("resource") or {}
        value = (resource.get(part) or {}).get("averageUtilization")
        if value is None or resource.get("name") != "cpu" or field in into:
            left.append(metric)
        else:
            into[field] = value
    return left


def _read(notes: JSONObject, name: str, kind: type[Any]) -> Any:
    try:
        value = orjson.loads(notes[name])
    except (KeyError, TypeError, orjson.JSONDecodeError):
        return kind()
    fits = isinstance(value, kind)
    if kind is list and fits:
        fits = all(isinstance(item, dict) for item in value)
    return value if fits else kind()


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


def _without(notes: JSONObject) -> JSONObject:
    return {key: value for key, value in notes.items() if key not in _ANNOTATIONS}


def _made(
    document: JSONObject, version: str, spec: JSONObject, status: JSONObject, notes: JSONObject
) -> JSONObject:
    made = {**document, "apiVersion": version}
    if "spec" in document:
        made["spec"] = spec
    if "status" in document or status:
        made["status"] = status
    metadata = dict(document.get("metadata") or {})
    metadata.pop("annotations", None)
    if notes:
        metadata["annotations"] = notes
    if "metadata" in document:
        made["metadata"] = metadata
    return made
