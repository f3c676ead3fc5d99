"""What a kind looks like, as a tree of shapes that is unfolded as far as somebody walks it.

Made of the OpenAPI schema (fields, types, formats) and of the protobuf message of the same name,
which alone tells whether a zero value is left out of JSON and whether null differs from absent.
Used by `decoding` (types, unknown fields, normal form), `zero_values` and `merge_keys`.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING, Any

from listwatch.schemas import facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.kinds import GroupVersionKind


class Kind(Enum):
    """What JSON form a value has, and what is checked of it."""

    OBJECT = auto()
    LIST = auto()
    MAP = auto()
    STRING = auto()
    INTEGER = auto()
    NUMBER = auto()
    BOOLEAN = auto()
    BYTES = auto()  # base64 text
    TIME = auto()  # seconds
    MICRO_TIME = auto()
    QUANTITY = auto()
    INT_OR_STRING = auto()
    ANY_OBJECT = auto()  # an object that is not looked into
    SCHEMA_OR_LIST = auto()  # of a definition: one JSON schema, or a list of them
    SCHEMA_OR_BOOLEAN = auto()
    ANY = auto()


MISSING: Any = object()  # Any: stands for no value of whatever type


class Field:
    """One field of an object. `zero` is what an absent value becomes, MISSING if it stays absent.

    `omits_zero`: an empty or zero value is the same as none, and is left out.
    """

    __slots__ = ("_shape", "name", "omits_zero", "schema", "zero")

    def __init__(
        self, name: str, schema: Mapping[str, Any], *, omits_zero: bool, zero: Any
    ) -> None:
        self.name = name
        self.schema = schema
        self.omits_zero = omits_zero
        self.zero = zero
        self._shape: Shape | None = None

    @property
    def shape(self) -> Shape:
        """What its value looks like."""
        if self._shape is None:
            self._shape = shape_of(self.schema)
        return self._shape


class Shape:
    """What one value looks like. `name` is the name of its schema, '' for one that has none."""

    __slots__ = ("_fields", "_items", "bits", "kind", "name", "schema")

    def __init__(self, kind: Kind, schema: Mapping[str, Any], name: str = "") -> None:
        self.kind = kind
        self.schema = schema
        self.name = name
        self.bits = 32 if schema.get("format") == "int32" else 64
        self._fields: dict[str, Field] | None = None
        self._items: Shape | None = None

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of an object; empty for anything else."""
        if self._fields is None:
            self._fields = _fields(self) if self.kind is Kind.OBJECT else {}
        return self._fields

    @property
    def items(self) -> Shape:
        """The elements of a list, the values of a map."""
        if self._items is None:
            inner = "items" if self.kind is Kind.LIST else "additionalProperties"
            self._items = shape_of(self.schema[inner])
        return self._items

    @property
    def go_type(self) -> str:
        """The name of the type that the original decodes it into, as its messages have it."""
        if self.name:
            package, _, kind = self.name.rpartition(".")
            return f"{package.rpartition('.')[2]}.{kind}"
        if self.kind is Kind.LIST:
            return f"[]{self.items.go_type}"
        if self.kind is Kind.MAP:
            return f"map[string]{self.items.go_type}"
        if self.kind is Kind.INTEGER:
            return f"int{self.bits}"
        return _GO_TYPES.get(self.kind, "interface {}")

    def __repr__(self) -> str:
        return f"<Shape {self.name or self.kind.name}>"


