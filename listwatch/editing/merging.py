"""Two people changed one object: what each of them changed, and both changes in one.

Used by `form` when a form turns out to be stale.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from listwatch.protocol.objects import JSONObject

Value = Any  # Any: a JSON value, or MISSING


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING: Value = _Missing()
# What tells elements of a list apart, where all of them have it.
_KEYS = ("name", "type", "uid", "key", "containerPort", "port", "ip")


class DiffLine(NamedTuple):
    """One line of a difference; `sign` is '+', '-', ' ' or '@' for a gap."""

    sign: str
    text: str


def difference(before: str, after: str) -> list[DiffLine]:
    """What changed between two texts, with three lines around each place."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    return [
        DiffLine("@", "") if line.startswith("@@") else DiffLine(line[:1], line[1:])
        for line in list(lines)[3:]  # two names and the first gap
    ]


@dataclass(slots=True)
class Merge:
    """Both changes in one: where both changed the same place, mine stands and `both` names it."""

    document: JSONObject
    both: list[str] = field(default_factory=list)


def merge(base: JSONObject, mine: JSONObject, theirs: JSONObject) -> Merge:
    """Put my changes on top of theirs; the arguments stay as they are."""
    result = Merge({})
    result.document = _merged(base, mine, theirs, "", result.both)
    return result


def _merged(base: Value, mine: Value, theirs: Value, path: str, both: list[str]) -> Value:
    if _same(mine, theirs) or _same(base, theirs):
        return mine
    if _same(base, mine):
        return theirs
    if isinstance(mine, dict) and isinstance(theirs, dict):
        old = base if isinstance(base, dict) else {}
        return _merged_objects(old, mine, theirs, path, both)
    if isinstance(mine, list) and isinstance(theirs, list) and isinstance(base, list):
        key = _key_of(base, mine, theirs)
        if key:
            return _merged_lists(base, mine, theirs, key, path, both)
    both.append(path)
    return mine


def _same(one: Value, other: Value) -> bool:
    """Equality of JSON: true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


def _merged_objects(
    base: JSONObject, mine: JSONObject, theirs: JSONObject, path: str, both: list[str]
) -> JSONObject:
    result = {}
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        here = f"{path}.{name}" if path else name
        old, my, their = (side.get(name, MISSING) for side in (base, mine, theirs))
        value = _merged(old, my, their, here, both)
        if value is not MISSING:
            result[name] = value
    return result


def _merged_lists(
    base: list[Value], mine: list[Value], theirs: list[Value], key: str, path: str, both: list[str]
) -> list[Value]:
    sides = [{element[key]: element for element in side} for side in (base, mine, theirs)]
    names = [*sides[1], *(name for name in sides[2] if name not in sides[1])]
    result = []
    for name in names:
        old, my, their = (side.get(name, MISSING) for side in sides)
        value = _merged(old, my, their, f"{path}[{name}]", both)
        if value is not MISSING:
            result.append(value)
    return result


def _key_of(*sides: list[Value]) -> str:
    """The field that tells the elements of all three lists apart; '' if there is none."""
    for key in _KEYS:
        if all(_tells_apart(side, key) for side in sides):
            return key
    return ""


def _tells_apart(elements: list[Value], key: str) -> bool:
    if not all(isinstance(e, dict) and isinstance(e.get(key), str | int) for e in elements):
        return False
    return len({e[key] for e in elements}) == len(elements)
