"""Cells of jobs, cron jobs, and of what scales and guards workloads."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.durations import human_duration
from listwatch.protocol.objects import JSONObject
from listwatch.schemas.autoscaling import from_v1
from listwatch.schemas.cells.texts import (
    NONE,
    UNKNOWN,
    UNSET,
    age,
    conditions_of,
    containers,
    items,
    name_of,
    number,
    part,
    seconds_of,
    selector,
    since,
    text,
)

_ENDS = ("Complete", "Failed")
_STATES = ("Suspended", "FailureTarget")


def job(document: JSONObject, now: float) -> list[Any]:
    """Name, Status, Completions, Duration, Age, Containers, Images, Selector."""
    return [
        name_of(document),
        _job_status(document),
        _completions(document),
        _duration(document, now),
        age(document, now),
        *containers(document, "spec", "template", "spec"),
        selector(part(document, "spec").get("selector")),
    ]


def _job_status(document: JSONObject) -> str:
    conditions = conditions_of(document)

    def holds(kind: str) -> bool:
        return (conditions.get(kind) or {}).get("status") == "True"

    for kind in _ENDS:
        if holds(kind):
            return kind
    if text(document, "metadata", "deletionTimestamp"):
        return "Terminating"
    return next((kind for kind in _STATES if holds(kind)), "Running")


def _completions(document: JSONObject) -> str:
    succeeded, wanted = number(document, "status", "succeeded"), part(document, "spec")
    if wanted.get("completions") is not None:
        return f"{succeeded}/{wanted['completions']}"
    at_once = wanted.get("parallelism") or 0
    return f"{succeeded}/1 of {at_once}" if at_once > 1 else f"{succeeded}/1"


def _duration(document: JSONObject, now: float) -> str:
    start = seconds_of(text(document, "status", "startTime"))
    if start is None:
        return ""
    end = seconds_of(text(document, "status", "completionTime"))
    return human_duration((now if end is None else end) - start)


def cron_job(document: JSONObject, now: float) -> list[Any]:
    """Name, Schedule, Timezone, Suspend, Active, Last Schedule, Age, and wide ones."""
    spec = part(document, "spec")
    last = text(document, "status", "lastScheduleTime")
    suspend = spec.get("suspend")
    return [
        name_of(document),
        text(spec, "schedule"),
        NONE if spec.get("timeZone") is None else spec["timeZone"],
        UNSET if suspend is None else str(bool(suspend)),
        len(items(document, "status", "active")),
        since(last, now) if last else NONE,
        age(document, now),
        *containers(spec, "jobTemplate", "spec", "template", "spec"),
        selector(part(spec, "jobTemplate", "spec").get("selector")),
    ]


def pod_disruption_budget(document: JSONObject, now: float) -> list[Any]:
    """Name, Min Available, Max Unavailable, Allowed Disruptions, Age."""
    spec = part(document, "spec")
    return [
        name_of(document),
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        number(document, "status", "disruptionsAllowed"),
        age(document, now),
    ]


def autoscaler_v1(document: JSONObject, now: float) -> list[Any]:
    """The same cells for the older form."""
    return autoscaler(from_v1(document), now)


def autoscaler(document: JSONObject, now: float) -> list[Any]:
    """Name, Reference, Targets, MinPods, MaxPods, Replicas, Age."""
    spec, target = part(document, "spec"), part(document, "spec", "scaleTargetRef")
    least = spec.get("minReplicas")
    return [
        name_of(document),
        f"{text(target, 'kind')}/{text(target, 'name')}",
        _metrics(items(spec, "metrics"), items(document, "status", "currentMetrics")),
        UNSET if least is None else str(least),
        number(spec, "maxReplicas"),
        number(document, "status", "currentReplicas"),
        age(document, now),
    ]


_SHOWN_METRICS = 2
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metrics(specs: list[Any], statuses: list[Any]) -> str:
    if not specs:
        return NONE
    told = [
        _metric(spec, statuses[index] if index < len(statuses) else {})
        for index, spec in enumerate(specs)
    ]
    more = len(told) - _SHOWN_METRICS
    shown = ", ".join(told[:_SHOWN_METRICS])
    return f"{shown} + {more} more..." if more > 0 else shown


def _metric(spec: JSONObject, status: JSONObject) -> str:
    source = _SOURCES.get(text(spec, "type"))
    if source is None:
        return "<unknown type>"
    wanted, known = part(spec, source, "target"), source in status
    current = part(status, source, "current")
    average = wanted.get("averageValue")
    if source in ("resource", "containerResource"):
        name = text(spec, source, "name")
        if average is not None:
            return f"{name}: {_quantity(current, 'averageValue', known)}/{average}"
        return f"{name}: {_percent(current, UNKNOWN)}/{_percent(wanted, '<auto>')}"
    if source == "pods":
        return f"{_quantity(current, 'averageValue', known)}/{average or '0'}"
    if average is not None:
        shown = current.get("averageValue", UNKNOWN)
        return f"{shown}/{average} (avg)"
    return f"{_quantity(current, 'value', known)}/{wanted.get('value', '<nil>')}"


def _quantity(current: JSONObject, field: str, known: bool) -> str:
    return str(current.get(field, "<nil>")) if known else UNKNOWN


def _percent(of: JSONObject, missing: str) -> str:
    share = of.get("averageUtilization")
    return missing if share is None else f"{share}%"
