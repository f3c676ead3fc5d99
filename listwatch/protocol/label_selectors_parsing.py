"""Reads the text of a label selector: words and signs, then requirements.

`in` and `notin` are operators only where an operator may stand: `in in (in)` is lawful. The
requirements go back to `label_selectors.LabelSelector.parse`.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError, bad_request
from listwatch.protocol.label_requirements import Operator, Requirement, check_key, requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n]+)|\Z)")
_OPERATORS = {
    "in": Operator.IN, "notin": Operator.NOT_IN, "=": Operator.EQUALS, "==": Operator.EQUALS,
    "!=": Operator.NOT_EQUALS, ">": Operator.GREATER, "<": Operator.LESS,
}  # fmt: skip


class _Token(Enum):
    """A sign is its own text; the rest is a word, or the end."""

    SIGN = auto()
    WORD = auto()
    END = auto()


def _tokens(text: str) -> Iterator[tuple[_Token, str]]:
    for sign, word in _TOKEN.findall(text):
        if sign:
            yield _Token.SIGN, sign
        elif word:
            yield _Token.WORD, word
        else:
            break
    yield _Token.END, ""


class _Reader:
    """A place among tokens; what may stand there decides the words of a refusal."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def peek(self) -> tuple[_Token, str]:
        return self._tokens[self._at]

    def take(self) -> tuple[_Token, str]:
        token = self._tokens[self._at]
        if token[0] is not _Token.END:  # the end stays where it is, however often it is taken
            self._at += 1
        return token


def read_requirements(text: str) -> Iterator[Requirement]:
    """The requirements in a text, in its order; raises StatusError 400."""
    reader = _Reader(text)
    token, word = reader.peek()
    if token is _Token.SIGN and word != "!":
        raise bad_request(f"found '{word}', expected: !, identifier, or 'end of string'")
    while token is not _Token.END:
        try:
            yield _read_requirement(reader)
        except StatusError as fault:
            raise bad_request(f"unable to parse requirement: {fault.message}") from None
        token, word = reader.take()
        if token is _Token.END:
            return
        if word != "," or token is _Token.WORD:
            raise bad_request(f"found '{word}', expected: ',' or 'end of string'")
        token, word = reader.peek()
        if token is not _Token.WORD and word != "!":
            raise bad_request(f"found '{word}', expected: identifier after ','")


def _read_requirement(reader: _Reader) -> Requirement:
    token, key = reader.take()
    absent = token is _Token.SIGN and key == "!"
    if absent:
        token, key = reader.take()
    if token is not _Token.WORD:
        raise bad_request(f"found '{key}', expected: identifier")
    check_key(key)
    if absent:  # whatever follows is refused by the caller
        return Requirement(key, Operator.DOES_NOT_EXIST)
    token, word = reader.peek()
    if token is _Token.END or (token is _Token.SIGN and word == ","):
        return Requirement(key, Operator.EXISTS)
    token, word = reader.take()
    operator = _OPERATORS.get(word)
    if operator is None:
        raise bad_request(f"found '{word}', expected: in, notin, =, ==, !=, gt, lt")
    if operator in (Operator.IN, Operator.NOT_IN):
        return requirement(key, operator, _read_values(reader))
    return requirement(key, operator, [_read_value(reader)])


def _read_value(reader: _Reader) -> str:
    """The one value of an equality; it may be empty."""
    token, word = reader.peek()
    if token is _Token.END or (token is _Token.SIGN and word == ","):
        return ""
    reader.take()
    if token is not _Token.WORD:
        raise bad_request(f"found '{word}', expected: identifier")
    return word


def _read_values(reader: _Reader) -> list[str]:
    """`(a, b)`; what stands empty between commas and brackets is the empty value."""
    token, word = reader.take()
    if token is not _Token.SIGN or word != "(":
        raise bad_request(f"found '{word}' expected: '('")
    values: list[str] = []
    pending = True  # a value may stand here; the empty one does if none comes
    while True:
        token, word = reader.take()
        if token is _Token.WORD and pending:
            values.append(word)
            pending = False
        elif token is _Token.SIGN and word in (",", ")"):
            if pending:
                values.append("")
            if word == ")":
                return values
            pending = True
        elif pending and not values:
            raise bad_request(f"found '{word}', expected: ',', ')' or identifier")
        elif pending:
            raise bad_request(f"found '{word}', expected: ',', or identifier")
        else:
            raise bad_request(f"found '{word}', expected: ',' or ')'")
