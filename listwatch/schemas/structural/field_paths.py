"""Paths to fields that a schema must have: of rules, and of fields that can be selected.

Upstream: ValidFieldPath in apiextensions-apiserver/pkg/apiserver/schema/cel. The callers are
`schema_faults` and `definition_faults`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from listwatch.schemas.structural.nodes import Schema

# A quoted name is one token, whatever is in it, even where its end is missing.
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|'.*|[.\[\]]|[^.\[\]']+[^.\[\]]*", re.DOTALL)
_END, _UNKNOWN = "unexpected end of JSON path", "does not refer to a valid field"


class FieldPathError(ValueError):
    """A text that is no path, or leads to nothing."""


def follow(text: str, schema: Schema, *, arrays: bool = True) -> tuple[list[str], Schema]:
    """The names in a path, and the schema of what it leads to; raises FieldPathError."""
    names: list[str] = []
    tokens = iter(_TOKEN.findall(text))
    for one in tokens:
        if one == "[":
            if not arrays:
                raise FieldPathError("array notation is not allowed")
            name = _quoted(_next(tokens))
            schema = _inner(schema, name)
            if (closing := _next(tokens)) != "]":
                raise FieldPathError(f"expected ] but got {closing}")
        elif one == ".":
            name = _next(tokens)
            schema = _inner(schema, name)
        else:
            raise FieldPathError(f"expected [ or . but got: {one}")
        names.append(name)
    return names, schema


def _next(tokens: Iterator[str]) -> str:
    token = next(tokens, None)
    if token is None:
        raise FieldPathError(_END)
    return token


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {token}")
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def _inner(schema: Schema, name: str) -> Schema:
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    found = properties.get(name) if properties else others
    # `additionalProperties: true` says nothing about what is in there.
    if found is None or found is False:
        raise FieldPathError(_UNKNOWN)
    return found if isinstance(found, dict) else {}
