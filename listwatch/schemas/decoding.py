"""What the original's JSON decoder does to an object: types, unknown fields, the normal form.

A Go server reads a body into structures and writes them out again. On the way wrong types are
refused, unknown fields and nulls fall away, so do empty values that JSON leaves out, and times and
quantities take their normal form. One walk does all of this here, and mostly none does: a compiled
schema tells in a microsecond that an object is in normal form already.
`fields` and `api` ask for parts of it; `defaults` fills in what is left out.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.protocol.quantities import canonical
from listwatch.schemas import normal_form, scalars
from listwatch.schemas.shapes import MISSING, SCHEMA, Kind, Shape, named_shape, shape_of_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    import jsonschema_rs

    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject


class DecodeError(Exception):
    """A value that the kind cannot hold; its text is the original decoder's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message

    @property
    def converted(self) -> str:
        """What the original says where it converts an object that was read already."""
        return str(self)


class _WrongTypeError(DecodeError):
    """A value of another JSON type. The way to it is filled in as it is left, from the inside."""

    def __init__(self, value: Any, shape: Shape) -> None:
        super().__init__("")
        self.value = value
        self.shape = shape
        self.owner = ""
        self.path = ""

    def inside(self, owner: Shape, field: str) -> None:
        self.owner = self.owner or owner.name.rpartition(".")[2]
        self.path = f".{field}{self.path}"

    def __str__(self) -> str:
        where = f"struct field {self.owner}{self.path} of" if self.path else "value of"
        given = _json_type(self.value, self.shape)
        return f"json: cannot unmarshal {given} into Go {where} type {self.shape.go_type}"

    @property
    def converted(self) -> str:
        given, kind = _go_kind(self.value), self.shape.kind
        if kind is Kind.OBJECT:
            return f"cannot restore struct from: {given}"
        if kind is Kind.MAP:
            return f"cannot restore map from {given}"
        if kind in (Kind.LIST, Kind.BYTES):
            return f"cannot restore slice from {given}"
        if kind in (Kind.STRING, Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN):
            return f"unrecognized type: {self.shape.go_type}"
        return str(self)  # types that read themselves


class Decoded(NamedTuple):
    """What became of an object. `unknown` are the paths of fields the kind does not have."""

    document: JSONObject
    unknown: list[str]


def decode(gvk: GroupVersionKind, document: JSONObject) -> Decoded:
    """Bring an object into normal form, in place; raises DecodeError at the first wrong type.

    An object of a kind that is not built in is returned as it is.
    """
    shape = shape_of_kind(gvk)
    if shape is None:
        return Decoded(document, [])
    if isinstance(document, dict):
        metadata = document.get("metadata")
        if isinstance(metadata, dict) and metadata.get("creationTimestamp", "") is None:
            del metadata["creationTimestamp"]  # what Go clients send, and most often nothing else
        if is_normal(gvk, document):
            return Decoded(document, [])
    unknown: list[str] = []
    _value(document, shape, unknown)
    return Decoded(document, [path.removeprefix(".") for path in unknown])


def decode_as(name: str, value: Any) -> Decoded:  # Any: whatever JSON was sent
    """The same for a value that has the schema of that name, as a part of an object has."""
    unknown: list[str] = []
    document = _value(value, named_shape(name), unknown)
    return Decoded(document, [path.removeprefix(".") for path in unknown])


def is_normal(gvk: GroupVersionKind, document: Any) -> bool:  # Any: whatever JSON was sent
    """Whether `decode` would leave an object as it is; a False may still be one that it leaves."""
    validator = _validator(gvk)
    return validator is not None and validator.is_valid(document)


@cache
def _validator(gvk: GroupVersionKind) -> jsonschema_rs.Draft4Validator | None:
    shape = shape_of_kind(gvk)
    return None if shape is None else normal_form.validator(shape)


def _value(value: Any, shape: Shape, unknown: list[str]) -> Any:
    walk = _WALKS.get(shape.kind)
    if walk is not None:
        return walk(value, shape, unknown)
    try:
        result = _SCALARS[shape.kind](value, shape)
    except ValueError as error:
        raise DecodeError(str(error)) from None
    if result is MISSING:
        raise _WrongTypeError(value, shape)
    return result


def _object(value: Any, shape: Shape, unknown: list[str]) -> Any:
    if not isinstance(value, dict):
        raise _WrongTypeError(value, shape)
    fields = shape.fields
    dropped = []
    for name, inner in value.items():
        field = fields.get(name)
        if field is None:
            unknown.append(f".{name}")
            dropped.append(name)
            continue
        if inner is None:
            if field.zero is not None:
                dropped.append(name)
            continue
        before = len(unknown)
        try:
            result = _value(inner, field.shape, unknown)
        except _WrongTypeError as error:
            error.inside(shape, name)
            raise
        if len(unknown) > before:
            _prefix(unknown, before, f".{name}")
        if not result and field.omits_zero and field.shape.kind is not Kind.OBJECT:
            dropped.append(name)
        elif result is not inner:
            value[name] = result
    for name in dropped:
        del value[name]
    return value


