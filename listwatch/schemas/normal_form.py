"""The normal form of a kind's objects as a JSON schema, compiled.

It is narrow on purpose: an object that it accepts is certainly in normal form; one that it refuses
may be, and is walked by `decoding`, which is the only caller.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from listwatch.schemas.shapes import SCHEMA, Field, Kind, Shape, named_shape

JSONSchema = dict[str, Any]  # Any: a JSON schema, of nested dicts and lists

# All but the 29th of February, which takes a calendar.
_DAY_OF_ANY_YEAR = (
    "(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    "|(?:0[13578]|1[02])-31)"
)

_SCALARS: dict[Kind, JSONSchema] = {
    Kind.STRING: {"type": "string"},
    Kind.NUMBER: {"type": "number"},
    Kind.BOOLEAN: {"type": "boolean"},
    Kind.BYTES: {
        "type": "string",
        "pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    },
    Kind.TIME: {
        "type": "string",
        "pattern": rf"^[12][0-9]{{3}}-{_DAY_OF_ANY_YEAR}"
        r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$",
    },
    Kind.MICRO_TIME: {
        "type": "string",
        "pattern": rf"^[12][0-9]{{3}}-{_DAY_OF_ANY_YEAR}"
        r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z$",
    },
    # Numbers below 1000 need no other suffix, and these suffixes need no other number.
    Kind.QUANTITY: {"type": "string", "pattern": "^(?:[1-9][0-9]{0,2}(?:|m|k|M|G|Ki|Mi|Gi)|0)$"},
    Kind.INT_OR_STRING: {
        "anyOf": [
            {"type": "string"},
            {"type": "integer", "minimum": -(1 << 31) + 1, "maximum": (1 << 31) - 1},
        ]
    },
    Kind.ANY_OBJECT: {"type": "object"},
    Kind.ANY: {},
}


def validator(shape: Shape) -> jsonschema_rs.Draft4Validator:
    """What tells whether an object of this shape is in normal form."""
    definitions: dict[str, JSONSchema] = {}
    root = _schema(shape, definitions)
    # Draft 4 alone holds that 1.0 is no integer, as Go does.
    return jsonschema_rs.Draft4Validator({**root, "definitions": definitions})


def _schema(shape: Shape, definitions: dict[str, JSONSchema]) -> JSONSchema:
    if shape.kind is Kind.OBJECT and shape.name:
        if shape.name not in definitions:
            definitions[shape.name] = {}  # stands for itself while its fields are looked at
            definitions[shape.name] = _object(shape, definitions)
        return {"$ref": f"#/definitions/{shape.name}"}
    if shape.kind is Kind.OBJECT:
        return _object(shape, definitions)
    if shape.kind is Kind.LIST:
        return {"type": "array", "items": _schema(shape.items, definitions)}
    if shape.kind is Kind.MAP:
        return {"type": "object", "additionalProperties": _schema(shape.items, definitions)}
    if shape.kind in (Kind.SCHEMA_OR_LIST, Kind.SCHEMA_OR_BOOLEAN):
        other = "array" if shape.kind is Kind.SCHEMA_OR_LIST else "boolean"
        one = _schema(named_shape(SCHEMA), definitions)
        return {"anyOf": [one, {"type": other, "items": one}]}
    if shape.kind is Kind.INTEGER:
        bound = 1 << shape.bits - 1
        return {"type": "integer", "minimum": -bound, "maximum": bound - 1}
    return dict(_SCALARS[shape.kind])


def _object(shape: Shape, definitions: dict[str, JSONSchema]) -> JSONSchema:
    properties = {name: _field(field, definitions) for name, field in shape.fields.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


_NOT_ZERO: dict[Kind, JSONSchema] = {
    Kind.LIST: {"minItems": 1},
    Kind.MAP: {"minProperties": 1},
    Kind.STRING: {"minLength": 1},
    Kind.BYTES: {"minLength": 1},
    Kind.BOOLEAN: {"enum": [True]},
    Kind.INTEGER: {"not": {"enum": [0]}},
    Kind.NUMBER: {"not": {"enum": [0]}},
}


def _field(field: Field, definitions: dict[str, JSONSchema]) -> JSONSchema:
    schema = _schema(field.shape, definitions)
    if field.omits_zero:
        schema |= _NOT_ZERO.get(field.shape.kind, {})
    if field.zero is None:
        schema = {"anyOf": [{"type": "null"}, schema]}
    return schema
