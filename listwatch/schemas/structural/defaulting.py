"""Defaults of a schema, and nulls that mean nothing.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting. The caller is `kinds`, on every
write and on every reading of what was stored before the default was there.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from listwatch.schemas.structural.nodes import Node


def drop_nulls(value: Any, node: Node | None) -> None:  # Any: JSON
    """Take off, in place, the nulls of fields that can be none and have no default."""
    if node is None:
        return
    if isinstance(value, dict):
        dropped = []
        for key, inner in value.items():
            child = node.child(key)
            if inner is not None:
                drop_nulls(inner, child)
            elif child is not None and child.drops_null():
                dropped.append(key)
        for key in dropped:
            del value[key]
    elif isinstance(value, list):
        for inner in value:
            drop_nulls(inner, node.items)


def apply_defaults(value: Any, node: Node | None) -> bool:  # Any: JSON
    """Fill in, in place, what is left out; whether anything was.

    A default applies where its parent is there; what it brings is completed in turn.
    """
    if node is None:
        return False
    changed = False
    if isinstance(value, dict):
        for key, child in node.properties.items():
            if child.has_default and key not in value:
                value[key] = copy.deepcopy(child.default)
                changed = True
        for key in value:
            changed = _complete(value, key, node.child(key)) or changed
    elif isinstance(value, list):
        for index in range(len(value)):
            changed = _complete(value, index, node.items) or changed
    return changed


def _complete(holder: Any, place: Any, node: Node | None) -> bool:
    if node is None:
        return False
    value = holder[place]
    if value is None and node.replaces_null():
        value = holder[place] = copy.deepcopy(node.default)
        apply_defaults(value, node)
        return True
    return isinstance(value, dict | list) and apply_defaults(value, node)
