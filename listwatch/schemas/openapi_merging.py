"""The OpenAPI documents of version 2 of other servers, put into the one of this server.

Upstream: kube-openapi/pkg/aggregator. Of another server's document only the paths of its group
version count, and the definitions that these need; a definition of a name that is taken by another
one gets a new name. The caller is `openapi`, which keeps what is made.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

JSON = Any  # an OpenAPI document, of nested dicts and lists
_PREFIX = "#/definitions/"
_REFERENCE = re.compile(rb'"\$ref":"#/definitions/([^"]+)"')
# What the definitions of this server lack, or have of other kinds: no reason for another name.
_ASIDE = (
    "default", "description", "enum", "format", "nullable", "x-kubernetes-group-version-kind",
)  # fmt: skip


def part_of(body: bytes, root: str) -> bytes | None:
    """The paths below `root` of a document and what they need; None if it has none.

    Raises ValueError for what is no such document.
    """
    document = orjson.loads(body)
    paths, definitions = _dict(document, "paths"), _dict(document, "definitions")
    kept = {p: item for p, item in paths.items() if p == root or p.startswith(f"{root}/")}
    if not kept:
        return None
    needed: dict[str, JSON] = {}
    wanted = _references(kept)
    while wanted:
        name = wanted.pop()
        if name not in needed and name in definitions:
            needed[name] = definitions[name]
            wanted += _references(definitions[name])
    return orjson.dumps({"paths": kept, "definitions": needed}, option=orjson.OPT_SORT_KEYS)


def merge(document: JSON, part: JSON) -> None:
    """Put a part into a document; a path that is there already stays as it is."""
    definitions: dict[str, JSON] = document["definitions"]
    renamed: dict[str, str] = {}
    for name, definition in part["definitions"].items():
        taken, number = name, 1
        while taken in renamed.values() or (
            taken in definitions and _bare(definitions[taken]) != _bare(definition)
        ):
            number += 1
            taken = f"{name}_v{number}"
        renamed[name] = taken
    part = _renamed(part, {f"{_PREFIX}{old}": f"{_PREFIX}{new}" for old, new in renamed.items()})
    for name, definition in part["definitions"].items():
        definitions.setdefault(renamed[name], definition)
    for path, item in part["paths"].items():
        document["paths"].setdefault(path, item)


def _dict(document: JSON, name: str) -> dict[str, JSON]:
    value = document.get(name) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise ValueError(f"no OpenAPI document of version 2: it has no {name}")
    return value


def _references(value: JSON) -> list[str]:
    return [match.decode() for match in _REFERENCE.findall(orjson.dumps(value))]


def _bare(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {key: _bare(inner) for key, inner in value.items() if key not in _ASIDE}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value


def _renamed(value: JSON, names: dict[str, str]) -> JSON:
    if isinstance(value, dict):
        return {
            key: names.get(inner, inner)
            if key == "$ref" and isinstance(inner, str)
            else _renamed(inner, names)
            for key, inner in value.items()
        }
    return [_renamed(inner, names) for inner in value] if isinstance(value, list) else value
