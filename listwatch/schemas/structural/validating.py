"""What is wrong with an object by its schema, in upstream's words.

Upstream: kube-openapi/pkg/validation (the checks and their messages) and
apiextensions-apiserver/pkg/apiserver/validation (what becomes of them in a Status). An update is
not refused for what it did not change. The caller is `kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from listwatch.protocol.errors import Cause
from listwatch.schemas.structural import formats, patterns
from listwatch.schemas.structural.nodes import MISSING, Node
from listwatch.schemas.structural.numbers import number_text, same
from listwatch.schemas.validation.faults import (
    invalid,
    not_supported,
    required,
    shown,
    too_long,
    too_many,
)

NOWHERE = "<nil>"  # the field that upstream names where it has none
_RANGES = {"int32": 31, "int64": 63}
Faults = list[Cause]


def faults(node: Node, value: Any, old: Any = MISSING) -> Faults:  # Any: JSON
    """The faults of an object; with `old`, those that the change brings."""
    found: Faults = []
    _check(node, value, old, "", found)
    return found


def _check(node: Node, value: Any, old: Any, path: str, found: Faults) -> None:
    if old is not MISSING and same(value, old):
        return  # what was stored is valid enough, whatever the schema says by now
    if value is None and node.nullable:
        return
    _type(node, value, path, found)
    _junctors(node, value, path, found)
    if isinstance(value, str):
        _text(node, value, path, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _number(node, value, path, found)
    elif isinstance(value, list):
        _list(node, value, old, path, found)
    allowed = node.schema.get("enum")
    if allowed and not any(same(value, one) for one in allowed):
        names = [one if isinstance(one, str) else shown(one) for one in allowed]
        found.append(not_supported(path, value, names))
    if isinstance(value, dict):
        _object(node, value, old, path, found)


def type_of(value: Any) -> str:  # Any: JSON
    """The JSON type of a value, as messages name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _type(node: Node, value: Any, path: str, found: Faults) -> None:
    given = type_of(value)
    wanted = ("integer", "string") if node.int_or_string else (node.type,) if node.type else ()
    fits = not wanted or given in wanted or (given == "integer" and "number" in wanted)
    if fits and isinstance(value, str) and not node.int_or_string:
        name = node.schema.get("format") or ""
        if not formats.fits(name, value):
            found.append(_type_fault(path, value, name, value))
        return
    if not fits:
        found.append(_type_fault(path, given, ",".join(wanted), given))


def _type_fault(path: str, value: str, wanted: str, given: str) -> Cause:
    why = f'{path} in body must be of type {wanted}: "{given}"'
    return Cause("FieldValueTypeInvalid", f"Invalid value: {shown(value)}: {why}", path)


def _text(node: Node, value: str, path: str, found: Faults) -> None:
    schema = node.schema
    most, least, pattern = (schema.get(k) for k in ("maxLength", "minLength", "pattern"))
    if most is not None and len(value) > most:
        found.append(too_long(path, most))
    if least is not None and len(value) < least:
        why = f"{path} in body should be at least {least} chars long"
        found.append(invalid(path, value, why))
    if pattern and not patterns.compiled(pattern).search(value):
        found.append(invalid(path, value, f"{path} in body should match '{pattern}'"))


def _number(node: Node, value: float, path: str, found: Faults) -> None:
    schema, name = node.schema, node.schema.get("format") or ""
    if node.type == "integer":
        bits = _RANGES.get(name, 63)
        if type_of(value) != "integer" or not -(1 << bits) <= value < 1 << bits:
            shape = f"with format {name}" if name else "(default format)"
            why = f"Checked value must be of type integer {shape} in {path}"
            found.append(invalid(NOWHERE, "", why))
    factor = schema.get("multipleOf")
    if factor and Decimal(str(value)) % Decimal(str(factor)):
        why = f"{path} in body should be a multiple of {number_text(factor)}"
        found.append(invalid(path, value, why))
    most, least = schema.get("maximum"), schema.get("minimum")
    if most is not None:
        strict = bool(schema.get("exclusiveMaximum"))
        if value > most or (strict and value == most):
            word = "less than" if strict else "less than or equal to"
            why = f"{path} in body should be {word} {number_text(most)}"
            found.append(invalid(path, value, why))
    if least is not None:
        strict = bool(schema.get("exclusiveMinimum"))
        if value < least or (strict and value == least):
            word = "greater than" if strict else "greater than or equal to"
            why = f"{path} in body should be {word} {number_text(least)}"
            found.append(invalid(path, value, why))


