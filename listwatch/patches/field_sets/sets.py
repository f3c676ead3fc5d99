"""The algebra of field sets.

A set maps path elements (`f:name`, `k:{...}`, `v:...`) to what is below them. An empty dict below
is a member without members of its own; one that is not empty holds members, and its own place is
one if it has the key `.`. Used by all modules of this package and by `server_side_apply`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

FieldSet = dict[str, Any]  # Any: a FieldSet; the type cannot be written recursively
SELF = "."


def is_member(node: Mapping[str, Any]) -> bool:
    """Whether the place that has this node is in the set, and not only something below it."""
    return not node or SELF in node


def member(below: FieldSet) -> FieldSet:
    """The node of a place that is in the set, with what is below it."""
    return {SELF: {}, **below} if below else {}


def _node(below: FieldSet, *, itself: bool) -> FieldSet | None:
    if itself:
        return member(below)
    return below or None


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in either; the keys of the second behind those of the first."""
    if not one or not other:
        return one or other
    merged = dict(one)
    for key, node in other.items():
        there = merged.get(key)
        if there is None:
            merged[key] = node
        elif there != node:
            below = union(_below(there), _below(node))
            merged[key] = member(below) if is_member(there) or is_member(node) else below
    return merged


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in both."""
    common: FieldSet = {}
    for key, node in one.items():
        there = other.get(key)
        if there is None or key == SELF:
            continue
        itself = is_member(node) and is_member(there)
        found = _node(intersection(_below(node), _below(there)), itself=itself)
        if found is not None:
            common[key] = found
    return common


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in the first but not in the second, each place for itself."""
    if not other:
        return one
    left: FieldSet = {}
    for key, node in one.items():
        there = other.get(key)
        if there is None:
            left[key] = node
        elif key != SELF:
            itself = is_member(node) and not is_member(there)
            found = _node(difference(_below(node), _below(there)), itself=itself)
            if found is not None:
                left[key] = found
    return left


def without(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in the first and neither in the second nor below something that is."""
    if not other:
        return one
    left: FieldSet = {}
    for key, node in one.items():
        there = other.get(key)
        if there is None or key == SELF:
            left[key] = node
        elif not is_member(there):
            found = _node(without(_below(node), there), itself=is_member(node))
            if found is not None:
                left[key] = found
    return left


def covers(one: FieldSet, other: FieldSet) -> bool:
    """Whether all that is in the second is in the first."""
    for key, node in other.items():
        if key == SELF:
            continue
        there = one.get(key)
        if there is None or (is_member(node) and not is_member(there)):
            return False
        if node and not covers(there, node):
            return False
    return True


ANY = "*"


def within(one: FieldSet, pattern: FieldSet) -> FieldSet:
    """What of a set lies on the paths of a pattern or below their ends; `*` is any element."""
    if not pattern:
        return one
    kept: FieldSet = {}
    for key, node in one.items():
        there = pattern.get(key, pattern.get(ANY))
        if key != SELF and there is not None:
            found = _node(within(_below(node), there), itself=is_member(node))
            if found is not None:
                kept[key] = found
    return kept


def has(fields: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Whether a place is in the set."""
    node: Any = fields
    for element in path:
        node = node.get(element)
        if node is None:
            return False
    return is_member(node)


def at(path: tuple[str, ...]) -> FieldSet:
    """The set of one place."""
    fields: FieldSet = {}
    for element in reversed(path):
        fields = {element: fields}
    return fields


def paths(fields: FieldSet) -> Iterator[tuple[str, ...]]:
    """Every place in the set: those of a level first, then what is below each of them."""
    for key, node in fields.items():
        if key != SELF and is_member(node):
            yield (key,)
    for key, node in fields.items():
        if key != SELF:
            for path in paths(node):
                yield (key, *path)


def _below(node: FieldSet) -> FieldSet:
    if SELF in node:
        return {key: inner for key, inner in node.items() if key != SELF}
    return node
