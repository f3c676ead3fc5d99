"""Bodies in Kubernetes' protobuf form, read into JSON objects by tables.

kubectl and the typed Go clients send built-in kinds so: four bytes, an envelope that names the
kind, and in it the message, whose fields the data file numbers. What is said differently in JSON
(times, quantities and the like) is in `protobuf_forms`. The caller is `api`'s parser; the
object goes on as a JSON body would.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.protocol.errors import StatusError, bad_request
from listwatch.protocol.kinds import GroupVersionKind, split_api_version
from listwatch.schemas import facts
from listwatch.schemas.protobuf_forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.objects import JSONObject

MAGIC = b"k8s\0"
_UNKNOWN = "k8s.io.apimachinery.pkg.runtime.Unknown"
_META = "k8s.io.apimachinery.pkg.apis.meta.v1."
_META_KINDS = frozenset({"CreateOptions", "DeleteOptions", "GetOptions", "ListOptions"}) | {
    "PatchOptions", "UpdateOptions", "Status", "List",
}  # fmt: skip
_DEPTH = 100  # of messages within messages; Go's own decoder allows 10,000, Python no thousand


def read(body: bytes, default: GroupVersionKind | None = None) -> JSONObject:
    """The object in a body, its apiVersion and kind first; raises StatusError 400, nothing else.

    `default` is the kind of a body that names none. Fields without a number in the tables, of a
    newer version, fall away, as they do in the original.
    """
    if not body.startswith(MAGIC):
        raise bad_request(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    try:
        envelope = _message(_plan(_UNKNOWN), body, len(MAGIC), len(body), 0)
        api_version, kind = envelope.get("apiVersion", ""), envelope.get("kind", "")
        if default is not None and not (api_version and kind):
            api_version, kind = api_version or default.api_version, kind or default.kind
        raw: bytes = envelope.get("raw", b"")
        plan = _plan(_message_of(api_version, kind))
        document = _message(plan, raw, 0, len(raw), 0)
    except (_FaultError, ValueError, OverflowError) as error:
        raise bad_request(f"unable to decode protobuf: {error}") from None
    return {"apiVersion": api_version, "kind": kind, **document}


class _FaultError(Exception):
    """Bytes that are no message."""


def _message_of(api_version: str, kind: str) -> str:
    group, version = split_api_version(api_version)
    schema = facts.schema_name(GroupVersionKind(group, version, kind))
    name = None if schema is None else facts.message_name(schema)
    if name is None and kind in _META_KINDS:
        name = f"{_META}{kind}"
    if name is None or facts.message(name) is None:
        raise StatusError(
            400, "BadRequest", f'no kind "{kind}" is registered for version "{api_version}"'
        )
    return name


class _Field(NamedTuple):
    """How one field is read: its wire type, and the function for one value."""

    name: str
    label: str
    wire: int
    scalar: Callable[[Any], Any] | None  # Any: an integer, or bytes; gives a JSON value
    message: str
    drops_zero: bool
    inlined: bool
    key: _Field | None = None  # of a map, whose own is that of its values


_Plan = dict[int, _Field]
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LENGTHS = {_FIXED64: 8, _FIXED32: 4}


def _int32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def _int64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


_SCALARS: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "string": (_BYTES, lambda value: value.decode("utf-8", "replace")),
    "bytes": (_BYTES, lambda value: b64encode(value).decode()),
    "bool": (_VARINT, bool),
    "int32": (_VARINT, _int32),
    "int64": (_VARINT, _int64),
    "double": (_FIXED64, lambda value: struct.unpack("<d", value)[0]),
}


@cache
def _plan(name: str) -> _Plan:
    rows = facts.message(name)
    if rows is None:
        raise _FaultError(f"no message {name}")
    return {number: _field(name, *rest) for number, *rest in rows}


def _field(owner: str, name: str, label: str, kind: Any, flags: str) -> _Field:
    if label == "map":
        key, value = kind
        entry = _field("", name, "optional", value, "")
        return entry._replace(label=label, wire=_BYTES, key=_field("", "", "optional", key, ""))
    drops = "o" in flags and "p" not in flags
    if kind in _SCALARS:
        wire, scalar = _SCALARS[kind]
        if kind == "bytes" and (owner == _UNKNOWN or owner in FORMS):
            scalar = bytes  # read again by who asked for it
        return _Field(name, label, wire, scalar, "", drops, inlined=False)
    return _Field(name, label, _BYTES, None, kind, drops, inlined="i" in flags)


def _message(plan: _Plan, data: bytes, at: int, end: int, depth: int) -> JSONObject:
    result: JSONObject = {}
    while at < end:
        tag, at = _varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise _FaultError(f"illegal tag {number} (wire type {wire})")
        field = plan.get(number)
        value, at = _raw(wire, data, at, end)
        if field is None:
            continue
        if wire != field.wire:
            if field.label != "repeated" or wire != _BYTES or field.wire == _BYTES:
                raise _FaultError(f"wrong wireType = {wire} for field {field.name}")
            result.setdefault(field.name, []).extend(_packed(field, value))
        elif field.label == "map":
            key, entry = _entry(field, value, depth)
            result.setdefault(field.name, {})[key] = entry
        elif field.label == "repeated":
            result.setdefault(field.name, []).append(_value(field, value, depth))
        elif field.inlined:
            result |= _value(field, value, depth)
        else:
            _set(result, field, _value(field, value, depth))
    return result


def _set(result: JSONObject, field: _Field, value: Any) -> None:
    if field.message:
        before = result.get(field.name)
        if isinstance(before, dict) and isinstance(value, dict):
            value = {**before, **value}  # a message in two pieces is one
        if value is not None or not field.drops_zero:
            result[field.name] = value
    elif value or not field.drops_zero:
        result[field.name] = value
    else:
        result.pop(field.name, None)


def _value(field: _Field, value: Any, depth: int) -> Any:
    if field.scalar is not None:
        return field.scalar(value)
    if depth >= _DEPTH:
        raise _FaultError("exceeded max depth")
    message = _message(_plan(field.message), value, 0, len(value), depth + 1)
    form = FORMS.get(field.message)
    return message if form is None else form(message)


def _entry(field: _Field, data: bytes, depth: int) -> tuple[str, Any]:
    assert field.key is not None
    key, value, at = b"", _MISSING, 0
    while at < len(data):
        tag, at = _varint(data, at, len(data))
        piece, at = _raw(tag & 7, data, at, len(data))
        if tag >> 3 == 1 and tag & 7 == _BYTES:
            key = piece
        elif tag >> 3 == 2:
            if tag & 7 != (_BYTES if field.scalar is None else field.wire):
                raise _FaultError(f"wrong wireType = {tag & 7} for field {field.name}")
            value = piece
    if value is _MISSING:
        value = b""  # every map of the tables has values of a length
    return key.decode("utf-8", "replace"), _value(field, value, depth)


_MISSING: Any = object()


def _packed(field: _Field, data: bytes) -> list[Any]:
    assert field.scalar is not None
    values, at = [], 0
    while at < len(data):
        value, at = _raw(field.wire, data, at, len(data))
        values.append(field.scalar(value))
    return values


def _raw(wire: int, data: bytes, at: int, end: int) -> tuple[Any, int]:
    if wire == _BYTES:
        length, at = _varint(data, at, end)
        if length > end - at:
            raise _FaultError("unexpected EOF")
        return data[at : at + length], at + length
    if wire == _VARINT:
        return _varint(data, at, end)
    if wire not in _LENGTHS:
        raise _FaultError(f"illegal wireType {wire}")
    length = _LENGTHS[wire]
    if length > end - at:
        raise _FaultError("unexpected EOF")
    return data[at : at + length], at + length


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift >= 70:
            raise _FaultError("integer overflow")
    raise _FaultError("unexpected EOF")
