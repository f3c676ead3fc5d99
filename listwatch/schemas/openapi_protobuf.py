"""OpenAPI's version 2 as protobuf: the messages of gnostic's OpenAPIv2.proto, by a table.

kubectl reads the document in this form alone. Fields that the messages have no place for are left
out; extensions (`x-…`) are kept as YAML, which JSON is. `openapi` hands the result to `api`.
"""

from __future__ import annotations

import struct
from typing import Any

import orjson

# Any: a part of an OpenAPI document, in the whole of this module.
# A row: the field's number, and what it is: a scalar, a message, [a list of those],
# or {a map of those}, which is a message of pairs.
_Row = tuple[int, Any]

_SCHEMA: dict[str, _Row] = {
    "$ref": (1, "text"), "format": (2, "text"), "title": (3, "text"),
    "description": (4, "text"), "default": (5, "any"), "multipleOf": (6, "double"),
    "maximum": (7, "double"), "exclusiveMaximum": (8, "flag"), "minimum": (9, "double"),
    "exclusiveMinimum": (10, "flag"), "maxLength": (11, "integer"), "minLength": (12, "integer"),
    "pattern": (13, "text"), "maxItems": (14, "integer"), "minItems": (15, "integer"),
    "uniqueItems": (16, "flag"), "maxProperties": (17, "integer"),
    "minProperties": (18, "integer"), "required": (19, ["text"]), "enum": (20, ["any"]),
    "additionalProperties": (21, "schema or flag"), "type": (22, "types"),
    "items": (23, "wrapped schema"), "allOf": (24, ["schema"]), "properties": (25, {"schema"}),
    "discriminator": (26, "text"), "readOnly": (27, "flag"), "externalDocs": (29, "docs"),
    "example": (30, "any"), "x-": (31, "any"),
}  # fmt: skip
_OPERATION: dict[str, _Row] = {
    "tags": (1, ["text"]), "summary": (2, "text"), "description": (3, "text"),
    "operationId": (5, "text"), "produces": (6, ["text"]), "consumes": (7, ["text"]),
    "parameters": (8, ["parameter"]), "responses": (9, "responses"), "schemes": (10, ["text"]),
    "deprecated": (11, "flag"), "x-": (13, "any"),
}  # fmt: skip
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_MESSAGES: dict[str, dict[str, _Row]] = {
    "document": {
        "swagger": (1, "text"), "info": (2, "info"), "paths": (8, "paths"),
        "definitions": (9, {"schema"}), "x-": (16, "any"),
    },
    "info": {"title": (1, "text"), "version": (2, "text"), "description": (3, "text")},
    "path": {
        **{method: (number, "operation") for number, method in enumerate(_METHODS, 2)},
        "parameters": (9, ["parameter"]), "x-": (10, "any"),
    },
    "operation": _OPERATION,
    "response": {"description": (1, "text"), "schema": (2, "wrapped schema"), "x-": (5, "any")},
    "schema": _SCHEMA,
    "docs": {"description": (1, "text"), "url": (2, "text")},
    "body": {
        "description": (1, "text"), "name": (2, "text"), "in": (3, "text"),
        "required": (4, "flag"), "schema": (5, "schema"), "x-": (6, "any"),
    },
    "query": {
        "required": (1, "flag"), "in": (2, "text"), "description": (3, "text"),
        "name": (4, "text"), "type": (6, "text"), "format": (7, "text"),
        "uniqueItems": (20, "flag"), "x-": (23, "any"),
    },
    "path parameter": {
        "required": (1, "flag"), "in": (2, "text"), "description": (3, "text"),
        "name": (4, "text"), "type": (5, "text"), "format": (6, "text"),
        "uniqueItems": (19, "flag"), "x-": (22, "any"),
    },
}  # fmt: skip
_VARINT, _DOUBLE, _LENGTH = 0, 1, 2


def document_message(document: Any) -> bytes:
    """A whole document of version 2 as its message."""
    return _message("document", document)


def _message(name: str, value: Any) -> bytes:
    rows = _MESSAGES[name]
    parts = []
    for key, inner in value.items():
        if key.startswith("x-") and "x-" in rows:
            parts.append(_part(rows["x-"][0], _pair(key, _any(inner))))
        elif key in rows:
            parts.append(_field(*rows[key], inner))
    return b"".join(parts)


def _field(number: int, kind: Any, value: Any) -> bytes:
    if isinstance(kind, list):
        return b"".join(_field(number, kind[0], inner) for inner in value)
    if isinstance(kind, set):
        (of,) = kind
        pairs = (_part(1, _pair(name, _message(of, inner))) for name, inner in value.items())
        return _part(number, b"".join(pairs))
    if kind in ("flag", "integer"):
        return _varint(number << 3 | _VARINT) + _varint(int(value) & (1 << 64) - 1)
    if kind == "double":
        return _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)
    return _part(number, _content(kind, value))


def _content(kind: str, value: Any) -> bytes:
    match kind:
        case "text":
            return str(value).encode()
        case "any":
            return _any(value)
        case "types":
            names = value if isinstance(value, list) else [value]
            return b"".join(_part(1, name.encode()) for name in names)
        case "wrapped schema":
            return _part(1, _message("schema", value))
        case "schema or flag":
            is_flag = isinstance(value, bool)
            return _field(2, "flag", value) if is_flag else _field(1, "schema", value)
        case "parameter":
            return _part(1, _parameter(value))
        case "responses":
            answers = ((code, _part(1, _message("response", it))) for code, it in value.items())
            return b"".join(_part(1, _pair(*answer)) for answer in answers)
        case "paths":
            paths = ((path, _message("path", item)) for path, item in value.items())
            return b"".join(_part(2, _pair(*path)) for path in paths)
    return _message(kind, value)


def _parameter(value: Any) -> bytes:
    if value["in"] == "body":
        return _part(1, _message("body", value))
    if value["in"] == "path":
        return _part(2, _part(4, _message("path parameter", value)))
    return _part(2, _part(3, _message("query", value)))


def _any(value: Any) -> bytes:
    return _part(2, orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def _pair(name: str, value: bytes) -> bytes:
    return _part(1, name.encode()) + _part(2, value)


def _part(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)
