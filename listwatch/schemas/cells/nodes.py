"""Cells of nodes."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import (
    NONE,
    UNKNOWN,
    age,
    conditions_of,
    items,
    name_of,
    part,
    text,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def node(document: JSONObject, now: float) -> list[Any]:
    """Name, Status, Roles, Age, Version, addresses, OS-Image, Kernel, Container-Runtime."""
    info = part(document, "status", "nodeInfo")
    return [
        name_of(document),
        _status(document),
        ",".join(_roles(document)) or NONE,
        age(document, now),
        text(info, "kubeletVersion"),
        _address(document, "InternalIP"),
        _address(document, "ExternalIP"),
        text(info, "osImage") or UNKNOWN,
        text(info, "kernelVersion") or UNKNOWN,
        text(info, "containerRuntimeVersion") or UNKNOWN,
    ]


def _status(document: JSONObject) -> str:
    ready = conditions_of(document).get("Ready")
    if ready is not None:
        status = "Ready" if ready.get("status") == "True" else "NotReady"
    else:
        status = "Unknown"
    return f"{status},SchedulingDisabled" if part(document, "spec", "unschedulable") else status


def _roles(document: JSONObject) -> list[str]:
    roles = set()
    for key, value in part(document, "metadata", "labels").items():
        if key.startswith(_ROLE_PREFIX):
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == _ROLE_LABEL:
            roles.add(value)
    return sorted(roles - {""})


def _address(document: JSONObject, kind: str) -> str:
    addresses = items(document, "status", "addresses")
    return next((a.get("address", "") for a in addresses if a.get("type") == kind), NONE)
