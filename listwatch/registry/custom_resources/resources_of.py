"""The resources that a definition makes: one for each version that it serves.

Used by `definitions`, which puts them into the table of resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.kinds import GroupResource, GroupVersionKind, Resource, Subresource
from listwatch.schemas.structural.kinds import StructuralKind

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

DEFINITIONS = GroupResource("apiextensions.k8s.io", "customresourcedefinitions")
_VERBS = frozenset(
    ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
)
_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_PARTS = ("get", "patch", "update")


def defined(definition: JSONObject) -> GroupResource:
    """The resource that a definition is of, be it served or not."""
    spec = definition["spec"]
    return GroupResource(spec["group"], spec["names"]["plural"])


def condition(definition: JSONObject, kind: str) -> bool:
    """Whether a condition of a definition is true."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == kind and one.get("status") == "True" for one in conditions)


def resources_of(definition: JSONObject) -> tuple[Resource, ...]:
    """What is served of a definition, first the version that is stored.

    Nothing is before it is established.
    """
    if not condition(definition, "Established"):
        return ()
    spec = definition["spec"]
    stored = next(version for version in spec["versions"] if version.get("storage"))
    served = [version for version in spec["versions"] if version.get("served")]
    served.sort(key=lambda version: version is not stored)
    selectable = {path for version in served for path in _selectable(version)}
    names = {
        **spec["names"],
        **{k: v for k, v in definition["status"]["acceptedNames"].items() if v},
    }
    return tuple(
        _resource(
            definition,
            names,
            StructuralKind(
                version,
                stored=stored,
                conversion=spec.get("conversion") or {"strategy": "None"},
                list_kind=names["listKind"],
                selectable=tuple(sorted(selectable)),
                deprecation=f"{spec['group']}/{version['name']} {names['kind']} is deprecated",
            ),
            _selectable(version),
        )
        for version in served
    )


def _resource(
    definition: JSONObject, names: JSONObject, kind: StructuralKind, selectable: tuple[str, ...]
) -> Resource:
    spec = definition["spec"]
    gvk = GroupVersionKind(spec["group"], kind.version, names["kind"])
    parts = []
    if kind.has_status:
        parts.append(Subresource("status", gvk, _PARTS))
    if kind.scale is not None:
        parts.append(Subresource("scale", _SCALE, _PARTS))
    return Resource(
        group=gvk.group,
        version=gvk.version,
        resource=names["plural"],
        kind=gvk.kind,
        namespaced=spec["scope"] == "Namespaced",
        verbs=_VERBS,
        singular=names["singular"],
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=tuple(parts),
        columns=kind.columns,
        selectable_fields=selectable,
        custom=kind,
    )


def _selectable(version: JSONObject) -> tuple[str, ...]:
    fields = version.get("selectableFields") or ()
    return tuple(field["jsonPath"].removeprefix(".") for field in fields)
