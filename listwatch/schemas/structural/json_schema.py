"""A schema of a definition as a JSON schema, compiled: it tells in microseconds what is right.

It is narrow on purpose: what it accepts is certainly valid; what it refuses may be, and is walked
by `validating`, which is the only caller and has the words for what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from listwatch.schemas.structural import formats
from listwatch.schemas.structural.nodes import Schema

JSONSchema = dict[str, Any]  # Any: a JSON schema, of nested dicts and lists

_KEPT = (
    "type", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
    "pattern", "maxItems", "minItems", "multipleOf", "enum", "maxProperties", "minProperties",
    "required",
)  # fmt: skip
_REFUSED: JSONSchema = {"not": {}}  # what only the walk can tell
_RANGES = {"int32": 31, "int64": 63}


def validator(schema: Schema) -> jsonschema_rs.Draft4Validator | None:
    """What tells that an object is valid; None if the schema cannot be compiled."""
    try:
        # Draft 4 has the boolean bounds of OpenAPI, and does not take 1.0 for an integer.
        return jsonschema_rs.Draft4Validator(_translated(schema))
    except ValueError:
        return None


def _translated(schema: Schema) -> JSONSchema:
    made: JSONSchema = {key: schema[key] for key in _KEPT if schema.get(key) not in (None, [])}
    if schema.get("x-kubernetes-int-or-string"):
        made.pop("type", None)
        made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    name = schema.get("format") or ""
    if formats.is_checked(name):
        return dict(_REFUSED)
    if made.get("type") == "integer" and name in _RANGES:
        bound = 1 << _RANGES[name]
        made = {"allOf": [made, {"minimum": -bound, "maximum": bound - 1}]}
    if schema.get("properties"):
        made["properties"] = {k: _translated(v) for k, v in schema["properties"].items()}
    for key in ("additionalProperties", "items", "not"):
        inner = schema.get(key)
        if isinstance(inner, Mapping):
            made[key] = _translated(inner)
    junctors: list[JSONSchema] = [
        {word: [_translated(inner) for inner in schema[word]]}
        for word in ("allOf", "anyOf", "oneOf")
        if schema.get(word) and not (word == "anyOf" and "anyOf" in made)
    ]
    if junctors:
        made = {"allOf": [made, *junctors]}
    if schema.get("nullable"):
        return {"anyOf": [{"type": "null"}, made]}
    return made
