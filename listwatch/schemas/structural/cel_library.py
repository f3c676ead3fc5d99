"""CEL as Kubernetes has it: the environment, and functions that CEL itself does not bring.

Needs the extra `cel`; without it `environment` gives None, and rules say nothing.
Upstream: apiserver/pkg/cel/library. The callers are `rules` and `schemas.expressions`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

from listwatch.schemas.structural import cel_authorization, cel_quantities

Value = Any  # Any: whatever an expression computes with


class Expression(Protocol):
    """A compiled expression."""

    def eval(self, *, data: dict[str, Value]) -> Any:  # Any: the library's value
        """Its value for these variables."""


class Environment(Protocol):
    """Compiles expressions."""

    def compile(self, expression: str) -> Expression:
        """Raises RuntimeError for what is none."""


@cache
def environment(variables: tuple[str, ...] = ("self", "oldSelf")) -> Environment | None:
    """The environment of expressions over these, made once; None without the extra."""
    try:
        from cel_expr_python import cel
        from cel_expr_python.ext import (
            ext_bindings,
            ext_encoders,
            ext_math,
            ext_optional,
            ext_strings,
        )
    except ImportError:
        return None
    extensions = [
        ext_bindings.ExtBindings(), ext_encoders.ExtEncoders(), ext_math.ExtMath(),
        ext_optional.ExtOptional(), ext_strings.ExtStrings(), _functions(cel),
        cel_quantities.functions(cel), cel_authorization.functions(cel),
    ]  # fmt: skip
    dyn = cel.Type.DYN
    made: Environment = cel.NewEnv(variables=dict.fromkeys(variables, dyn), extensions=extensions)
    return made


def _functions(cel: Any) -> Any:  # Any: the library, which may not be installed
    kind = cel.Type
    dyn, text, number, flag = kind.DYN, kind.STRING, kind.INT, kind.BOOL
    listed = kind.List(dyn)
    texts = kind.List(text)
    rows = [
        ("isSorted", flag, [listed], True, _is_sorted),
        ("sum", dyn, [listed], True, _sum),
        ("min", dyn, [listed], True, lambda values: min(plain(values))),
        ("max", dyn, [listed], True, lambda values: max(plain(values))),
        ("indexOf", number, [listed, dyn], True, _index_of),
        ("lastIndexOf", number, [listed, dyn], True, _last_index_of),
        ("find", text, [text, text], True, _find),
        ("findAll", texts, [text, text], True, lambda t, p: _find_all(t, p, -1)),
        ("findAll", texts, [text, text, number], True, _find_all),
        ("sets.contains", flag, [listed, listed], False, _contains),
        ("sets.equivalent", flag, [listed, listed], False, _equivalent),
        ("sets.intersects", flag, [listed, listed], False, _intersects),
        ("isURL", flag, [text], False, lambda t: re.match(r"[a-z][a-z0-9+.-]*://", t) is not None),
        ("isIP", flag, [text], False, lambda t: _address(t) is not None),
        ("isCIDR", flag, [text], False, lambda t: "/" in t and _network(t)),
        ("isQuantity", flag, [text], False, _is_quantity),
        ("jsonpatch.escapeKey", text, [text], False, _escaped),
    ]
    declared: dict[str, list[Any]] = {}
    for number_of, (name, answer, takes, member, function) in enumerate(rows):
        declared.setdefault(name, []).append(
            cel.Overload(f"listwatch_{number_of}", answer, takes, member, function)
        )
    return cel.CelExtension(
        "kubernetes", [cel.FunctionDecl(name, overloads) for name, overloads in declared.items()]
    )


def plain(value: Value) -> Value:
    """A value as Python has it, whatever the library wraps it in."""
    if hasattr(value, "plain_value"):
        value = value.plain_value()
    return [plain(one) for one in value] if isinstance(value, list) else value


def _is_sorted(values: Sequence[Value]) -> bool:
    values = plain(values)
    return all(one <= other for one, other in itertools.pairwise(values))


def _sum(values: Sequence[Value]) -> Value:
    return sum(plain(values))


def _index_of(values: Sequence[Value], wanted: Value) -> int:
    values, wanted = plain(values), plain(wanted)
    return values.index(wanted) if wanted in values else -1


def _last_index_of(values: Sequence[Value], wanted: Value) -> int:
    values, wanted = plain(values), plain(wanted)
    return len(values) - 1 - values[::-1].index(wanted) if wanted in values else -1


def _find(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, most: int) -> list[str]:
    found = [match[0] for match in re.finditer(pattern, text)]
    return found if most < 0 else found[:most]


def _contains(whole: Sequence[Value], part: Sequence[Value]) -> bool:
    whole = plain(whole)
    return all(one in whole for one in plain(part))


def _equivalent(one: Sequence[Value], other: Sequence[Value]) -> bool:
    return _contains(one, other) and _contains(other, one)


def _intersects(one: Sequence[Value], other: Sequence[Value]) -> bool:
    other = plain(other)
    return any(value in other for value in plain(one))


def _address(text: str) -> object | None:
    import ipaddress

    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _network(text: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return True


def _escaped(text: str) -> str:
    # A key as a JSON pointer has it.
    return text.replace("~", "~0").replace("/", "~1")


def _is_quantity(text: str) -> bool:
    from listwatch.protocol.quantities import canonical

    try:
        canonical(text)
    except ValueError:
        return False
    return True