_GO_TYPES = {
    Kind.STRING: "string",
    Kind.BOOLEAN: "bool",
    Kind.BYTES: "[]uint8",
    Kind.NUMBER: "float64",
}
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_NAMED: Mapping[str, Kind] = {
    f"{_META}Time": Kind.TIME,
    f"{_META}MicroTime": Kind.MICRO_TIME,
    f"{_META}FieldsV1": Kind.ANY_OBJECT,
    # Upstream keeps it as text: what has to be an object is found out later, by validation.
    "io.k8s.apimachinery.pkg.runtime.RawExtension": Kind.ANY,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": Kind.QUANTITY,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": Kind.INT_OR_STRING,
    f"{SCHEMA}OrArray": Kind.SCHEMA_OR_LIST,
    f"{SCHEMA}OrBool": Kind.SCHEMA_OR_BOOLEAN,
}
# These are structs too, so that their zero values are written, in whatever form they have.
_STRUCT_ZEROES: Mapping[Kind | None, Any] = {
    Kind.TIME: None,
    Kind.MICRO_TIME: None,
    Kind.QUANTITY: "0",
    Kind.INT_OR_STRING: 0,
}
_ZEROES: tuple[object, ...] = ("", 0, False)
_TYPES: Mapping[str, Kind] = {
    "string": Kind.STRING,
    "integer": Kind.INTEGER,
    "number": Kind.NUMBER,
    "boolean": Kind.BOOLEAN,
    "array": Kind.LIST,
    "object": Kind.OBJECT,
}
# The messages say of its fields that they are kept when empty; its JSON leaves them out.
_WRITTEN_ODDLY = frozenset({f"{_META}LabelSelector"})
# The one zero time that is not written as null.
_LEFT_OUT = frozenset({(f"{_META}ObjectMeta", "creationTimestamp")})


def shape_of_kind(gvk: GroupVersionKind) -> Shape | None:
    """The shape of a built-in kind's objects; None for a kind that is not built in."""
    name = facts.schema_name(gvk)
    return None if name is None else named_shape(name)


@cache
def named_shape(name: str) -> Shape:
    """The shape of the schema of that name; the same value each time."""
    schema = facts.schema(name)
    kind = _NAMED.get(name)
    return Shape(_kind(schema) if kind is None else kind, schema, name)


def shape_of(schema: Mapping[str, Any]) -> Shape:  # Any: an OpenAPI schema
    """The shape of a schema, be it a reference or written in place."""
    name = facts.reference(dict(schema))
    return Shape(_kind(schema), schema) if name is None else named_shape(name)


def _kind(schema: Mapping[str, Any]) -> Kind:
    kind = _TYPES.get(schema.get("type", ""), Kind.ANY)
    if kind is Kind.STRING and schema.get("format") == "byte":
        return Kind.BYTES
    if kind is Kind.OBJECT and "properties" not in schema:
        return Kind.MAP if "additionalProperties" in schema else Kind.ANY_OBJECT
    return kind


def _fields(shape: Shape) -> dict[str, Field]:
    flags = _flags(facts.message_name(shape.name))
    required = shape.schema.get("required", ())
    fields = {}
    for name, schema in shape.schema["properties"].items():
        # A field without a number is one of kind and apiVersion, or of a data file of our own.
        flag = flags.get(name, "o" if name not in required else "")
        omits, pointer = "o" in flag or shape.name in _WRITTEN_ODDLY, "p" in flag
        fields[name] = Field(
            name,
            schema,
            omits_zero=omits and not pointer,
            zero=MISSING
            if (shape.name, name) in _LEFT_OUT
            else _zero(schema, omits=omits, pointer=pointer),
        )
    return fields


def _zero(schema: Mapping[str, Any], *, omits: bool, pointer: bool) -> Any:  # Any: a JSON value
    default = schema.get("default", MISSING)
    if default is not MISSING and (pointer or default == {} or default not in _ZEROES):
        # The zero value of a struct is written even where zero values are left out.
        return default
    if pointer:
        return MISSING if omits else None
    kind = _NAMED.get(facts.reference(dict(schema)) or "")
    if kind in _STRUCT_ZEROES:
        return _STRUCT_ZEROES[kind]
    if omits:
        return MISSING
    if default is not MISSING:
        return default
    return None if schema.get("type") in ("array", "object") else MISSING


def _flags(message: str) -> dict[str, str]:
    flags: dict[str, str] = {}
    for _, name, _, kind, flag in facts.message(message) or ():
        if "i" in flag:
            flags |= _flags(kind)
        else:
            flags[name] = flag
    return flags
