"""The OpenAPI documents: what is served, and what its objects look like.

Version 3 is one document a group version, whose schemas are copied from the data as text; version
2 is one document of everything. kubectl learns from them that the server validates (a PATCH that
takes `fieldValidation`), explains kinds by them, and merges with their help.
The caller is `api`; documents are made once for each set of resources.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from listwatch.protocol.kinds import GroupVersionKind, api_version
from listwatch.schemas import facts
from listwatch.schemas.kinds import builtin_resources
from listwatch.schemas.openapi_custom import custom_schemas
from listwatch.schemas.openapi_merging import merge
from listwatch.schemas.openapi_paths import path_items
from listwatch.schemas.openapi_protobuf import document_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from listwatch.protocol.kinds import Resource

_REFERENCE = re.compile(rb'"\$ref":"#/components/schemas/([^"]+)"')
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_ALWAYS = (f"{_META}Status", f"{_META}DeleteOptions", f"{_META}Patch", f"{_META}WatchEvent")


class Document(NamedTuple):
    """A document and its tag: the tag changes when the document does."""

    body: bytes
    etag: str


def openapi_v3(group_version: str, resources: Iterable[Resource] | None = None) -> Document | None:
    """The document of one group version, as `v1` or `apps/v1`; None if nothing of it is served.

    `resources` are all that are served, the built-in ones if it is left out.
    """
    return _of(group_version, _as_tuple(resources))


def openapi_v2(
    resources: Iterable[Resource] | None = None, others: tuple[bytes, ...] = ()
) -> Document:
    """The one document of everything, as `openapi_v3` takes it, with the parts of other servers."""
    return _merged(_as_tuple(resources), others)


def openapi_v2_protobuf(
    resources: Iterable[Resource] | None = None, others: tuple[bytes, ...] = ()
) -> Document:
    """The same as a protobuf message."""
    return _v2_protobuf(_as_tuple(resources), others)


def openapi_v3_index(
    resources: Iterable[Resource] | None = None, others: Mapping[str, str] | None = None
) -> Document:
    """Where the documents of the group versions are, each with its tag in the URL.

    `others` are those of other servers: the URL of each group version, as `apis/far.test/v1`.
    """
    served = _as_tuple(resources)
    paths = {}
    for group, version in sorted({(r.group, r.version) for r in served}):
        path = f"apis/{group}/{version}" if group else f"api/{version}"
        document = _of(api_version(group, version), served)
        if document is not None:
            url = f"/openapi/v3/{path}?hash={document.etag}"
            paths[path] = {"serverRelativeURL": url}
    for path, url in sorted((others or {}).items()):
        paths.setdefault(path, {"serverRelativeURL": url})
    return _document(orjson.dumps({"paths": paths}))


def _of(group_version: str, resources: tuple[Resource, ...]) -> Document | None:
    # Made anew only when something of this group version changes, as definitions do all the time.
    served = tuple(r for r in resources if r.api_version == group_version)
    return _v3(served) if served else None


def _as_tuple(resources: Iterable[Resource] | None) -> tuple[Resource, ...]:
    return builtin_resources() if resources is None else tuple(resources)


def _info() -> dict[str, str]:
    return {"title": "Kubernetes", "version": f"v{facts.facts_version()}.0"}


def _document(body: bytes) -> Document:
    return Document(body, hashlib.sha512(body).hexdigest().upper())


@lru_cache(512)
def _v3(served: tuple[Resource, ...]) -> Document:
    paths: dict[str, Any] = {}  # Any: OpenAPI
    for resource in served:
        paths |= path_items(resource)
    head = {"openapi": "3.0.0", "info": _info(), "paths": paths}
    texts = {name: facts.schema_text(name) for name in _closure(served)}
    texts |= {name: orjson.dumps(schema) for name, schema in custom_schemas(served).items()}
    schemas = b",".join(orjson.dumps(name) + b":" + texts[name] for name in sorted(texts))
    body = orjson.dumps(head)[:-1] + b',"components":{"schemas":{' + schemas + b"}}}"
    return _document(body)


@lru_cache(4)
def _v2(resources: tuple[Resource, ...]) -> Document:
    paths: dict[str, Any] = {}
    for resource in resources:
        for path, item in path_items(resource).items():
            paths[path] = _path_item_v2(item)
    definitions = {name: _schema_v2(facts.schema(name)) for name in _closure(resources)}
    definitions |= {k: _schema_v2(schema) for k, schema in custom_schemas(resources).items()}
    document = {"swagger": "2.0", "info": _info(), "paths": paths, "definitions": definitions}
    return _document(orjson.dumps(document))


@lru_cache(4)
def _merged(resources: tuple[Resource, ...], others: tuple[bytes, ...]) -> Document:
    if not others:
        return _v2(resources)
    document = orjson.loads(_v2(resources).body)
    for part in others:
        merge(document, orjson.loads(part))
    return _document(orjson.dumps(document))


@lru_cache(2)
def _v2_protobuf(resources: tuple[Resource, ...], others: tuple[bytes, ...]) -> Document:
    return _document(document_message(orjson.loads(_merged(resources, others).body)))


def _closure(resources: Iterable[Resource]) -> list[str]:
    # The schemas of all that goes in and out at the resources' paths, and what those point to.
    found: set[str] = set()
    wanted = [*_ALWAYS]
    for resource in resources:
        kinds = [resource.gvk, *(subresource.kind for subresource in resource.subresources)]
        kinds.append(GroupVersionKind(resource.group, resource.version, resource.list_kind))
        wanted += filter(None, map(facts.schema_name, kinds))
        if resource.custom is not None:
            wanted += (f"{_META}ListMeta", f"{_META}ObjectMeta")
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += (match.decode() for match in _REFERENCE.findall(facts.schema_text(name)))
    return sorted(found)


# What version 2 has no word for: both are texts there.
_TEXTS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "type": "string",
        "format": "int-or-string",
    },
}


def _schema_v2(schema: Any) -> Any:  # Any: JSON, of one version and of the other
    if isinstance(schema, list):
        return [_schema_v2(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    target = facts.reference(schema)
    if target is not None:
        return _TEXTS.get(target, {"$ref": f"#/definitions/{target}"})
    dropped = ("default", "oneOf", "anyOf", "nullable", "enum")
    return {
        key: {name: _schema_v2(inner) for name, inner in value.items()}
        if key == "properties"
        else _schema_v2(value)
        for key, value in schema.items()
        if key not in dropped
    }


def _path_item_v2(item: dict[str, Any]) -> dict[str, Any]:
    return {
        method: _parameters_v2(operation) if method == "parameters" else _operation_v2(operation)
        for method, operation in item.items()
    }


def _parameters_v2(parameters: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**{k: v for k, v in parameter.items() if k != "schema"}, **parameter["schema"]}
        for parameter in parameters
    ]


def _operation_v2(operation: dict[str, Any]) -> dict[str, Any]:
    result = {k: v for k, v in operation.items() if k not in ("requestBody", "parameters")}
    parameters = _parameters_v2(operation["parameters"])
    body = operation.get("requestBody")
    result["produces"] = ["application/json", "application/yaml"]
    if body is not None:
        result["consumes"] = list(body["content"])
        schema = next(iter(body["content"].values()))["schema"]
        parameters.append({"name": "body", "in": "body", "schema": _schema_v2(schema)})
        if body.get("required"):
            parameters[-1]["required"] = True
    result["parameters"] = parameters
    result["responses"] = {
        code: _answer_v2(answer) for code, answer in operation["responses"].items()
    }
    return result


def _answer_v2(answer: dict[str, Any]) -> dict[str, Any]:
    result = {"description": answer["description"]}
    for content in answer["content"].values():
        result["schema"] = _schema_v2(content["schema"])
    return result
