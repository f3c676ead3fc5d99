"""The paths of one resource as OpenAPI has them: every address, method and parameter.

Used by `openapi` only, for both of its versions: a body or an answer of several media types is
written in the form of version 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas import facts
from listwatch.schemas.openapi_custom import schema_name

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource, Subresource

Item = dict[str, Any]  # Any: a part of an OpenAPI document

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_BODIES = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
)
_PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)


def _patches(resource: Resource) -> tuple[str, ...]:
    # A strategic merge needs to know the kind's lists, as it does of the built-in ones alone.
    return _PATCHES if resource.custom is None else (*_PATCHES[:2], *_PATCHES[3:])


def _query(name: str, kind: str = "string") -> Item:
    return {"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": True}}


def _path(name: str) -> Item:
    schema = {"type": "string", "uniqueItems": True}
    return {"name": name, "in": "path", "required": True, "schema": schema}


_WRITE = [_query("dryRun"), _query("fieldManager"), _query("fieldValidation")]
_PATCH = [*_WRITE, _query("force", "boolean")]
_DELETE = [
    _query("dryRun"),
    _query("gracePeriodSeconds", "integer"),
    _query("orphanDependents", "boolean"),
    _query("propagationPolicy"),
]
_LIST = [
    _query("allowWatchBookmarks", "boolean"),
    _query("continue"),
    _query("fieldSelector"),
    _query("labelSelector"),
    _query("limit", "integer"),
    _query("resourceVersion"),
    _query("resourceVersionMatch"),
    _query("sendInitialEvents", "boolean"),
    _query("timeoutSeconds", "integer"),
    _query("watch", "boolean"),
]


def path_items(resource: Resource) -> dict[str, Item]:
    """The paths of a resource and of its subresources, each with its operations."""
    group, version = resource.group, resource.version
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    where = f"{root}/namespaces/{{namespace}}" if resource.namespaced else root
    shared = [_path("namespace")] if resource.namespaced else []
    shared.append(_query("pretty"))
    collection = f"{where}/{resource.resource}"
    items = {
        collection: _item(_collection(resource), shared),
        f"{collection}/{{name}}": _item(_object(resource), [_path("name"), *shared]),
    }
    if resource.namespaced and "list" in resource.verbs:
        listing = _operation(resource, "list", resource.gvk, _list_name(resource), _LIST)
        listing["operationId"] += "ForAllNamespaces"
        items[f"{root}/{resource.resource}"] = _item({"get": listing}, [_query("pretty")])
    for part in resource.subresources:
        path = f"{collection}/{{name}}/{part.name}"
        items[path] = _item(_subresource(resource, part), [_path("name"), *shared])
    return {path: item for path, item in items.items() if len(item) > 1}


def _item(operations: dict[str, Item], parameters: list[Item]) -> Item:
    return {**operations, "parameters": parameters}


def _collection(resource: Resource) -> dict[str, Item]:
    gvk, kind = resource.gvk, schema_name(resource, resource.gvk)
    operations = {}
    if "list" in resource.verbs:
        operations["get"] = _operation(resource, "list", gvk, _list_name(resource), _LIST)
    if "create" in resource.verbs:
        operations["post"] = _operation(resource, "post", gvk, kind, _WRITE, body=kind)
    if "deletecollection" in resource.verbs:
        operations["delete"] = _operation(
            resource, "deletecollection", gvk, f"{_META}Status", [*_LIST, *_DELETE],
            body=f"{_META}DeleteOptions",
        )  # fmt: skip
    return operations


def _object(resource: Resource) -> dict[str, Item]:
    gvk, kind = resource.gvk, schema_name(resource, resource.gvk)
    operations = {}
    if "get" in resource.verbs:
        operations["get"] = _operation(resource, "get", gvk, kind, [])
    if "update" in resource.verbs:
        operations["put"] = _operation(resource, "put", gvk, kind, _WRITE, body=kind)
    if "delete" in resource.verbs:
        operations["delete"] = _operation(
            resource, "delete", gvk, f"{_META}Status", _DELETE, body=f"{_META}DeleteOptions"
        )
    if "patch" in resource.verbs:
        operations["patch"] = _operation(
            resource, "patch", gvk, kind, _PATCH, body=f"{_META}Patch", types=_patches(resource)
        )
    return operations


def _subresource(resource: Resource, part: Subresource) -> dict[str, Item]:
    gvk, kind = part.kind, schema_name(resource, part.kind)
    operations = {}
    if "get" in part.verbs:
        operations["get"] = _operation(resource, "get", gvk, kind, [], part=part.name)
    if "update" in part.verbs:
        operations["put"] = _operation(
            resource, "put", gvk, kind, _WRITE, body=kind, part=part.name
        )
    if "create" in part.verbs:
        operations["post"] = _operation(
            resource, "post", gvk, kind, _WRITE, body=kind, part=part.name
        )
    if "patch" in part.verbs:
        operations["patch"] = _operation(
            resource, "patch", gvk, kind, _PATCH, body=f"{_META}Patch", types=_patches(resource),
            part=part.name,
        )  # fmt: skip
    return operations


def _operation(  # an operation has that many parts
    resource: Resource,
    action: str,
    gvk: GroupVersionKind,
    answer: str | None,
    parameters: list[Item],
    *,
    body: str | None = None,
    types: tuple[str, ...] = _BODIES,
    part: str = "",
) -> Item:
    group = "".join(word.title() for word in resource.group.split(".")[0].split("-")) or "Core"
    scope = "Namespaced" if resource.namespaced else ""
    verb = {"post": "create", "put": "replace", "get": "read"}.get(action, action)
    name = f"{verb}{group}{resource.version.title()}{scope}{resource.kind}{part.title()}"
    operation: Item = {
        "operationId": name,
        "tags": [f"{resource.group.split('.')[0] or 'core'}_{resource.version}"],
        "parameters": parameters,
        "responses": {
            "201" if action == "post" else "200": _answer("OK", answer),
            "401": {"description": "Unauthorized", "content": {}},
        },
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {
            "group": gvk.group,
            "kind": gvk.kind,
            "version": gvk.version,
        },
    }
    if body is not None:
        schema = _reference(body)
        operation["requestBody"] = {
            "required": action not in ("delete", "deletecollection"),
            "content": {media_type: {"schema": schema} for media_type in types},
        }
    return operation


def _answer(description: str, name: str | None) -> Item:
    content = {"application/json": {"schema": _reference(name)}} if name else {}
    return {"description": description, "content": content}


def _reference(name: str) -> Item:
    return {"$ref": f"{facts.SCHEMA_PREFIX}{name}"}


def _list_name(resource: Resource) -> str | None:
    gvk = GroupVersionKind(resource.group, resource.version, resource.list_kind)
    return schema_name(resource, gvk)
