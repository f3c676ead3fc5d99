r"""Field selectors: `status.phase=Running,spec.nodeName!=`; `\` escapes `\`, `,` and `=` in values.

Which fields a kind knows is the kind's matter: whoever parses a selector checks it next. Field
selectors go into `selectors.Selector`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from listwatch.protocol.errors import bad_request
from listwatch.protocol.names import quoted

Fields = Mapping[str, str]

ALWAYS = ("metadata.name", "metadata.namespace")
ALIASES = {"spec.host": "spec.nodeName"}  # what a pod's node was called before v1


class FieldTerm(NamedTuple):
    """One of the terms that must all hold."""

    key: str
    value: str
    negated: bool = False

    def __str__(self) -> str:
        value = re.sub(r"([\\,=])", r"\\\1", self.value)
        return f"{self.key}{'!=' if self.negated else '='}{value}"

    def test(self) -> Callable[[Fields], bool]:
        """The term as a function of fields; a field that is not there is ''."""
        key, value, negated = self
        if negated:
            return lambda fields: fields.get(key, "") != value
        return lambda fields: fields.get(key, "") == value


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Terms that must all hold: sorted and distinct, so equal selectors have equal texts."""

    terms: tuple[FieldTerm, ...] = ()
    _tests: tuple[Callable[[Fields], bool], ...] = field(
        init=False, repr=False, compare=False, default=()
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(sorted(set(self.terms))))
        object.__setattr__(self, "_tests", tuple(term.test() for term in self.terms))

    @staticmethod
    def parse(text: str) -> FieldSelector:
        """Read the text of a `fieldSelector` parameter; raises StatusError 400."""
        return _parse(text)

    @staticmethod
    def of(**fields: str) -> FieldSelector:
        """The selector that wants these values; `__` stands for the dot."""
        pairs = ((key.replace("__", "."), value) for key, value in fields.items())
        return FieldSelector(tuple(FieldTerm(key, value) for key, value in pairs))

    def check(
        self, selectable: Collection[str], *, namespaced: bool = True, custom: bool = False
    ) -> FieldSelector:
        """The selector under the names the kind has; raises StatusError 400 for an unknown field.

        `selectable` are the kind's own fields, beyond its name and namespace. A kind without any
        refuses in other words than one that has some; a custom one (`custom`) as one that has.
        """
        terms = self.terms
        if any(term.key in ALIASES for term in terms):
            terms = tuple(_under_its_name(term, selectable) for term in terms)
        own = bool(selectable) or custom
        for key, _, _ in terms:
            if key in selectable or key == "metadata.name":
                continue
            if key == "metadata.namespace" and (namespaced or not own):
                continue
            if own:
                raise bad_request(f"field label not supported: {key}")
            known = ", ".join(map(quoted, ALWAYS))
            raise bad_request(f"{quoted(key)} is not a known field selector: only {known}")
        return self if terms is self.terms else FieldSelector(terms)

    def matches(self, fields: Fields) -> bool:
        """Whether fields satisfy every term."""
        for test in self._tests:  # noqa: SIM110 -- half the cost of all() for the usual one test
            if not test(fields):
                return False
        return True

    @property
    def empty(self) -> bool:
        """Whether it selects everything."""
        return not self.terms

    def requires(self, key: str) -> str | None:
        """The one value that a field must have, if it asks for one."""
        return next((t.value for t in self.terms if t.key == key and not t.negated), None)

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))


def _under_its_name(term: FieldTerm, selectable: Collection[str]) -> FieldTerm:
    name = ALIASES.get(term.key, term.key)
    renamed = name in selectable and term.key not in selectable
    return term._replace(key=name) if renamed else term


EVERYTHING = FieldSelector()

_TERM = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)
_PIECE = re.compile(r"\\(.?)|(.)", re.DOTALL)


@lru_cache(maxsize=2048)
def _parse(text: str) -> FieldSelector:
    terms = []
    for part in _split(text):
        if not part:
            continue
        term = _TERM.fullmatch(part)
        if term is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        key, operator, value = term.groups()
        terms.append(FieldTerm(key, _unescape(value), operator == "!="))
    return FieldSelector(tuple(terms))


def _split(text: str) -> list[str]:
    """The parts between commas that no backslash stands before."""
    parts, start, escaped = [], 0, False
    for index, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ",":
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _unescape(value: str) -> str:
    if not re.search(r"[\\,=]", value):
        return value
    found = []
    for escaped, plain in _PIECE.findall(value):
        if plain == "=":
            raise bad_request(f"invalid field selector: unescaped character in value: {plain}")
        if plain == "\\" or (not plain and escaped not in ("\\", ",", "=")):
            raise bad_request(f"invalid field selector: invalid escape sequence: \\{escaped}")
        found.append(plain or escaped)
    return "".join(found)
