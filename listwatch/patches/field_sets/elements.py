"""Elements of paths: the keys of FieldsV1, made of list elements, put in order, shown to people.

`f:name` is a field, `k:{"name":"a"}` an element of a list by its keys, `v:"a"` one by its value,
`i:0` one by its place. The other modules of this package name fields with these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from listwatch.patches.field_sets.sets import SELF, FieldSet
from listwatch.protocol.names import quoted

if TYPE_CHECKING:
    from listwatch.patches.field_sets.field_type import FieldType

# Go's encoder writes these as escapes, and elements are compared as text.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class UnkeyedError(ValueError):
    """A list element that has not what tells it apart; the text is upstream's."""


def element(ftype: FieldType, item: Any) -> str:  # Any: a JSON value
    """The path element of an element of an associative list; raises UnkeyedError."""
    keys = ftype.keys
    if not keys:
        return f"v:{_text(_scalar(item))}"
    if item is None:
        raise UnkeyedError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise UnkeyedError("associative list with keys may not have non-map elements")
    parts = []
    for name, default in keys:
        value = item.get(name, default)
        if value is None and name not in item:
            raise UnkeyedError(
                f"associative list with keys has an element that omits key field {quoted(name)} "
                "(and doesn't have default value)"
            )
        parts.append(f'"{name}":{_text(value)}')
    return f"k:{{{','.join(parts)}}}"


def _scalar(item: Any) -> Any:  # Any: a JSON value
    if isinstance(item, dict):
        raise UnkeyedError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise UnkeyedError("not supported: associative list with lists as elements")
    if item is None:
        raise UnkeyedError("associative list without keys has an element that's an explicit null")
    return item


def _text(value: Any) -> str:  # Any: a JSON value
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return text.translate(_ESCAPES) if any(c in text for c in "<>&\u2028\u2029") else text


def canonical(key: str) -> str | None:
    """A key that somebody else wrote as this module writes it; None for an unknown kind of key.

    Raises ValueError for one that cannot be read.
    """
    if len(key) < 2 or key[1] != ":":
        raise ValueError(f"missing colon: {key}")
    kind, text = key[0], key[2:]
    if kind == "f":
        return key
    try:
        if kind == "i":
            return f"i:{int(text)}"
        if kind == "v":
            return f"v:{_text(orjson.loads(text))}"
        if kind == "k":
            value = orjson.loads(text)
            if isinstance(value, dict):
                return f"k:{_text(value)}"
            raise ValueError("expected an object")
    except (ValueError, TypeError) as error:
        raise ValueError(f"{key}: {error}") from None
    return None


def read(fields: Any) -> FieldSet:  # Any: whatever was sent as fieldsV1
    """A set that somebody else wrote, in canonical form; raises ValueError."""
    return arranged(_read(fields))


def _read(fields: Any) -> FieldSet:
    if not isinstance(fields, dict):
        raise ValueError("a set of fields must be an object")
    result: FieldSet = {}
    for key, node in fields.items():
        name = SELF if key == SELF else canonical(key)
        if name is None:
            continue  # a newer version may know what it is
        result[name] = {} if name == SELF else _read(node)
    return {} if list(result) == [SELF] else result


def arranged(fields: FieldSet) -> FieldSet:
    """The set with its keys in the order in which they are written."""
    if not fields:
        return fields
    keys = sorted(fields)
    if keys[-1][0] not in ".f":  # elements of lists come behind all fields in this order, too
        keys.sort(key=_rank)
    return {key: arranged(node) if (node := fields[key]) else node for key in keys}


_KINDS = {".": 0, "f": 1, "k": 2, "v": 3, "i": 4}


def _rank(key: str) -> tuple[int, Any]:  # Any: values of one kind, comparable
    kind = key[0]
    if kind in ".f":
        return _KINDS[kind], key
    value = orjson.loads(key[2:])
    if kind == "k":
        return _KINDS[kind], [(name, _ordinal(inner)) for name, inner in sorted(value.items())]
    return _KINDS[kind], _ordinal(value)


def _ordinal(value: Any) -> tuple[int, Any]:  # Any: JSON values; numbers first, then text
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, int | float):
        return 0, value
    if isinstance(value, str):
        return 1, value
    return 3, _text(value)


def shown(path: tuple[str, ...]) -> str:
    """A path as messages name it: `.spec.ports[port=80,protocol="TCP"].name`."""
    return "".join(shown_element(key) for key in path)


def shown_element(key: str) -> str:
    """One element of it."""
    kind, text = key[0], key[2:]
    if kind == "f":
        return f".{text}"
    if kind == "i":
        return f"[{text}]"
    value = orjson.loads(text)
    if kind == "v":
        return f"[={_shown_value(value)}]"
    pairs = (f"{name}={_shown_value(inner)}" for name, inner in sorted(value.items()))
    return f"[{','.join(pairs)}]"


def _shown_value(value: Any) -> str:  # Any: a JSON value
    return quoted(value) if isinstance(value, str) else _text(value)
