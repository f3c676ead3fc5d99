"""Whether a configuration is one of its kind: types, declared fields, list elements told apart.

Unlike other bodies a configuration may have no unknown fields: nobody could own them.
`server_side_apply` refuses what fails here, with upstream's texts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from listwatch.patches.field_sets.elements import UnkeyedError, element, shown_element

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType


def faults(ftype: FieldType, value: Any) -> str:  # Any: a JSON value
    """What is wrong with a configuration, '' for nothing."""
    found: list[str] = []
    _check(ftype, value, "", found)
    if len(found) <= 1:
        return "".join(found)
    return "\n".join(["errors:", *(f"  {fault}" for fault in found)])


def _check(ftype: FieldType, value: Any, path: str, found: list[str]) -> None:
    if value is None:
        return
    form = ftype.form
    if form == "map" or (form == "deduced" and isinstance(value, dict)):
        if isinstance(value, dict):
            _map(ftype, value, path, found)
        else:
            found.append(_fault(path, f"expected map, got {_go(value)}"))
    elif form == "list":
        if isinstance(value, list):
            _list(ftype, value, path, found)
        else:
            found.append(_fault(path, f"expected list, got {_go(value)}"))
    elif form == "scalar" and not _fits(ftype.scalar, value):
        found.append(_fault(path, f"expected {_SCALARS[ftype.scalar]}, got {_go(value)}"))


def _fault(path: str, why: str) -> str:
    return f"{path}: {why}" if path else why


def _map(ftype: FieldType, value: dict[str, Any], path: str, found: list[str]) -> None:
    for name, inner in value.items():
        field = ftype.field(name)
        if field is None:
            found.append(f"{path}.{name}: field not declared in schema")
        else:
            _check(field, inner, f"{path}.{name}", found)


def _list(ftype: FieldType, value: list[Any], path: str, found: list[str]) -> None:
    seen: set[str] = set()
    for index, item in enumerate(value):
        if ftype.atomic:
            _check(ftype.items, item, f"{path}[{index}]", found)
            continue
        try:
            key = element(ftype, item)
        except UnkeyedError as error:
            found.append(_fault(path, f"element {index}: {error}"))
            return
        if key in seen:
            found.append(_fault(path, f"duplicate entries for key {shown_element(key)}"))
        seen.add(key)
        _check(ftype.items, item, f"{path}{shown_element(key)}", found)


_SCALARS = {
    "string": "string",
    "number": "numeric (int or float)",
    "boolean": "boolean",
    "": "any scalar",
}


def _fits(scalar: str, value: Any) -> bool:
    if isinstance(value, dict | list):
        return False
    if scalar == "string":
        return isinstance(value, str)
    if scalar == "boolean":
        return isinstance(value, bool)
    return scalar == "" or (isinstance(value, int | float) and not isinstance(value, bool))


def _go(value: Any) -> str:
    # As Go shows the wrapped value; objects and lists are shown as JSON, which people can read.
    return f"&value.valueUnstructured{{Value:{json.dumps(value, ensure_ascii=False)}}}"
