"""The sets that an object is made of: what a configuration names, and what an object consists of.

Both go through an object along its type. `fields_of` is what somebody who applies this owns;
`everything` is what appears, or goes, with the whole of it. Used by `comparing`, `removing` and
`server_side_apply`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.patches.field_sets.elements import element
from listwatch.patches.field_sets.sets import SELF, FieldSet, is_member, member

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType


def is_object(ftype: FieldType, value: Any) -> bool:  # Any: a JSON value
    """Whether this is an object whose fields are owned one by one."""
    form = ftype.form
    if form == "map":
        return not ftype.atomic
    return form == "deduced" and isinstance(value, dict)


def is_associative(ftype: FieldType) -> bool:
    """Whether this is a list whose elements are owned one by one."""
    return ftype.form == "list" and not ftype.atomic


def replaced_whole(ftype: FieldType | None, value: Any, path: str = "") -> list[str]:
    """The objects and lists in a configuration that are owned as a whole, as `.spec.x`."""
    if ftype is None or ftype.form == "untyped" or not isinstance(value, dict | list):
        return []
    found = []
    if isinstance(value, dict):
        if not is_object(ftype, value):
            found.append(path)
        for name, inner in value.items():
            found += replaced_whole(ftype.field(name), inner, f"{path}.{name}")
        return found
    if not is_associative(ftype):
        found.append(path)
    if ftype.form == "list":
        for item in value:
            found += replaced_whole(ftype.items, item, f"{path}[]")
    return found


def everything(ftype: FieldType | None, value: Any) -> FieldSet:  # Any: a JSON value
    """The node of a place with all that is below it; raises UnkeyedError."""
    if ftype is None or not value or not isinstance(value, dict | list):
        return {}
    if isinstance(value, dict):
        if not is_object(ftype, value):
            return {}
        field = ftype.field
        below = {f"f:{name}": everything(field(name), inner) for name, inner in value.items()}
        return {SELF: {}, **below}
    if not is_associative(ftype):
        return {}
    return {SELF: {}, **{
        key: {} if len(found) > 1 else everything(ftype.items, found[0])
        for key, found in elements_of(ftype, value).items()
    }}  # fmt: skip


def elements_of(ftype: FieldType, items: Any) -> dict[str, list[Any]]:  # Any: JSON values
    """The elements of an associative list by their path elements; raises UnkeyedError.

    Mostly there is one for each: lists that are not applied may have several.
    """
    found: dict[str, list[Any]] = {}
    for item in items if isinstance(items, list) else ():
        found.setdefault(element(ftype, item), []).append(item)
    return found


def fields_of(ftype: FieldType, value: Any) -> FieldSet:  # Any: a JSON value
    """What a configuration owns, from its root; raises UnkeyedError."""
    return _owned(ftype, value) or {}


def _owned(ftype: FieldType | None, value: Any) -> FieldSet | None:
    if ftype is None:
        return {}
    if is_object(ftype, value):
        return _owned_in_map(ftype, value) if isinstance(value, dict) else None
    if is_associative(ftype):
        return _owned_in_list(ftype, value)
    return {}


def _owned_in_map(ftype: FieldType, value: dict[str, Any]) -> FieldSet | None:
    fields: FieldSet = {}
    for name, inner in value.items():
        node = _owned(ftype.field(name), inner)
        # A declared object is there by what is in it; data, and what is empty, by itself.
        if inner is None or inner == {} or not ftype.declares(name):
            node = member(_inner(node))
        if node is not None:
            fields[f"f:{name}"] = node
    return fields or None


def _owned_in_list(ftype: FieldType, value: Any) -> FieldSet | None:
    fields: FieldSet = {}
    for key, found in elements_of(ftype, value).items():
        node = _owned(ftype.items, found[0]) if len(found) == 1 else None
        fields[key] = member(_inner(node))
    return fields or None


def _inner(node: FieldSet | None) -> FieldSet:
    if node is None or SELF not in node:
        return node or {}
    return {key: inner for key, inner in node.items() if key != SELF}


def with_named_fields(ftype: FieldType | None, fields: FieldSet) -> FieldSet:
    """The set and every declared field that has something of the set below it."""
    result: FieldSet = {}
    for key, node in fields.items():
        if not node:
            result[key] = node
            continue
        inner, named = None, False
        if ftype is not None and key[0] == "f":
            if ftype.form in ("map", "deduced"):
                inner, named = ftype.field(key[2:]), ftype.declares(key[2:])
        elif ftype is not None and key[0] == "k" and ftype.form == "list":
            inner = ftype.items
        below = with_named_fields(inner, _inner(node))
        result[key] = member(below) if named or is_member(node) else below
    return result
