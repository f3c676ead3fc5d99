"""What is wrong with a schema: whether it is structural, and says what can be checked.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation and pkg/apiserver/schema. The
caller is `definition_faults`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from listwatch.protocol.errors import Cause
from listwatch.schemas.structural import patterns
from listwatch.schemas.structural.field_paths import FieldPathError, follow
from listwatch.schemas.structural.list_faults import list_faults, map_faults
from listwatch.schemas.structural.list_types import duplicates
from listwatch.schemas.structural.nodes import Node, Schema
from listwatch.schemas.structural.pruning import prune
from listwatch.schemas.structural.rules import compile_fault
from listwatch.schemas.structural.validating import faults as value_faults
from listwatch.schemas.validation.faults import forbidden, invalid, not_supported, required

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_NEVER = {
    "$ref": "$ref is not supported",
    "definitions": "definitions is not supported",
    "dependencies": "dependencies is not supported",
    "id": "id is not supported",
    "additionalItems": "additionalItems is not supported",
    "patternProperties": "patternProperties is not supported",
}
# What says how a place looks, not which values are right: it belongs to the place itself.
_STATES = {
    "description": "empty", "type": "empty", "title": "empty",
    "x-kubernetes-validations": "empty", "x-kubernetes-list-map-keys": "empty",
    "nullable": "false", "x-kubernetes-preserve-unknown-fields": "false",
    "x-kubernetes-embedded-resource": "false", "x-kubernetes-int-or-string": "false",
}  # fmt: skip
_STRUCTURE = (
    "description", "type", "title", "default", "additionalProperties", "nullable",
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
    "x-kubernetes-validations", "x-kubernetes-int-or-string",
)  # fmt: skip
_UNIQUE = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def schema_faults(schema: Schema, path: str) -> list[Cause]:
    """The faults of a whole schema; `path` is where it stands in the definition."""
    found: list[Cause] = []
    kind = schema.get("type")
    if not kind:
        found.append(required(f"{path}.type", "must not be empty at the root"))
    elif kind != "object" and kind in _TYPES:
        found.append(invalid(f"{path}.type", kind, "must be object at the root"))
    if schema.get("nullable"):
        found.append(forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    if schema.get("additionalProperties") is not None:
        found.append(forbidden(f"{path}.additionalProperties", "must not be used at the root"))
    found += _object_types(schema, path)
    found += _metadata(schema, path)
    found += _place(schema, path, "")
    return found


def _object_types(schema: Schema, path: str) -> list[Cause]:
    """What an object has wherever it stands has the types that it has everywhere."""
    properties = schema.get("properties") or {}
    wanted = {"apiVersion": "string", "kind": "string", "metadata": "object"}
    return [
        invalid(f"{path}.properties[{name}].type", kind, f"must be {right}")
        for name, right in wanted.items()
        if name in properties and (kind := properties[name].get("type") or "") != right
    ]


def _metadata(schema: Schema, path: str) -> list[Cause]:
    metadata = (schema.get("properties") or {}).get("metadata")
    if not isinstance(metadata, Mapping):
        return []
    field = f"{path}.properties[metadata]"
    more = set(metadata) - {"type", "properties", "description", "title"}
    if more or set(metadata.get("properties") or ()) - {"name", "generateName"}:
        why = (
            "must not specify anything other than name and generateName, but metadata is "
            "implicitly specified"
        )
        return [forbidden(field, why)]
    return []


def _place(schema: Schema, path: str, where: str) -> list[Cause]:
    kind = schema.get("type") or ""
    any_type = schema.get("x-kubernetes-int-or-string") or schema.get(
        "x-kubernetes-preserve-unknown-fields"
    )
    found = [
        forbidden(f"{path}.{word}", why)
        for word, why in _NEVER.items()
        if schema.get(word) or schema.get(word) is False
    ]
    if kind and kind not in _TYPES:
        found.append(not_supported(f"{path}.type", kind, _TYPES))
        if kind == "null":
            why = "type cannot be set to null, use nullable as an alternative"
            found.append(forbidden(f"{path}.type", why))
    elif not kind and where and not any_type:
        found.append(required(f"{path}.type", f"must not be empty for specified {where}"))
    if schema.get("uniqueItems"):
        found.append(forbidden(f"{path}.uniqueItems", _UNIQUE))
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        field = f"{path}.x-kubernetes-preserve-unknown-fields"
        found.append(invalid(field, False, "must be true or undefined"))
    if schema.get("x-kubernetes-embedded-resource"):
        found += _embedded(schema, path)
    if schema.get("x-kubernetes-int-or-string") and kind:
        why = "must be empty if x-kubernetes-int-or-string is true"
        found.append(invalid(f"{path}.type", kind, why))
    found += _values(schema, path)
    found += list_faults(schema, path) + map_faults(schema, path)
    found += _rules(schema, path)
    found += _within(schema, path)
    if not found and "default" in schema:
        found += _default(schema, path)
    return found


def _embedded(schema: Schema, path: str) -> list[Cause]:
    kind, found = schema.get("type") or "", []
    preserves = schema.get("x-kubernetes-preserve-unknown-fields")
    if not preserves and not schema.get("properties"):
        why = (
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields"
        )
        found.append(required(f"{path}.properties", why))
    why = "must be object if x-kubernetes-embedded-resource is true"
    found += _object_types(schema, path)
    if not kind:
        found.append(required(f"{path}.type", why))
    elif kind != "object":
        found.append(invalid(f"{path}.type", kind, why))
    return found


def _within(schema: Schema, path: str) -> list[Cause]:
    found: list[Cause] = []
    properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
    if properties and additional not in (None, True):
        why = "additionalProperties and properties are mutual exclusive"
        found.append(forbidden(f"{path}.additionalProperties", why))
    for name, inner in properties.items():
        found += _place(inner, f"{path}.properties[{name}]", "object fields")
    if isinstance(additional, Mapping):
        found += _place(additional, f"{path}.additionalProperties", "object fields")
    items = schema.get("items")
    if isinstance(items, list):
        found.append(forbidden(f"{path}.items", "items must be a schema object and not an array"))
    elif isinstance(items, Mapping):
        found += _place(items, f"{path}.items", "array items")
    elif schema.get("type") == "array":
        found.append(required(f"{path}.items", "must be specified"))
    for word in ("allOf", "anyOf", "oneOf"):
        for index, inner in enumerate(schema.get(word) or ()):
            # As it was said before there was a word for it.
            choice = inner.get("anyOf") if word == "allOf" else schema[word]
            if schema.get("x-kubernetes-int-or-string") and choice == _INT_OR_STRING:
                continue
            found += _value_schema(inner, f"{path}.{word}[{index}]")
    if isinstance(schema.get("not"), Mapping):
        found += _value_schema(schema["not"], f"{path}.not")
    return found


def _value_schema(schema: Schema, path: str) -> list[Cause]:
    # Within a junctor only values are constrained.
    found = []
    for word in _STRUCTURE:
        if schema.get(word):
            state = _STATES.get(word, "undefined")
            found.append(forbidden(f"{path}.{word}", f"must be {state} to be structural"))
    found += list_faults(schema, path) + map_faults(schema, path)
    found += _values(schema, path)
    for name, inner in (schema.get("properties") or {}).items():
        found += _value_schema(inner, f"{path}.properties[{name}]")
    if isinstance(schema.get("items"), Mapping):
        found += _value_schema(schema["items"], f"{path}.items")
    for word in ("allOf", "anyOf", "oneOf"):
        for index, inner in enumerate(schema.get(word) or ()):
            found += _value_schema(inner, f"{path}.{word}[{index}]")
    return found


def _values(schema: Schema, path: str) -> list[Cause]:
    found = []
    pattern = schema.get("pattern")
    if pattern:
        try:
            patterns.compiled(pattern)
        except re.error as error:
            why = f"must be a valid regular expression, but isn't: {error}"
            found.append(invalid(f"{path}.pattern", pattern, why))
    factor = schema.get("multipleOf")
    if factor is not None and factor <= 0:
        why = "must be greater than 0"
        found.append(invalid(f"{path}.multipleOf", factor, why))
    return found


_LINES = re.compile("[\n\r]")
_REASONS = (
    "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired",
)  # fmt: skip


def _rules(schema: Schema, path: str) -> list[Cause]:
    found = []
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        field = f"{path}.x-kubernetes-validations[{index}]"
        found += _wording(rule, field)
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            found.append(not_supported(f"{field}.reason", reason, _REASONS))
        found += _field_path(rule.get("fieldPath") or "", schema, f"{field}.fieldPath")
        for word in ("rule", "messageExpression"):
            why = compile_fault(rule[word]) if (rule.get(word) or "").strip() else ""
            if why:
                found.append(invalid(f"{field}.{word}", rule[word], why))
    return found


def _wording(rule: Schema, field: str) -> list[Cause]:
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    expression = rule.get("messageExpression") or ""
    found = []
    if not text:
        found.append(required(f"{field}.rule", "rule is not specified"))
    elif message and not message.strip():
        found.append(invalid(f"{field}.message", message, "must be non-empty if specified"))
    elif _LINES.search(message.strip()):
        found.append(invalid(f"{field}.message", message, "must not contain line breaks"))
    elif _LINES.search(text) and not message:
        why = "message must be specified if rule contains line breaks"
        found.append(required(f"{field}.message", why))
    if expression and not expression.strip():
        why = "messageExpression must be non-empty if specified"
        found.append(required(f"{field}.messageExpression", why))
    return found


def _field_path(text: str, schema: Schema, field: str) -> list[Cause]:
    if not text:
        return []
    found = []
    if not text.strip():
        found.append(invalid(field, text, "must be non-empty if specified"))
    if _LINES.search(text):
        found.append(invalid(field, text, "must not contain line breaks"))
    try:
        follow(text, schema)
    except FieldPathError:
        found.append(invalid(field, text, "must be a valid path"))
    return found


def _default(schema: Schema, path: str) -> list[Cause]:
    value: Any = schema["default"]
    node, field = Node(schema), f"{path}.default"
    if value is None and not node.nullable:
        return [invalid(field, value, "must not be null")] if schema.get("type") else []
    found = [
        Cause(fault.reason, fault.message, f"{field}.{fault.field}".rstrip("."))
        for fault in [*value_faults(node, copy.deepcopy(value)), *duplicates(value, node)]
    ]
    if isinstance(value, dict) and not found:
        unknown = prune(copy.deepcopy(value), node)
        if unknown:
            found.append(invalid(field, value, "must not have unknown fields"))
    return found