def _list(value: Any, shape: Shape, unknown: list[str]) -> Any:
    if not isinstance(value, list):
        raise _WrongTypeError(value, shape)
    items = shape.items
    for index, inner in enumerate(value):
        before = len(unknown)
        value[index] = _zero(items) if inner is None else _value(inner, items, unknown)
        if len(unknown) > before:
            _prefix(unknown, before, f"[{index}]")
    return value


def _map(value: Any, shape: Shape, unknown: list[str]) -> Any:
    if not isinstance(value, dict):
        raise _WrongTypeError(value, shape)
    items = shape.items
    for key, inner in value.items():
        before = len(unknown)
        value[key] = _zero(items) if inner is None else _value(inner, items, unknown)
        if len(unknown) > before:
            _prefix(unknown, before, f".{key}")
    return value


def _schema_or_list(value: Any, _: Shape, __: list[str]) -> Any:
    # The original reads these by a decoder within its decoder, which tells of no unknown field.
    schema = named_shape(SCHEMA)
    if isinstance(value, list):
        return [_value(inner, schema, []) for inner in value]
    return _value(value, schema, []) if isinstance(value, dict) else value


def _schema_or_boolean(value: Any, _: Shape, __: list[str]) -> Any:
    if isinstance(value, dict):
        return _value(value, named_shape(SCHEMA), [])
    if not isinstance(value, bool):
        raise DecodeError("boolean or JSON schema expected")
    return value


def _prefix(paths: list[str], start: int, prefix: str) -> None:
    paths[start:] = [f"{prefix}{path}" for path in paths[start:]]


_WALKS: dict[Kind, Callable[[Any, Shape, list[str]], Any]] = {
    Kind.OBJECT: _object,
    Kind.LIST: _list,
    Kind.MAP: _map,
    Kind.SCHEMA_OR_LIST: _schema_or_list,
    Kind.SCHEMA_OR_BOOLEAN: _schema_or_boolean,
}


def _zero(shape: Shape) -> Any:
    return _ZEROES.get(shape.kind, dict)()


_ZEROES: dict[Kind, Callable[[], Any]] = {
    Kind.STRING: str,
    Kind.BYTES: str,
    Kind.INTEGER: int,
    Kind.NUMBER: int,
    Kind.BOOLEAN: bool,
    Kind.INT_OR_STRING: int,
    Kind.QUANTITY: lambda: "0",
    Kind.LIST: list,
    Kind.TIME: lambda: None,
    Kind.MICRO_TIME: lambda: None,
}


def _string(value: Any, _: Shape) -> Any:
    return value if isinstance(value, str) else MISSING


def _integer(value: Any, shape: Shape) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return MISSING
    return value if -(1 << shape.bits - 1) <= value < 1 << shape.bits - 1 else MISSING


def _number(value: Any, _: Shape) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else MISSING


def _boolean(value: Any, _: Shape) -> Any:
    return value if isinstance(value, bool) else MISSING


def _bytes(value: Any, _: Shape) -> Any:
    return scalars.base64_text(value) if isinstance(value, str) else MISSING


def _time(value: Any, _: Shape) -> Any:
    return scalars.seconds(value) if isinstance(value, str) else MISSING


def _micro_time(value: Any, _: Shape) -> Any:
    return scalars.microseconds(value) if isinstance(value, str) else MISSING


def _quantity(value: Any, _: Shape) -> Any:
    return canonical(value) if isinstance(value, str | int | float) else MISSING


def _int_or_string(value: Any, _: Shape) -> Any:
    if isinstance(value, str):
        return value
    fits = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31
    return value if fits else MISSING


def _any_object(value: Any, _: Shape) -> Any:
    return value if isinstance(value, dict) else MISSING


_SCALARS: dict[Kind, Callable[[Any, Shape], Any]] = {
    Kind.STRING: _string,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.BYTES: _bytes,
    Kind.TIME: _time,
    Kind.MICRO_TIME: _micro_time,
    Kind.QUANTITY: _quantity,
    Kind.INT_OR_STRING: _int_or_string,
    Kind.ANY_OBJECT: _any_object,
    Kind.ANY: lambda value, _: value,
}


def _json_type(value: Any, shape: Shape) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return f"number {value}" if shape.kind is Kind.INTEGER else "number"
    return "array" if isinstance(value, list) else "object"


def _go_kind(value: Any) -> str:
    if isinstance(value, list | dict):
        return "slice" if isinstance(value, list) else "map"
    kinds = {bool: "bool", str: "string", int: "int64", float: "float64"}
    return kinds.get(type(value), "invalid")
