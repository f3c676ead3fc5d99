"""What differs between two objects of a kind, as sets: what was added, what changed, what went.

Equal parts are passed over at the speed of dict comparison, so that comparing costs what changed.
`server_side_apply` learns from it whose fields a write touches.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.patches.field_sets.reading import (
    elements_of,
    everything,
    is_associative,
    is_object,
)
from listwatch.patches.field_sets.sets import FieldSet, member

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType


class Comparison(NamedTuple):
    """What an object has that the other had not, has in another form, and has no more."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.modified or self.removed)


def compare(ftype: FieldType, old: Any, new: Any) -> Comparison:  # Any: objects as JSON
    """Compare two objects of one kind; raises UnkeyedError."""
    # Where every value has its type, the same to Python is the same.
    return Comparison(*_maps(ftype, old, new, differ if ftype.loose else ne))


_Differ = Callable[[Any, Any], bool]
_Nodes = tuple[FieldSet | None, FieldSet | None, FieldSet | None]


def _maps(
    ftype: FieldType, old: dict[str, Any], new: dict[str, Any], differs: _Differ
) -> tuple[FieldSet, FieldSet, FieldSet]:
    added: FieldSet = {}
    modified: FieldSet = {}
    removed: FieldSet = {}
    for name, inner in new.items():
        if name not in old:
            added[f"f:{name}"] = everything(ftype.field(name), inner)
        elif differs(before := old[name], inner):
            nodes = _both(ftype.field(name), before, inner, differs)
            _put(f"f:{name}", nodes, added, modified, removed)
    for name, inner in old.items():
        if name not in new:
            removed[f"f:{name}"] = everything(ftype.field(name), inner)
    return added, modified, removed


def _put(key: str, nodes: _Nodes, *sets: FieldSet) -> None:
    for node, fields in zip(nodes, sets, strict=True):
        if node is not None:
            fields[key] = node


def _both(ftype: FieldType | None, old: Any, new: Any, differs: _Differ) -> _Nodes:
    leaf: _Nodes = (None, {}, None)
    if ftype is None:
        return leaf
    if is_object(ftype, old) or is_object(ftype, new):
        before, after = (value if isinstance(value, dict) else {} for value in (old, new))
        if not before and not after:
            return leaf
        added, modified, removed = _maps(ftype, before, after, differs)
        # A deduced value may have been an object and be none now, or the other way round.
        itself = ftype.form == "deduced" and not all(
            value is None or isinstance(value, dict) for value in (old, new)
        )
        return added or None, member(modified) if itself else modified or None, removed or None
    if is_associative(ftype):
        return _lists(ftype, old, new, differs)
    return leaf


def _lists(ftype: FieldType, old: Any, new: Any, differs: _Differ) -> _Nodes:
    before, after = elements_of(ftype, old), elements_of(ftype, new)
    if not before and not after:
        return None, {}, None
    added: FieldSet = {}
    modified: FieldSet = {}
    removed: FieldSet = {}
    for key, found in after.items():
        there = before.get(key, [])
        if len(found) > 1:
            _repeated(ftype, key, (there, found), (added, modified, removed))
        elif not there:
            added[key] = everything(ftype.items, found[0])
        elif len(there) > 1:
            # It was there several times, as a mark without fields, and is an element again.
            removed[key] = {}
            added[key] = everything(ftype.items, found[0])
        elif differs(there[0], found[0]):
            nodes = _both(ftype.items, there[0], found[0], differs)
            _put(key, nodes, added, modified, removed)
    for key, found in before.items():
        if key not in after:
            removed[key] = {} if len(found) > 1 else everything(ftype.items, found[0])
    return added or None, modified or None, removed or None


def _repeated(
    ftype: FieldType,
    key: str,
    elements: tuple[list[Any], list[Any]],
    sets: tuple[FieldSet, FieldSet, FieldSet],
) -> None:
    there, found = elements
    added, modified, removed = sets
    if len(there) > 1:
        if differ(there, found):
            modified[key] = {}
        return
    if there:
        removed[key] = everything(ftype.items, there[0])
    added[key] = {}


def differ(one: Any, other: Any) -> bool:  # Any: JSON values
    """Whether two values are not the same. Numbers are by value; true is no number."""
    if one is other:
        return False
    if one != other:
        return True
    return isinstance(one, dict | list | bool | int | float) and not _same(one, other)


def _same(one: Any, other: Any) -> bool:
    # They are equal as Python sees it: all that can be wrong is a boolean that met a number.
    if isinstance(one, dict):
        return all(_same(inner, other[name]) for name, inner in one.items())
    if isinstance(one, list):
        return all(map(_same, one, other))
    return isinstance(one, bool) is isinstance(other, bool)
