"""The rules of `x-kubernetes-validations`, evaluated on an object and on what it was before.

Needs the extra `cel`; without it nothing is found, and whoever defines such a kind is warned.
Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel. The caller is `kinds`.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from listwatch.protocol.errors import Cause
from listwatch.schemas.structural.cel_library import environment
from listwatch.schemas.structural.nodes import MISSING, Node, Schema
from listwatch.schemas.structural.numbers import same
from listwatch.schemas.structural.validating import correlated

if TYPE_CHECKING:
    from listwatch.schemas.structural.cel_library import Expression

_ESCAPED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_RESERVED = frozenset((
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
    "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
))  # fmt: skip
_MADE = {"date-time": "timestamp", "duration": "duration"}
# A field of the object, unless somebody asks whether it is there, or goes on to a method of it.
_PATH = re.compile(r"(?<!has\()(?<![\w.'\"])(?:self|oldSelf)(?P<path>(?:\.[A-Za-z_]\w*)*)(?![\w(])")
_OLD = re.compile(r"\boldSelf\b")
_ROOT = ("apiVersion", "kind", "metadata")


def rule_faults(value: Any, node: Node, old: Any = MISSING) -> list[Cause]:  # Any: JSON
    """What the rules find wrong with an object, or with the change of an old one."""
    found: list[Cause] = []
    if environment() is not None:
        _walk(value, node, old, "", found)
    return found


def compile_fault(rule: str) -> str:
    """Why a rule is none, '' if it is one or nobody knows."""
    made = environment()
    if made is None:
        return ""
    try:
        made.compile(rule)
    except RuntimeError as error:
        return f"compilation failed: {str(error).rpartition(' [')[0] or error}"
    return ""


def _walk(value: Any, node: Node, old: Any, path: str, found: list[Cause]) -> None:
    if value is None:
        return
    for rule in node.rules:
        fault = _evaluate(rule, value, node, old, path)
        if fault is not None:
            found.append(fault)
    if isinstance(value, dict):
        for key, inner in value.items():
            child = node.child(key)
            if child is not None:
                before = old.get(key, MISSING) if isinstance(old, dict) else MISSING
                _walk(inner, child, before, f"{path}.{key}" if path else key, found)
    elif isinstance(value, list) and node.items is not None:
        element_before = correlated(node, value, old)
        for index, inner in enumerate(value):
            _walk(inner, node.items, element_before(index), f"{path}[{index}]", found)


def _evaluate(rule: Schema, value: Any, node: Node, old: Any, path: str) -> Cause | None:
    text, optional = rule["rule"], bool(rule.get("optionalOldSelf"))
    looks_back = bool(_OLD.search(text))
    if looks_back and old is MISSING and not optional:
        return None  # a rule about changes: nothing has changed
    if not looks_back and old is not MISSING and same(value, old):
        return None  # as with the schema, what is not touched is not refused
    data = {"self": shown_to_rules(value, node, root=not path)}
    if looks_back:
        data["oldSelf"] = None if old is MISSING else shown_to_rules(old, node, root=not path)
        if optional:
            data["oldSelf"] = [] if old is MISSING else [data["oldSelf"]]
            text = _OLD.sub(
                "(size(oldSelf) == 0 ? optional.none() : optional.of(oldSelf[0]))", text
            )
    made = _compiled(text if optional else _typed(text, node))
    if isinstance(made, str):
        return _cause(rule, f"rule compile error: {made}", path)
    outcome = made.eval(data=data)
    if outcome.type().name().lower() == "error":
        return _cause(rule, f"{outcome.value()} evaluating rule: {_message(rule, data)}", path)
    return None if outcome.value() is True else _cause(rule, _message(rule, data), path)


def _message(rule: Schema, data: dict[str, Any]) -> str:
    expression = rule.get("messageExpression")
    made = _compiled(expression) if expression else ""
    if not isinstance(made, str):
        outcome = made.eval(data={"oldSelf": None, **data})
        text = outcome.value() if outcome.type().name().lower() == "string" else ""
        if text.strip() and "\n" not in text:
            return str(text)
    return str(rule.get("message") or f"failed rule: {rule['rule'].strip()}")


def _cause(rule: Schema, message: str, path: str) -> Cause:
    reason = rule.get("reason") or "FieldValueInvalid"
    field = path + (rule.get("fieldPath") or "")
    text = {
        "FieldValueForbidden": f"Forbidden: {message}",
        "FieldValueRequired": f"Required value: {message}",
        "FieldValueDuplicate": f"Duplicate value: {message}",
    }.get(reason, f"Invalid value: {message}")
    return Cause(reason, text, field.removeprefix(".") or "<nil>")


@lru_cache(1024)
def _compiled(text: str) -> Expression | str:
    made = environment()
    assert made is not None
    try:
        return made.compile(text)
    except RuntimeError as error:
        return str(error)


def shown_to_rules(value: Any, node: Node | None, *, root: bool = False) -> Any:  # Any: CEL values
    """A value as its rules see it: typed by the schema, under names that CEL can say."""
    if node is None:
        return value
    if isinstance(value, dict):
        shown: dict[str, Any] = {}
        for key, inner in value.items():
            declared = node.properties.get(key)
            if (root or node.embedded) and key in _ROOT:
                shown[key] = _metadata(inner) if key == "metadata" else inner
            elif declared is not None:
                shown[_escaped(key)] = shown_to_rules(inner, declared)
            elif node.takes_more:
                shown[key] = shown_to_rules(inner, node.additional)
        return shown
    if isinstance(value, list):
        return [shown_to_rules(inner, node.items) for inner in value]
    if node.type == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _formatted(value, node.schema.get("format")) if isinstance(value, str) else value


def _metadata(metadata: Any) -> Any:
    return {key: metadata[key] for key in ("name", "generateName") if key in metadata}


def _escaped(key: str) -> str:
    if key in _RESERVED:
        return f"__{key}__"
    for text, name in _ESCAPED.items():
        key = key.replace(text, name)
    return key


def _formatted(text: str, name: str | None) -> Any:
    try:
        return base64.b64decode(text, validate=True) if name == "byte" else text
    except ValueError:
        return text


@lru_cache(1024)
def _typed(text: str, node: Node) -> str:
    """The expression with its times made times: as values the package takes them as texts alone."""

    def convert(match: re.Match[str]) -> str:
        here: Node | None = node
        for key in match["path"].split(".")[1:]:
            here = None if here is None else here.child(key)
        name = None if here is None else _MADE.get(here.schema.get("format") or "")
        return match[0] if name is None else f"{name}({match[0]})"

    return _PATH.sub(convert, text)
