"""Quantities in CEL: `quantity("1Gi").isGreaterThan(...)` and what else can be done with them.

A quantity is a map inside an expression, since only plain values travel; nobody looks into it.
Upstream: apiserver/pkg/cel/library/quantity.go. The caller is `cel_library`.
"""

from __future__ import annotations

from typing import Any

from listwatch.protocol.quantities import Quantity

_KEY = "quantity"
_Value = dict[str, str]


def functions(cel: Any) -> Any:  # Any: the library, which may not be installed
    """The functions as an extension of the language."""
    kind = cel.Type
    made = kind.Map(kind.STRING, kind.STRING)
    two = [made, made]
    rows = [
        ("quantity", made, [kind.STRING], False, _parsed),
        ("isGreaterThan", kind.BOOL, two, True, lambda a, b: _read(b) < _read(a)),
        ("isLessThan", kind.BOOL, two, True, lambda a, b: _read(a) < _read(b)),
        ("compareTo", kind.INT, two, True, _compared),
        ("add", made, two, True, lambda a, b: _shown(_read(a) + _read(b))),
        ("sub", made, two, True, lambda a, b: _shown(_read(a) - _read(b))),
        ("asInteger", kind.INT, [made], True, lambda a: _read(a).value),
        ("isInteger", kind.BOOL, [made], True, lambda a: not _read(a).nano % 10**9),
        ("asApproximateFloat", kind.DOUBLE, [made], True, lambda a: _read(a).nano / 10**9),
        ("sign", kind.INT, [made], True, _sign),
    ]
    declared = [
        cel.FunctionDecl(
            name, [cel.Overload(f"listwatch_quantity_{name}", answer, takes, member, body)]
        )
        for name, answer, takes, member, body in rows
    ]
    return cel.CelExtension("kubernetes.quantity", declared)


def _parsed(text: str) -> _Value:
    return _shown(Quantity.parse(text))


def _shown(quantity: Quantity) -> _Value:
    return {_KEY: str(quantity)}


def _read(value: Any) -> Quantity:  # Any: a map, whatever the library wraps it in
    text = (value.plain_value() if hasattr(value, "plain_value") else value)[_KEY]
    return Quantity.parse(str(text.plain_value() if hasattr(text, "plain_value") else text))


def _compared(one: _Value, other: _Value) -> int:
    first, second = _read(one), _read(other)
    return (second < first) - (first < second)


def _sign(value: _Value) -> int:
    nano = _read(value).nano
    return (nano > 0) - (nano < 0)
