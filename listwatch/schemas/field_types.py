"""What `patches.field_sets` must know of each kind: leaves, declared fields, keys of lists.

Made of OpenAPI schemas, as far as somebody walks them: of the built-in kinds', or of a structural
schema that a custom resource comes with. A kind without any schema is deduced from its objects.
The caller is `registry`, which hands the type of a kind to `patches`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from listwatch.schemas import facts
from listwatch.schemas.shapes import Kind, Shape, shape_of_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject

_ANYTHING: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}


class FieldType:
    """One place in a kind: `patches.field_sets.field_type` says what each of its parts means."""

    __slots__ = (
        "_declared", "_fields", "_inner", "_schema", "atomic", "form", "keys", "loose", "scalar",
    )  # fmt: skip

    def __init__(
        self,
        form: Literal["map", "list", "scalar", "deduced", "untyped"],
        schema: Mapping[str, Any],  # Any: an OpenAPI schema
        *,
        atomic: bool = False,
        scalar: str = "",
    ) -> None:
        self.form = form
        self.atomic = atomic
        self.scalar = scalar
        self.loose = form == "deduced"
        self._schema = schema
        self._declared: Mapping[str, Any] = schema.get("properties", {}) if form == "map" else {}
        self._fields: dict[str, FieldType] = {}
        self._inner: FieldType | None = None  # elements of a list, values of a map
        self.keys = _keys(schema) if form == "list" and not atomic else ()

    @property
    def items(self) -> FieldType:
        """What the elements of this list are."""
        if self._inner is None:
            self._inner = _of(self._schema.get("items", {}))
        return self._inner

    def declares(self, name: str) -> bool:
        """Whether the kind names this field, rather than taking it as data."""
        return name in self._declared

    def field(self, name: str) -> FieldType | None:
        """What a field of this object is; None for one that the kind does not have."""
        found = self._fields.get(name)
        if found is not None:
            return found
        if self.form == "deduced":
            return self
        if name in self._declared:
            found = self._fields[name] = _of(self._declared[name])
            return found
        if self._inner is None:
            values = _values(self._schema)
            self._inner = None if values is None else _of(values)
        return self._inner

    def __repr__(self) -> str:
        return f"<FieldType {self.form}>"


@cache
def field_type(gvk: GroupVersionKind) -> FieldType:
    """The type of a built-in kind; that of any other is deduced from its objects."""
    name = facts.schema_name(gvk)
    return DEDUCED if name is None else _named(name)


def structural_type(schema: Mapping[str, Any]) -> FieldType:  # Any: an OpenAPI schema
    """The type of a custom kind that has this structural schema.

    What every object has, metadata and its own names, need not stand in it. The caller keeps the
    type for as long as the schema holds.
    """
    common = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"$ref": f"{facts.SCHEMA_PREFIX}{_OBJECT_META}"},
    }
    properties = {**(schema.get("properties") or {}), **common}
    if "properties" not in schema and _preserves(schema):
        return DEDUCED
    ftype = _of({**schema, "type": "object", "properties": properties})
    ftype.loose = True
    return ftype


@cache
def zero_document(gvk: GroupVersionKind) -> JSONObject:
    """What an object of the kind is before anybody set anything; shared, nobody changes it."""
    shape = shape_of_kind(gvk)
    zero = {} if shape is None else _zero(shape)
    return {**zero, "kind": gvk.kind, "apiVersion": gvk.api_version}


def _zero(shape: Shape) -> JSONObject:
    zeroes: JSONObject = {}
    for name, field in shape.fields.items():
        if field.zero == {} and field.shape.kind is Kind.OBJECT:
            zeroes[name] = _zero(field.shape)
        elif field.zero is None or isinstance(field.zero, str | int | float | list | dict):
            zeroes[name] = field.zero
    return zeroes


_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
# Named types whose values are leaves of any type, whatever they look like in JSON.
_SCALARS = frozenset({
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
})  # fmt: skip
_SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


@cache
def _named(name: str) -> FieldType:
    if name in _SCALARS:
        return FieldType("scalar", {})
    return _of(facts.schema(name))


def _of(schema: Mapping[str, Any]) -> FieldType:
    name = facts.reference(dict(schema))
    if name is not None:
        relation = schema.get("x-kubernetes-map-type")
        if relation is None:
            return _named(name)
        # Where a named type is used it may be said to be owned as a whole.
        return _of({**facts.schema(name), "x-kubernetes-map-type": relation})
    kind = schema.get("type", "")
    if schema.get("x-kubernetes-int-or-string"):
        return FieldType("scalar", schema)
    if kind == "object":
        return FieldType("map", schema, atomic=schema.get("x-kubernetes-map-type") == "atomic")
    if kind == "array":
        return FieldType("list", schema, atomic=not _is_associative(schema))
    if kind in _SIMPLE:
        return FieldType("scalar", schema, scalar=_SIMPLE[kind])
    return DEDUCED if _preserves(schema) else _UNTYPED


def _is_associative(schema: Mapping[str, Any]) -> bool:
    relation = schema.get("x-kubernetes-list-type")
    if relation is not None:
        return relation in ("map", "set")
    return "merge" in schema.get("x-kubernetes-patch-strategy", "").split(",")


def _keys(schema: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    names = schema.get("x-kubernetes-list-map-keys")
    if names is None and "x-kubernetes-list-type" not in schema:
        key = schema.get("x-kubernetes-patch-merge-key")
        names = [key] if key else []
    inner = schema.get("items", {})
    reference = facts.reference(dict(inner))
    properties = (inner if reference is None else facts.schema(reference)).get("properties", {})
    return tuple((name, properties.get(name, {}).get("default")) for name in sorted(names or ()))


def _preserves(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))


def _values(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        return additional
    if additional is True or _preserves(schema) or "properties" not in schema:
        return _ANYTHING
    return None


DEDUCED = FieldType("deduced", {})
_UNTYPED = FieldType("untyped", {})
