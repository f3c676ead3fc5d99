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
    """The value without the members of a set and all below them; null if nothing is left of it.

    Parts of the value stand in the result. Raises UnkeyedError.
    """
    if ftype is None or not fields:
        return value
    if isinstance(value, dict) and is_object(ftype, value):
        return _from_map(ftype, value, fields)
    if isinstance(value, list) and is_associative(ftype):
        return _from_list(ftype, value, fields)
    return value if is_scalar(value) else None


def is_scalar(value: Any) -> bool:  # Any: a JSON value
    """Whether it is neither an object nor a list."""
    return not isinstance(value, dict | list)


def _from_map(ftype: FieldType, value: dict[str, Any], fields: FieldSet) -> Any:
    left = {}
    for name, inner in value.items():
        node = fields.get(f"f:{name}")
        if node is None:
            left[name] = inner
        elif not is_member(node):
            left[name] = remove(ftype.field(name), inner, node)
    return left or None


def _from_list(ftype: FieldType, value: list[Any], fields: FieldSet) -> Any:
    left = []
    for item in value:
        node = fields.get(element(ftype, item))
        if node is None:
            left.append(item)
        elif not is_member(node):
            left.append(remove(ftype.items, item, node))
    return left or None
