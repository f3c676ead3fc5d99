"""Faults of what a scale shows of an object: replicas that are no number, a selector that is none.

Upstream: apiextensions-apiserver/pkg/registry/customresource. The caller is `kinds`.
"""

from __future__ import annotations

from typing import Any

from listwatch.protocol.errors import Cause
from listwatch.schemas.structural.nodes import Schema
from listwatch.schemas.structural.numbers import value_text
from listwatch.schemas.validation.faults import invalid

_LARGEST = (1 << 31) - 1
_TYPES = {
    bool: "bool", int: "int64", float: "float64", str: "string", list: "[]interface {}",
    dict: "map[string]interface {}", type(None): "<nil>",
}  # fmt: skip


class _PathError(ValueError):
    """What stands somewhere cannot be what the path makes of it."""


def split(path: str) -> tuple[str, ...]:
    """The names in a path, which are whatever stands between its dots."""
    return tuple(path.removeprefix(".").split(".")) if path else ()


def scale_faults(document: dict[str, Any], scale: Schema) -> list[Cause]:
    """Faults of an object whose definition has these paths."""
    found: list[Cause] = []
    for key in ("specReplicasPath", "statusReplicasPath"):
        path, why = scale[key], ""
        try:
            replicas: int = _found(document, path, int) or 0
        except _PathError as error:
            replicas, why = 0, str(error)
        if replicas < 0:
            why = "should be a non-negative integer"
        elif replicas > _LARGEST:
            why = f"should be less than or equal to {_LARGEST}"
        if why:
            found.append(invalid(path, replicas, why))
    path = scale.get("labelSelectorPath") or ""
    try:
        _found(document, path, str)
    except _PathError as error:
        found.append(invalid(path, "", str(error)))
    return found


def _found(document: dict[str, Any], path: str, kind: type) -> Any:  # Any: a JSON value
    value: Any = document
    names = split(path)
    for index, name in enumerate(names):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _PathError(_why(names[: index + 1], value, "map[string]interface{}"))
        if name not in value:
            return None
        value = value[name]
    # A truth value is a number in Python, but not in JSON.
    if names and type(value) is not kind:
        raise _PathError(_why(names, value, _TYPES[kind]))
    return value


def _why(names: tuple[str, ...], value: Any, wanted: str) -> str:  # Any: a JSON value
    given = _TYPES.get(type(value), "")
    what = f"{value_text(value)} is of the type {given}"
    return f".{'.'.join(names)} accessor error: {what}, expected {wanted}"
