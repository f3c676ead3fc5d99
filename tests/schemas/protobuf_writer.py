"""The other direction of `schemas.protobuf`, for tests: JSON objects into messages."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from listwatch.schemas import facts

META = "k8s.io.apimachinery.pkg.apis.meta.v1."


def envelope(api_version: str, kind: str, message: str, document: dict[str, Any]) -> bytes:
    """A whole body; `message` is the name of the document's message."""
    fields = {k: v for k, v in document.items() if k not in ("apiVersion", "kind")}
    type_meta = _text(1, api_version) + _text(2, kind)
    raw = write(message, fields)
    unknown = _bytes(1, type_meta) + _bytes(2, raw) + _text(3, "") + _text(4, "")
    return b"k8s\0" + unknown


def write(message: str, value: Any) -> bytes:  # Any: JSON
    """One message of a JSON value."""
    name = message.rpartition(".")[2]
    special = _SPECIAL.get(name)
    if special is not None:
        return special(value)
    rows = facts.message(message)
    assert rows is not None, message
    written = b""
    for number, field, label, kind, flags in rows:
        if "i" in flags:
            inner = {key for _, key, *_ in facts.message(kind) or ()}
            part = {k: v for k, v in value.items() if k in inner}
            if part:
                written += _bytes(number, write(kind, part))
        elif field in value:
            written += _field(number, label, kind, value[field])
    return written


def _field(number: int, label: str, kind: Any, value: Any) -> bytes:
    if label == "map":
        entries = (
            _field(1, "optional", kind[0], key) + _field(2, "optional", kind[1], item)
            for key, item in value.items()
        )
        return b"".join(_bytes(number, entry) for entry in entries)
    if label == "repeated":
        return b"".join(_field(number, "optional", kind, item) for item in value)
    if kind == "string":
        return _text(number, value)
    if kind == "bytes":
        return _bytes(number, base64.b64decode(value))
    if kind == "double":
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if kind in ("int32", "int64", "bool"):
        return varint(number << 3) + varint(int(value))
    return _bytes(number, write(kind, value))


def varint(value: int) -> bytes:
    """A number, seven bits a byte; a negative one as 64 bits."""
    value &= (1 << 64) - 1
    written = b""
    while value > 0x7F:
        written += bytes([value & 0x7F | 0x80])
        value >>= 7
    return written + bytes([value])


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def _moment(text: str | None) -> bytes:
    if text is None:
        return b""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    seconds = int(moment.replace(microsecond=0).timestamp())
    return varint(1 << 3) + varint(seconds) + varint(2 << 3) + varint(moment.microsecond * 1000)


def _int_or_string(value: int | str) -> bytes:
    number, text = (0, value) if isinstance(value, str) else (value, "")
    kind = isinstance(value, str)
    return b"\x08" + varint(kind) + b"\x10" + varint(number) + _text(3, text)


_SPECIAL: dict[str, Callable[[Any], bytes]] = {
    "Time": _moment,
    "MicroTime": _moment,
    "IntOrString": _int_or_string,
    "Quantity": lambda value: _text(1, value),
    "FieldsV1": lambda value: _bytes(1, json.dumps(value).encode()),
    "RawExtension": lambda value: _bytes(1, json.dumps(value).encode()),
}
