"""Objects as the real server's refusals show them: its own structures, every field in its place.

What of a pod or a claim may not change is told there as the difference of two such structures,
written as JSON with the names of their fields. `data/structures-*.json.gz` has these names and
forms. The callers are the rules for updates in `validation`.
"""

from __future__ import annotations

import difflib
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from listwatch.schemas.facts import structure_facts

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

POD_SPEC, CLAIM_SPEC = "PodSpec", "PersistentVolumeClaimSpec"
POD_TEMPLATE = "PodTemplateSpec"
VOLUME_SOURCE, DEBUG_CONTAINER = "PersistentVolumeSource", "EphemeralContainer"
_CONTEXT = 3  # lines that are shown around a difference
_EMPTY: tuple[Any, ...] = ("", 0, False, None, [], {})  # Any: JSON values
# Stand beside each other in the API, and inside of the security context in the server.
_MOVED = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


class _Field(NamedTuple):
    """One field: `shown` there, `name` in the API, and what stands there if nothing was said."""

    shown: str
    name: str
    form: str  # the JSON of nothing, or `struct`; behind a `*` a pointer, which may be null
    type: str  # of a structure, or of what is in a list
    flags: str  # o: left out when empty; i: its fields stand in the parent

    @property
    def is_pointer(self) -> bool:
        return self.form.startswith("*")

    @property
    def is_structure(self) -> bool:
        return self.form.endswith("struct")


def difference(type_: str, old: JSONObject, new: JSONObject) -> str:
    """The lines in which two structures differ, with their neighbours; '' if they are equal."""
    before, after = ([f"{line}\n" for line in dumped(type_, one).split("\n")] for one in (old, new))
    lines = list(difflib.unified_diff(before, after, n=_CONTEXT))
    return "".join(lines[2:])  # without the names of files


def dumped(type_: str, document: JSONObject) -> str:
    """A structure as indented JSON."""
    text = orjson.dumps(_whole(type_, document), option=orjson.OPT_INDENT_2).decode()
    lines = []
    for line in text.split("\n"):
        stripped = line.lstrip(" ")
        lines.append(" " * ((len(line) - len(stripped)) // 2) + stripped.translate(_ESCAPES))
    return "\n".join(lines)


def written(type_: str, document: JSONObject) -> str:
    """A structure as JSON in one line, which is how a fault shows a value."""
    return orjson.dumps(_whole(type_, document)).decode().translate(_ESCAPES)


def _whole(type_: str, document: JSONObject) -> dict[str, Any]:  # Any: JSON values
    if type_ == POD_SPEC:
        return _structure(type_, _with_moved(document))
    if type_ == POD_TEMPLATE:
        # Its metadata has no name of its own there: the fields stand beside the spec.
        metadata = _structure("ObjectMeta", document.get("metadata") or {})
        return {**metadata, "Spec": _whole(POD_SPEC, document.get("spec") or {})}
    return _structure(type_, document)


@cache
def _fields(type_: str) -> tuple[_Field, ...]:
    return tuple(_Field(*row) for row in structure_facts()[type_])


def _structure(type_: str, document: JSONObject) -> dict[str, Any]:  # Any: JSON values
    made: dict[str, Any] = {}
    for field in _fields(type_):
        if "i" in field.flags:
            made.update(_structure(field.type, document))
            continue
        value = _value(field, document.get(field.name))
        if "o" not in field.flags or value not in _EMPTY:
            made[field.shown] = value
    return made


def _value(field: _Field, value: Any) -> Any:  # Any: JSON values
    if value is None:
        if field.is_structure and not field.is_pointer:
            return _structure(field.type, {})
        return None if field.is_pointer else orjson.loads(field.form)
    if field.is_structure:
        return _structure(field.type, value)
    if isinstance(value, list):
        if not value:
            return None  # as it was read from the store
        return [_structure(field.type, one) for one in value] if field.type else value
    # Maps are written in the order of their keys.
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _with_moved(spec: JSONObject) -> JSONObject:
    moved = {name: spec[name] for name in _MOVED if name in spec}
    return {**spec, "securityContext": {**(spec.get("securityContext") or {}), **moved}}
