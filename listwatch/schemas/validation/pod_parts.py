"""Faults of what changes of a pod at addresses of its own: debug containers, and sizes.

Upstream: ValidatePodEphemeralContainersUpdate and ValidatePodResize. The caller is `validator`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.structures import DEBUG_CONTAINER, difference
from listwatch.schemas.validation.faults import forbidden, not_found

if TYPE_CHECKING:
    from collections.abc import Iterable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_NOT_FOR_DEBUGGING = (
    "ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources",
    "resizePolicy",
)  # fmt: skip
_RESIZABLE = frozenset(("cpu", "memory"))


def ephemeral_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of debug containers beyond those of any container."""
    faults: list[Cause] = []
    names = {
        one.get("name") for kind in ("containers", "initContainers") for one in _of(spec, kind)
    }
    for index, container in enumerate(_of(spec, "ephemeralContainers")):
        where = f"{field}[{index}]"
        target = container.get("targetContainerName")
        if target and target not in names:
            faults.append(not_found(f"{where}.targetContainerName", target))
        faults += [
            forbidden(f"{where}.{name}", "cannot be set for an Ephemeral Container")
            for name in _NOT_FOR_DEBUGGING
            if container.get(name)
        ]
    return faults


def ephemeral_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Debug containers are added; those that are there stay as they are."""
    field = "spec.ephemeralContainers"
    spec = new.get("spec") or {}
    found = {one.get("name"): one for one in _of(spec, "ephemeralContainers")}
    faults: list[Cause] = []
    for container in _of(old.get("spec") or {}, "ephemeralContainers"):
        name = container.get("name", "")
        if name not in found:
            why = f'existing ephemeral containers "{name}" may not be removed\n'
            faults.append(forbidden(field, why))
        elif found[name] != container:
            why = f'existing ephemeral containers "{name}" may not be changed\n'
            why += difference(DEBUG_CONTAINER, container, found[name])
            faults.append(forbidden(field, why))
    return faults


def resize_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What a container once asked for or was limited in may change, not go."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    faults: list[Cause] = []
    for kind in ("containers", "initContainers"):
        for index, (container, was) in enumerate(
            zip(_of(spec, kind), _of(before, kind), strict=True)
        ):
            where = f"spec.{kind}[{index}].resources"
            faults += _size_faults(
                container.get("resources") or {}, was.get("resources") or {}, where
            )
    return faults


def _size_faults(new: JSONObject, old: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    for part in ("limits", "requests"):
        after, before = new.get(part) or {}, old.get(part) or {}
        if _RESIZABLE & (before.keys() - after.keys()):
            faults.append(forbidden(f"{field}.{part}", f"resource {part} cannot be removed"))
        others = (before.keys() | after.keys()) - _RESIZABLE
        if any(before.get(name) != after.get(name) for name in others):
            faults.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return list(dict.fromkeys(faults))


def _of(spec: JSONObject, kind: str) -> list[JSONObject]:
    containers: Iterable[JSONObject] = spec.get(kind) or ()
    return list(containers)
