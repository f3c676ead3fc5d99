"""An object without some of its fields.

`server_side_apply` takes out what a manager had applied before and names no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.patches.field_sets.elements import element
from listwatch.patches.field_sets.reading import is_associative, is_object
from listwatch.patches.field_sets.sets import FieldSet, is_member

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType


def remove(ftype: FieldType | None, value: Any, fields: FieldSet) -> Any:  # Any: JSON values
    """The value without the members of a set and all below them.

    What is emptied from within stays, empty. Parts of the value stand in the result. Raises
    UnkeyedError.
    """
    if ftype is None or not fields or not value:
        return value
    if isinstance(value, dict):
        return _from_map(ftype, value, fields) if is_object(ftype, value) else {}
    if isinstance(value, list):
        return _from_list(ftype, value, fields) if is_associative(ftype) else []
    return value


def _from_map(ftype: FieldType, value: dict[str, Any], fields: FieldSet) -> dict[str, Any]:
    left = {}
    for name, inner in value.items():
        node = fields.get(f"f:{name}")
        if node is None:
            left[name] = inner
        elif not is_member(node):
            left[name] = remove(ftype.field(name), inner, node)
    return left


def _from_list(ftype: FieldType, value: list[Any], fields: FieldSet) -> list[Any]:
    left = []
    for item in value:
        node = fields.get(element(ftype, item))
        if node is None:
            left.append(item)
        elif not is_member(node):
            left.append(remove(ftype.items, item, node))
    return left
