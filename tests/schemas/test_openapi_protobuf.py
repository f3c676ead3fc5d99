from __future__ import annotations

from typing import Any

import pytest

from listwatch.schemas.openapi import openapi_v2, openapi_v2_protobuf
from listwatch.schemas.openapi_protobuf import document_message


def definition(schema: dict[str, Any]) -> bytes:  # Any: OpenAPI
    """The message of a schema; everything around it is shorter than 128 bytes."""
    written = document_message({"definitions": {"n": schema}})
    assert written[:1] == b"\x4a"  # definitions = 9
    assert written[2:7:2] == b"\x0a\x0a\x6e"  # a pair, its name, which is n
    assert written[7:8] == b"\x12"
    assert written[8] == len(written[9:])
    return written[9:]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string"}, b"\xb2\x01\x08\x0a\x06string"),
        ({"$ref": "#/a"}, b"\x0a\x03#/a"),
        ({"description": "ü"}, b"\x22\x02\xc3\xbc"),
        ({"uniqueItems": True, "maxLength": 300}, b"\x80\x01\x01\x58\xac\x02"),
        ({"minLength": -1}, b"\x60" + b"\xff" * 9 + b"\x01"),
        ({"maximum": 1.5}, b"\x39\0\0\0\0\0\0\xf8\x3f"),
        ({"required": ["a", "b"]}, b"\x9a\x01\x01a\x9a\x01\x01b"),
        ({"items": {"$ref": "x"}}, b"\xba\x01\x05\x0a\x03\x0a\x01x"),
        ({"additionalProperties": True}, b"\xaa\x01\x02\x10\x01"),
        ({"additionalProperties": {"$ref": "x"}}, b"\xaa\x01\x05\x0a\x03\x0a\x01x"),
        ({"properties": {"p": {"$ref": "x"}}}, b"\xca\x01\x0a\x0a\x08\x0a\x01p\x12\x03\x0a\x01x"),
        ({"x-a": [1]}, b"\xfa\x01\x0d\x0a\x03x-a\x12\x06\x12\x04[1]\n"),
        ({"not": {}, "nothing": 1}, b""),
    ],
)
def test_every_field_of_a_schema_has_its_number(schema: dict[str, Any], message: bytes) -> None:
    assert definition(schema) == message


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ({"name": "b", "in": "body"}, b"\x0a\x09\x12\x01b\x1a\x04body"),
        ({"in": "query", "name": "q"}, b"\x12\x0c\x1a\x0a\x12\x05query\x22\x01q"),
        ({"in": "path", "name": "p"}, b"\x12\x0b\x22\x09\x12\x04path\x22\x01p"),
    ],
)
def test_parameters_are_told_apart_by_where_they_are(
    parameter: dict[str, Any], message: bytes
) -> None:
    written = document_message({"paths": {"/": {"parameters": [parameter]}}})

    assert written.endswith(b"\x0a" + bytes([len(message)]) + message)


def test_the_message_is_another_document_with_a_tag_of_its_own() -> None:
    message, text = openapi_v2_protobuf(), openapi_v2()

    assert message.etag != text.etag
    assert message.body.startswith(b"\x0a\x032.0")
    assert len(message.body) < len(text.body)
