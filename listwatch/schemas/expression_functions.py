"""What Kubernetes adds to CEL: functions of lists, regular expressions and quantities.

Upstream: apiserver/pkg/cel/library. A quantity is a map inside an expression, since only plain
values travel; nobody looks into it. Imported by `expressions` alone, when the language is there.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from cel_expr_python import cel

from listwatch.protocol.quantities import Quantity

_T = cel.Type
_LIST = _T.List(_T.DYN)
_QUANTITY = _T.Map(_T.STRING, _T.STRING)
_KEY = "quantity"


def declarations() -> list[Any]:  # Any: the package has no types
    """The functions, as an environment takes them."""
    two, text = [_QUANTITY] * 2, _T.STRING
    return [
        _member("find", "string_find", text, [text, text], _find),
        _member("findAll", "string_find_all", _T.List(text), [text, text], _find_all),
        _member("isSorted", "list_sorted", _T.BOOL, [_LIST], lambda each: each == sorted(each)),
        _member("sum", "list_sum", _T.DYN, [_LIST], sum),
        _member("min", "list_min", _T.DYN, [_LIST], min),
        _member("max", "list_max", _T.DYN, [_LIST], max),
        _function("isIP", "is_ip", _T.BOOL, [text], _is_ip),
        _function("isQuantity", "is_quantity", _T.BOOL, [text], _is_quantity),
        _function("quantity", "to_quantity", _QUANTITY, [text], _quantity),
        _member("isGreaterThan", "quantity_gt", _T.BOOL, two, lambda a, b: _q(a) > _q(b)),
        _member("isLessThan", "quantity_lt", _T.BOOL, two, lambda a, b: _q(a) < _q(b)),
        _member("compareTo", "quantity_compare", _T.INT, two, _compare),
        _member("add", "quantity_add", _QUANTITY, two, lambda a, b: _made(_q(a) + _q(b))),
        _member("sub", "quantity_sub", _QUANTITY, two, lambda a, b: _made(_q(a) - _q(b))),
        _member("asInteger", "quantity_int", _T.INT, [_QUANTITY], lambda a: _q(a).value),
        _member("isInteger", "quantity_is_int", _T.BOOL, [_QUANTITY], _is_whole),
        _member("asApproximateFloat", "quantity_float", _T.DOUBLE, [_QUANTITY], _approximate),
        _member("sign", "quantity_sign", _T.INT, [_QUANTITY], _sign),
    ]


def _member(name: str, overload: str, returns: Any, takes: list[Any], body: Any) -> Any:
    # Any: the package has no types
    made = cel.Overload(overload, returns, takes, is_member=True, impl=body)
    return cel.FunctionDecl(name, [made])


def _function(name: str, overload: str, returns: Any, takes: list[Any], body: Any) -> Any:
    # Any: as above
    made = cel.Overload(overload, returns, takes, is_member=False, impl=body)
    return cel.FunctionDecl(name, [made])


def _find(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found.group() if found else ""


def _find_all(text: str, pattern: str) -> list[str]:
    return [found.group() for found in re.finditer(pattern, text)]


def _quantity(text: str) -> dict[str, str]:
    return _made(Quantity.parse(text))


def _made(quantity: Quantity) -> dict[str, str]:
    return {_KEY: str(quantity)}


def _q(value: dict[str, str]) -> Quantity:
    return Quantity.parse(value[_KEY])


def _compare(first: dict[str, str], second: dict[str, str]) -> int:
    return (_q(first) > _q(second)) - (_q(first) < _q(second))


def _is_whole(value: dict[str, str]) -> bool:
    return _q(value).nano % 10**9 == 0


def _approximate(value: dict[str, str]) -> float:
    return _q(value).nano / 10**9


def _sign(value: dict[str, str]) -> int:
    nano = _q(value).nano
    return (nano > 0) - (nano < 0)


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
