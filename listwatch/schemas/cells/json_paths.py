"""JSONPath as kubectl and printer columns have it: fields, indexes, slices, unions, filters, `..`.

Upstream: client-go/util/jsonpath. Used by `cells.custom`, and by `structural.kinds` to leave
out what is no path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import orjson

Step = Callable[[Any], Iterator[Any]]  # Any: JSON values
_NAME = re.compile(r"(?:[^\s.\[\]\\(){}'\"]|\\.)+")
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_UNION = re.compile(rf"\s*(?:{_QUOTED})(?:\s*,\s*(?:{_QUOTED}))*\s*")
_INDEXES = re.compile(r"\s*-?[0-9]+(?:\s*,\s*-?[0-9]+)*\s*")
_SLICE = re.compile(r"\s*(-?[0-9]*)\s*:\s*(-?[0-9]*)\s*(?::\s*([0-9]*))?\s*")
_FILTER = re.compile(r"\?\(\s*(.+?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?))?\s*\)", re.DOTALL)


class PathError(ValueError):
    """A text that is no path."""


def find(path: str, document: Any) -> list[Any]:  # Any: JSON values
    """Everything that a path leads to; nothing where it leads nowhere."""
    return list(_follow(_steps(path), document))


@lru_cache(2048)
def _steps(path: str) -> tuple[Step, ...]:
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    steps: list[Step] = []
    at = 0
    while at < len(text):
        if text.startswith("..", at):
            steps.append(_everywhere)
            at += 2
            if text.startswith("[", at):
                continue
        elif text[at] == "." and at + 1 < len(text) and text[at + 1] != "[":
            at += 1
        elif text[at] == "[":
            end = _closing(text, at)
            steps.append(_bracket(text[at + 1 : end]))
            at = end + 1
            continue
        elif text[at] == ".":
            at += 1
            continue
        found = _NAME.match(text, at)
        if found is None:
            raise PathError(f"unrecognized character in {path!r}")
        steps.append(_wild if found[0] == "*" else _field(re.sub(r"\\(.)", r"\1", found[0])))
        at = found.end()
    return tuple(steps)


def check(path: str) -> str:
    """Why a text is no path, or ''."""
    try:
        _steps(path)
    except PathError as error:
        return str(error)
    return ""


def _closing(text: str, at: int) -> int:
    depth, quote = 0, ""
    for index in range(at, len(text)):
        character = text[index]
        if quote:
            quote = "" if character == quote and text[index - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character == "[":
            depth += 1
        elif character == "]":
            depth -= 1
            if not depth:
                return index
    raise PathError("unterminated array")


def _bracket(inside: str) -> Step:
    if inside.strip() == "*":
        return _wild
    if _UNION.fullmatch(inside):
        names = [re.sub(r"\\(.)", r"\1", n[1:-1]) for n in re.findall(_QUOTED, inside)]
        return lambda value: (inner for name in names for inner in _field(name)(value))
    if _INDEXES.fullmatch(inside):
        numbers = [int(number) for number in inside.split(",")]
        return lambda value: (inner for number in numbers for inner in _index(value, number))
    if (found := _SLICE.fullmatch(inside)) is not None:
        bounds = slice(*(int(part) if part else None for part in found.groups()))
        return lambda value: iter(value[bounds] if isinstance(value, list) else ())
    if (found := _FILTER.fullmatch(inside.strip())) is not None:
        return _filter(*found.groups())
    raise PathError(f"invalid array index {inside}")


def _follow(steps: tuple[Step, ...], value: Any) -> Iterator[Any]:
    if not steps:
        yield value
        return
    for inner in steps[0](value):
        yield from _follow(steps[1:], inner)


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _index(value: Any, number: int) -> Iterator[Any]:
    if isinstance(value, list) and -len(value) <= number < len(value):
        yield value[number]


def _wild(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _everywhere(value: Any) -> Iterator[Any]:
    yield value
    for inner in _wild(value):
        yield from _everywhere(inner)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def _filter(left: str, operator: str | None, right: str | None) -> Step:
    first = _operand(left)
    second = _operand(right) if right is not None else None

    def keeps(element: Any) -> bool:
        values = first(element)
        if operator is None or second is None:
            return bool(values)
        others = second(element)
        try:
            return bool(values and others) and _COMPARE[operator](values[0], others[0])
        except TypeError:
            return False

    return lambda value: (element for element in _wild(value) if keeps(element))


def _operand(text: str) -> Callable[[Any], list[Any]]:
    if text.startswith("@"):
        steps = _steps(text[1:])
        return lambda element: list(_follow(steps, element))
    try:
        constant = text[1:-1] if text[:1] == "'" == text[-1:] else orjson.loads(text)
    except orjson.JSONDecodeError:
        raise PathError(f"unrecognized operand {text}") from None
    return lambda _: [constant]
