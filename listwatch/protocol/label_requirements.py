"""One term of a label selector: key, operator, values, and the function that it stands for.

`label_selectors` joins them; `label_selectors_parsing` reads them from text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from listwatch.protocol.errors import bad_request
from listwatch.protocol.names import label_value_faults, qualified_name_faults, quoted

Labels = Mapping[str, str]


class Operator(StrEnum):
    """How a requirement relates its key and its values; `==` is read as `=`."""

    EQUALS = "="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"
    GREATER = "gt"
    LESS = "lt"


class Requirement(NamedTuple):
    """One of the terms that must all hold; `values` are sorted and distinct."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        key, operator, values = self
        match operator:
            case Operator.EXISTS:
                return key
            case Operator.DOES_NOT_EXIST:
                return f"!{key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{key} {operator} ({','.join(values)})"
            case Operator.GREATER:
                return f"{key}>{values[0]}"
            case Operator.LESS:
                return f"{key}<{values[0]}"
            case _:
                return f"{key}{operator}{values[0]}"

    def test(self) -> Callable[[Labels], bool]:
        """The requirement as a function of labels; an absent key satisfies `!=` and `notin`."""
        key, operator, values = self
        wanted = values[0] if len(values) == 1 else None
        chosen = frozenset(values)
        match operator:
            case Operator.EXISTS:
                return lambda labels: key in labels
            case Operator.DOES_NOT_EXIST:
                return lambda labels: key not in labels
            case Operator.EQUALS | Operator.IN if wanted is not None:
                return lambda labels: labels.get(key) == wanted
            case Operator.EQUALS | Operator.IN:
                return lambda labels: labels.get(key) in chosen
            case Operator.NOT_EQUALS | Operator.NOT_IN if wanted is not None:
                return lambda labels: labels.get(key) != wanted
            case Operator.NOT_EQUALS | Operator.NOT_IN:
                return lambda labels: labels.get(key) not in chosen
        bound, sign = int(values[0]), 1 if operator is Operator.GREATER else -1

        def compares(labels: Labels) -> bool:
            number = _integer(labels.get(key, ""))
            return number is not None and (number - bound) * sign > 0

        return compares


_INTEGER = re.compile(r"[+-]?[0-9]+")


def _integer(text: str) -> int | None:
    """A 64 bit integer, or None: one that does not fit satisfies no comparison."""
    if len(text) > 63 or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def requirement(key: str, operator: Operator, values: Iterable[str] = ()) -> Requirement:
    """A requirement that has been checked; raises StatusError 400 with every fault."""
    check_key(key)
    values = tuple(sorted(set(values)))
    faults: list[str] = []
    if operator in (Operator.IN, Operator.NOT_IN) and not values:
        text = "for 'in', 'notin' operators, values set can't be empty"
        faults.append(f"values: Invalid value: []: {text}")
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST) and values:
        shown = "[" + ",".join(map(quoted, values)) + "]"
        text = "values set must be empty for exists and does not exist"
        faults.append(f"values: Invalid value: {shown}: {text}")
    if operator in (Operator.GREATER, Operator.LESS):
        text = "for 'Gt', 'Lt' operators, the value must be an integer"
        for index, value in enumerate(values):
            if _integer(value) is None:
                faults.append(f"values[{index}]: Invalid value: {quoted(value)}: {text}")
    for index, value in enumerate(values):
        if found := label_value_faults(value):
            where = f"values[{index}][{key}]"
            faults.append(f"{where}: Invalid value: {quoted(value)}: {'; '.join(found)}")
    if faults:
        raise bad_request(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return Requirement(key, operator, values)


def check_key(key: str) -> None:
    """Refuse a key that no label can have."""
    if faults := qualified_name_faults(key):
        # The real server prints the missing path of the fault as <nil>; clients quote it.
        raise bad_request(f"<nil>: Invalid value: {quoted(key)}: {'; '.join(faults)}")
