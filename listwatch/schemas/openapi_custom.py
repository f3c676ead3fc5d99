"""The OpenAPI schemas of custom kinds: what their definitions say, and what every object has.

Used by `openapi` and `openapi_paths`, beside the facts of the built-in kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas import facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from listwatch.protocol.kinds import Resource

_META = f"{facts.SCHEMA_PREFIX}io.k8s.apimachinery.pkg.apis.meta.v1."
_API_VERSION = {
    "type": "string",
    "description": "The version of the schema that this object is written in.",
}
_KIND = {"type": "string", "description": "The kind of this object."}


def schema_name(resource: Resource, gvk: GroupVersionKind) -> str | None:
    """The name of the schema of what goes in and out at a resource's paths."""
    own = (resource.gvk, GroupVersionKind(resource.group, resource.version, resource.list_kind))
    if resource.custom is None or gvk not in own:
        return facts.schema_name(gvk)
    return ".".join((*reversed(gvk.group.split(".")), gvk.version, gvk.kind))


def custom_schemas(
    resources: Iterable[Resource],
) -> dict[str, Mapping[str, Any]]:  # Any: OpenAPI schemas
    """The schemas of the custom kinds among these, and of their lists, by name."""
    schemas: dict[str, Mapping[str, Any]] = {}
    for resource in resources:
        if resource.custom is None:
            continue
        listed = GroupVersionKind(resource.group, resource.version, resource.list_kind)
        name, list_name = schema_name(resource, resource.gvk), schema_name(resource, listed)
        assert name is not None
        assert list_name is not None
        schemas[name] = _object(resource.custom.schema, resource.gvk)
        schemas[list_name] = _list(name, listed)
    return schemas


def _object(schema: Mapping[str, Any], gvk: GroupVersionKind) -> Mapping[str, Any]:
    properties = {
        "apiVersion": _API_VERSION,
        "kind": _KIND,
        "metadata": {"allOf": [{"$ref": f"{_META}ObjectMeta"}]},
    }
    return {
        **schema,
        "type": "object",
        "properties": {**(schema.get("properties") or {}), **properties},
        "x-kubernetes-group-version-kind": [_gvk(gvk)],
    }


def _list(name: str, gvk: GroupVersionKind) -> Mapping[str, Any]:
    items = {"type": "array", "items": {"$ref": f"{facts.SCHEMA_PREFIX}{name}"}}
    return {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _API_VERSION,
            "items": items,
            "kind": _KIND,
            "metadata": {"allOf": [{"$ref": f"{_META}ListMeta"}]},
        },
        "x-kubernetes-group-version-kind": [_gvk(gvk)],
    }


def _gvk(gvk: GroupVersionKind) -> dict[str, str]:
    return {"group": gvk.group, "kind": gvk.kind, "version": gvk.version}
