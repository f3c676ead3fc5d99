"""Objects written in CEL: `Object{spec: Object.spec{replicas: 3}}` and `JSONPatch{op: "add", ...}`.

Upstream gives such expressions types that are made of the kind's schema. The evaluator here knows
no such types, so their literals are read as maps, and what they make is checked against the schema
afterwards. The caller is `registry.admission.mutating_policies`.
"""

from __future__ import annotations

import re

# Text and comments are passed over; a name may be the type of a literal, or one of its fields.
_TOKEN = re.compile(
    r"""(?P<text>[rRbB]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))"""
    r"|(?P<comment>//[^\n]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\s*\.\s*[A-Za-z_][A-Za-z0-9_]*)*)"
    r"|(?P<space>\s+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_TYPE = re.compile(r"(?:Object(?:\s*\.\s*\w+)*|JSONPatch)\s*(?=\{)")
_OPENING, _CLOSING = "([{", ")]}"
_BEFORE_FIELD = ("{", ",", "{?", ",?")
_ESCAPES = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
_RESERVED = re.compile(r"__([a-z]+)__")


def as_maps(expression: str) -> str:
    """The expression with typed literals as maps; any other expression as it is."""
    written: list[str] = []
    typed: list[bool] = []  # of each open bracket, whether it is that of a typed literal
    before = ""  # the last sign or name, with the `?` of an optional field
    at_type = False
    for match in _TOKEN.finditer(expression):
        token, kind = match[0], match.lastgroup
        if kind in ("space", "comment"):
            written.append(token)
            continue
        if kind == "name" and _TYPE.match(expression, match.start()):
            at_type, before = True, token
            continue
        if token in _OPENING:
            typed.append(at_type)
        elif token in _CLOSING and typed:
            typed.pop()
        elif kind == "name" and typed and typed[-1] and before in _BEFORE_FIELD:
            token = f'"{_field(token)}"'
        written.append(token)
        at_type = False
        before = before + token if (before, token) in (("{", "?"), (",", "?")) else token
    return "".join(written)


def _field(name: str) -> str:
    """The field that a name stands for, which CEL may be unable to say as it is."""
    for escaped, text in _ESCAPES.items():
        name = name.replace(escaped, text)
    return _RESERVED.sub(r"\1", name)
