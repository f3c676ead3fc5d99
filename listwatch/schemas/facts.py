"""The data files of the built-in API, read when they are first asked for.

`data/` holds three files: the resources with their verbs and columns, the OpenAPI schemas of all
kinds, and the numbers of the protobuf messages. Each is opened once a process, when something needs
it; of the two big ones only what was asked for becomes Python objects, the rest stays text.
Results go to `kinds`, `shapes`, `protobuf` and `openapi`, which are the only readers.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from listwatch.protocol.kinds import GroupVersionKind

API_VERSION = "1.36"  # of the API these facts are of, as the file names say
SCHEMA_PREFIX = "#/components/schemas/"


def _read(name: str) -> bytes:
    data = (files("listwatch.schemas") / "data" / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def resource_facts() -> list[dict[str, Any]]:  # Any: rows of the file, read by `kinds` alone
    """Every resource of the built-in API, as the file has it."""
    rows: list[dict[str, Any]] = orjson.loads(_read(f"resources-{API_VERSION}.json"))
    return rows


@cache
def _schema_texts() -> tuple[dict[str, bytes], dict[GroupVersionKind, str]]:
    texts, names = {}, {}
    for name, schema in orjson.loads(_read(f"schemas-{API_VERSION}.json.gz")).items():
        texts[name] = orjson.dumps(schema)
        kinds = schema.get("x-kubernetes-group-version-kind", ())
        for kind in kinds if len(kinds) == 1 else ():
            # Options kinds stand in every group; an object's kind stands in its own.
            names[GroupVersionKind(kind["group"], kind["version"], kind["kind"])] = name
    return texts, names


@cache
def schema(name: str) -> dict[str, Any]:  # Any: an OpenAPI schema
    """The component schema of that name, as `io.k8s.api.core.v1.Pod`; KeyError if there is none.

    It is shared: nobody changes it.
    """
    parsed: dict[str, Any] = orjson.loads(_schema_texts()[0][name])
    return parsed


def schema_text(name: str) -> bytes:
    """The same as JSON text."""
    return _schema_texts()[0][name]


def schema_names() -> tuple[str, ...]:
    """The names of all component schemas."""
    return tuple(_schema_texts()[0])


def schema_name(gvk: GroupVersionKind) -> str | None:
    """The name of a kind's schema; None for a kind that is not built in."""
    return _schema_texts()[1].get(gvk)


def reference(schema: dict[str, Any]) -> str | None:  # Any: an OpenAPI schema
    """The name of the schema that this one points to, be it alone or in an `allOf`."""
    target = schema.get("$ref")
    if target is None and "allOf" in schema:
        target = schema["allOf"][0].get("$ref")
    return None if target is None else str(target).removeprefix(SCHEMA_PREFIX)


@cache
def _message_texts() -> dict[str, bytes]:
    messages = orjson.loads(_read(f"protobuf-{API_VERSION}.json.gz"))
    return {name: orjson.dumps(fields) for name, fields in messages.items()}


@cache
def message(name: str) -> list[list[Any]] | None:  # Any: rows of number, name, label, type, flags
    """The fields of a protobuf message, as `k8s.io.api.core.v1.Pod`; None if there is none."""
    text = _message_texts().get(name)
    if text is None:
        return None
    rows: list[list[Any]] = orjson.loads(text)
    return rows


def message_name(schema_name: str) -> str:
    """The name of the protobuf message of a schema."""
    host, _, rest = schema_name.partition(".k8s.")
    return f"k8s.{host}.{rest}".replace("-", "_")
