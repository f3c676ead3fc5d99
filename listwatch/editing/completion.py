"""What may be written at a place of an object: the fields of its schema, with type and values.

Read from the OpenAPI v3 document that clients read, so that custom kinds complete like built-in
ones. Used by the editors of admin and dashboard.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from listwatch.schemas.openapi import openapi_v3

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

JSON = dict[str, Any]  # Any: JSON values
Schema = Mapping[str, Any]  # Any: OpenAPI

_REFERENCE = "#/components/schemas/"
_DEEP = 16  # references followed to one schema
_DESCRIBED = 240  # characters of a description
_TOP = ("apiVersion", "kind")


def completions(
    resources: Iterable[Resource], api_version: str, kind: str, path: Sequence[str]
) -> JSON:
    """`fields` that may stand at the path, and `values` that the field there may have.

    The path is of field names and `[]` for any element of a list. Both are empty for a kind that is
    not served and for a place of which the schema says nothing. Takes 30 ms the first time, so it
    runs in a thread. Where the kind is not known yet, apiVersions and kinds are what completes.
    """
    served = tuple(resources)
    if tuple(path) == _TOP[:1]:
        return {"fields": [], "values": sorted({each.api_version for each in served})}
    if tuple(path) == _TOP[1:]:
        kinds = {each.kind for each in served if api_version in ("", each.api_version)}
        return {"fields": [], "values": sorted(kinds)}
    document = openapi_v3(api_version, served) if api_version else None
    if document is None:
        return {"fields": [{"name": name, "type": "string"} for name in _TOP], "values": []}
    schemas = _schemas(document.body)
    schema = _root(schemas, api_version, kind)
    for step in path:
        schema = _step(schemas, schema, step)
    return {"fields": _fields(schemas, schema), "values": _values(schemas, schema)}


@lru_cache(maxsize=4)
def _schemas(body: bytes) -> Mapping[str, Schema]:
    schemas: Mapping[str, Schema] = orjson.loads(body)["components"]["schemas"]
    return schemas


def _root(schemas: Mapping[str, Schema], api_version: str, kind: str) -> Schema:
    group, _, version = api_version.rpartition("/")
    wanted = {"group": group, "version": version, "kind": kind}
    for schema in schemas.values():
        if wanted in schema.get("x-kubernetes-group-version-kind", ()):
            return schema
    return {}


def _resolved(schemas: Mapping[str, Schema], schema: Schema) -> Schema:
    """What a schema means: references followed, a single `allOf` taken in."""
    for _ in range(_DEEP):
        if reference := schema.get("$ref"):
            schema = schemas.get(reference.removeprefix(_REFERENCE), {})
        elif parts := schema.get("allOf"):
            schema = {**_resolved(schemas, parts[0]), **_without(schema, "allOf")}
        else:
            return schema
    return {}


def _without(schema: Schema, name: str) -> Schema:
    return {key: value for key, value in schema.items() if key != name}


def _step(schemas: Mapping[str, Schema], schema: Schema, name: str) -> Schema:
    here = _resolved(schemas, schema)
    if name == "[]":
        found = here.get("items")
    else:
        found = here.get("properties", {}).get(name, here.get("additionalProperties"))
    return found if isinstance(found, Mapping) else {}


def _fields(schemas: Mapping[str, Schema], schema: Schema) -> list[JSON]:
    """The fields of an object, those that must be there first."""
    here = _resolved(schemas, schema)
    required = set(here.get("required", ()))
    found = [
        {
            "name": name,
            "type": _type(schemas, each),
            "required": name in required,
            "description": _resolved(schemas, each).get("description", "")[:_DESCRIBED],
        }
        for name, each in here.get("properties", {}).items()
    ]
    return sorted(found, key=lambda field: (not field["required"], field["name"]))


def _type(schemas: Mapping[str, Schema], schema: Schema) -> str:
    """As `kubectl explain` writes it, but for the names of types, which schemas do not carry."""
    here = _resolved(schemas, schema)
    if here.get("x-kubernetes-int-or-string") or here.get("format") == "int-or-string":
        return "integer or string"
    kind = str(here.get("type", "object"))
    if kind == "array":
        return f"[]{_type(schemas, here.get('items', {}))}"
    if kind == "object" and isinstance(here.get("additionalProperties"), Mapping):
        return f"map of {_type(schemas, here['additionalProperties'])}"
    return kind


def _values(schemas: Mapping[str, Schema], schema: Schema) -> list[str]:
    here = _resolved(schemas, schema)
    if here.get("type") == "boolean":
        return ["true", "false"]
    return [str(value) for value in here.get("enum", ())]
