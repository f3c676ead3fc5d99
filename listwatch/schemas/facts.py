"""The data files of the built-in API, read when they are first asked for.

`data/` holds four files: the resources with their verbs and columns, the OpenAPI schemas of all
kinds, the numbers of the protobuf messages, and the fields of some structures of the server. Each
is opened once a process, when something needs it; of the two big ones only what was asked for
becomes Python objects, the rest stays text. Results go to `kinds`, `shapes`, `protobuf`, `openapi`
and `structures`, which are the only readers.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from listwatch.protocol.kinds import GroupVersionKind

DATA = Path(__file__).parent / "data"
SCHEMA_PREFIX = "#/components/schemas/"


def _newest(prefix: str) -> Path:
    # Each file carries the version of the API it is of: as one is refreshed, another may stay.
    def version(path: Path) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"[0-9]+", path.name))

    return max(DATA.glob(f"{prefix}-*.json*"), key=version)


def _read(prefix: str) -> bytes:
    path = _newest(prefix)
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@cache
def facts_version() -> str:
    """The version of the API that these facts are of, as `1.36`."""
    return _newest("resources").stem.partition("-")[2]


def resource_facts() -> list[dict[str, Any]]:  # Any: rows of the file, read by `kinds` alone
    """Every resource of the built-in API, as the file has it."""
    rows: list[dict[str, Any]] = orjson.loads(_read("resources"))
    return rows


@cache
def structure_facts() -> dict[str, list[list[str]]]:
    """The fields of the server's structures, by the names of these; read by `structures` alone."""
    rows: dict[str, list[list[str]]] = orjson.loads(_read("structures"))
    return rows


@cache
def _schema_texts() -> tuple[dict[str, bytes], dict[GroupVersionKind, str]]:
    texts, names = {}, {}
    for name, schema in orjson.loads(_read("schemas")).items():
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
    messages = orjson.loads(_read("protobuf"))
    return {name: orjson.dumps(fields) for name, fields in messages.items()}


_EXTENSIONS = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1."
_ADMISSION = "k8s.io.api.admissionregistration.v1."
# Fields whose names in the messages are not the JSON names by the usual rule.
_JSON_NAMES: dict[str, dict[str, str]] = {
    f"{_EXTENSIONS}JSONSchemaProps": {
        "ref": "$ref",
        "schema": "$schema",
        "xKubernetesPreserveUnknownFields": "x-kubernetes-preserve-unknown-fields",
        "xKubernetesEmbeddedResource": "x-kubernetes-embedded-resource",
        "xKubernetesIntOrString": "x-kubernetes-int-or-string",
        "xKubernetesListMapKeys": "x-kubernetes-list-map-keys",
        "xKubernetesListType": "x-kubernetes-list-type",
        "xKubernetesMapType": "x-kubernetes-map-type",
        "xKubernetesValidations": "x-kubernetes-validations",
    },
    f"{_ADMISSION}MutatingWebhookConfiguration": {"Webhooks": "webhooks"},
    f"{_ADMISSION}ValidatingWebhookConfiguration": {"Webhooks": "webhooks"},
    f"{_ADMISSION}Validation": {"Expression": "expression"},
    f"{_ADMISSION}Variable": {"Name": "name", "Expression": "expression"},
    "k8s.io.api.authentication.v1.BoundObjectReference": {"uID": "uid"},
    "k8s.io.api.networking.v1.IngressClassParametersReference": {"aPIGroup": "apiGroup"},
}


@cache
def message(name: str) -> list[list[Any]] | None:  # Any: rows of number, name, label, type, flags
    """The fields of a protobuf message, as `k8s.io.api.core.v1.Pod`; None if there is none."""
    text = _message_texts().get(name)
    if text is None:
        return None
    rows: list[list[Any]] = orjson.loads(text)
    names = _JSON_NAMES.get(name, {})
    for row in rows:
        row[1] = names.get(row[1], row[1])
    return rows


def message_name(schema_name: str) -> str:
    """The name of the protobuf message of a schema."""
    host, _, rest = schema_name.partition(".k8s.")
    return f"k8s.{host}.{rest}".replace("-", "_")