def _list(node: Node, value: list[Any], old: Any, path: str, found: Faults) -> None:
    schema, count = node.schema, len(value)
    if node.items is not None:
        before = correlated(node, value, old)
        for index, inner in enumerate(value):
            _check(node.items, inner, before(index), f"{path}[{index}]", found)
    most, least = schema.get("maxItems"), schema.get("minItems")
    if least is not None and count < least:
        why = f"{path} in body should have at least {least} items"
        found.append(invalid(path, count, why))
    if most is not None and count > most:
        found.append(too_many(path, count, most))
    if schema.get("uniqueItems") and any(
        same(value[i], value[j]) for i in range(count) for j in range(i)
    ):
        found.append(invalid(path, value, f"{path} in body shouldn't contain duplicates"))


def correlated(node: Node, value: list[Any], old: Any) -> Callable[[int], Any]:
    """For each element of a list keyed by fields the element of the old list with these keys."""
    if node.list_type != "map" or not isinstance(old, list) or not node.list_keys:
        return lambda index: MISSING
    known = {list_key(node, one): one for one in old if isinstance(one, Mapping)}

    def before(index: int) -> Any:
        one = value[index]
        return known.get(list_key(node, one), MISSING) if isinstance(one, Mapping) else MISSING

    return before


def list_key(node: Node, element: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells an element of a keyed list from the others."""
    return tuple(shown(element.get(key)) for key in node.list_keys)


def _object(node: Node, value: dict[str, Any], old: Any, path: str, found: Faults) -> None:
    schema, count = node.schema, len(value)
    most, least = schema.get("maxProperties"), schema.get("minProperties")
    if least is not None and count < least:
        why = f"{path} in body should have at least {least} properties"
        found.append(invalid(path, count, why))
    if most is not None and count > most:
        found.append(too_many(path, count, most))
    found += [
        required(_join(path, key)) for key in schema.get("required") or () if key not in value
    ]
    for key, inner in value.items():
        child = node.child(key)
        if child is not None:
            before = old.get(key, MISSING) if isinstance(old, Mapping) else MISSING
            _check(child, inner, before, _join(path, key), found)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _junctors(node: Node, value: Any, path: str, found: Faults) -> None:
    for word, schemas in node.junctors.items():
        if word == "anyOf" and node.int_or_string:
            continue  # it only says again what its type is
        results = [_faults_at(schema, value, path) for schema in schemas]
        valid = sum(not result for result in results)
        if word == "allOf":
            for result in results:
                found += result
            if valid < len(results):
                more = "" if valid else ". None validated"
                found.append(_junctor(path, f"must validate all the schemas (allOf){more}"))
        elif word == "anyOf" and not valid:
            found.append(_junctor(path, "must validate at least one schema (anyOf)"))
            found += _fewest(results)
        elif word == "oneOf" and valid != 1:
            more = f"Found {valid} valid alternatives" if valid else "Found none valid"
            why = f"must validate one and only one schema (oneOf). {more}"
            found.append(_junctor(path, why))
            found += _fewest(results) if not valid else []
        elif word == "not" and valid:
            found.append(_junctor(path, "must not validate the schema (not)"))


def _junctor(path: str, why: str) -> Cause:
    return invalid(NOWHERE, "", f'"{path}" {why}')


def _fewest(results: Iterable[Faults]) -> Faults:
    return min(results, key=len)


def _faults_at(node: Node, value: Any, path: str) -> Faults:
    found: Faults = []
    _check(node, value, MISSING, path, found)
    return found
