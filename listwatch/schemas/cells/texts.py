"""What the cells of many kinds have in common: ages, labels, lists that do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.durations import human_duration
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.selectors import LabelSelector

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"
SHOWN = 3  # how many of a list's elements a cell shows


def part(document: JSONObject, *path: str) -> Any:  # Any: JSON
    """What stands at a path of objects; {} if anything on the way is missing or null."""
    found: Any = document
    for key in path:
        found = found.get(key) or {}
    return found


def items(document: JSONObject, *path: str) -> list[Any]:
    """The list at a path; empty if anything on the way is missing or null."""
    return part(document, *path) or []


def number(document: JSONObject, *path: str) -> int:
    """The number at a path; 0 if anything on the way is missing or null."""
    return part(document, *path) or 0


def text(document: JSONObject, *path: str) -> str:
    """The text at a path; '' if anything on the way is missing or null."""
    return part(document, *path) or ""


def conditions_of(document: JSONObject) -> dict[str, JSONObject]:
    """The conditions of an object's status by type; of two of one type, the first."""
    return {c.get("type", ""): c for c in reversed(items(document, "status", "conditions"))}


def name_of(document: JSONObject) -> str:
    """The object's name."""
    return text(document, "metadata", "name")


def created(document: JSONObject) -> str | None:
    """When the object was created, as it stands there."""
    return text(document, "metadata", "creationTimestamp") or None


def seconds_of(timestamp: str | None) -> float | None:
    """The wall time of a timestamp; None if there is none."""
    if not timestamp:
        return None
    try:
        return parse_rfc3339(timestamp)
    except ValueError:
        return None


def since(timestamp: str | None, now: float) -> str:
    """How long ago that was."""
    seconds = seconds_of(timestamp)
    return UNKNOWN if seconds is None else human_duration(now - seconds)


def age(document: JSONObject, now: float) -> str:
    """How long ago the object was created."""
    return since(created(document), now)


def labels(pairs: Mapping[str, str] | None) -> str:
    """`a=1,b=2`."""
    return ",".join(f"{key}={value}" for key, value in sorted((pairs or {}).items())) or NONE


def selector(document: JSONObject | None, *, nothing: str = NONE) -> str:
    """A workload's selector as text; `nothing` for one that selects everything or nothing."""
    try:
        found = LabelSelector.of(document)
    except (StatusError, KeyError, TypeError):
        return "<error>"
    return str(found or "") or nothing


def containers(document: JSONObject, *path: str) -> tuple[str, str]:
    """Names and images of the containers of a pod's spec."""
    found = items(document, *path, "containers")
    names = ",".join(container.get("name", "") for container in found)
    return names, ",".join(container.get("image", "") for container in found)


def shortened(elements: Sequence[str]) -> str:
    """The first elements of a list, and how many more there are."""
    shown, more = ",".join(elements[:SHOWN]), len(elements) - SHOWN
    return f"{shown} + {more} more..." if more > 0 else shown
