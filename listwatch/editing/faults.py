"""What the registry refused, as faults beside the lines of the text that they speak of.

Used by `form`; every reason of a refusal becomes one fault.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from listwatch.editing.lines import line_of, line_of_type
from listwatch.editing.texts import TextError
from listwatch.protocol.errors import StatusError


class Fault(NamedTuple):
    """One thing that is wrong; `line` counts from 1, 0 where no line is to blame."""

    line: int
    field: str
    message: str


_STRICT = re.compile(r'(unknown|duplicate) field "((?:[^"\\]|\\.)*)"')
_UNMARSHAL = re.compile(r"cannot unmarshal (\w+) into Go struct field \w+\.(\S+) of type (\S+)")


def faults_of(error: StatusError | TextError, text: str, *, within: str = "") -> list[Fault]:
    """All that is wrong, in the order of the lines; what belongs to no line comes first.

    `within` is where the object stands in the text, if that is not the whole: `items[0].`.
    """
    if isinstance(error, TextError):
        return [Fault(error.line, "", str(error))]
    found = [
        Fault(line_of(text, within + c.field), c.field, c.message) for c in error.causes if c.field
    ]
    if not found:
        found = _told_in_words(error.message, text, within)
    return sorted(dict.fromkeys(found or [Fault(0, "", error.message)]))


def _told_in_words(message: str, text: str, within: str) -> list[Fault]:
    """The fields that a message names without saying so."""
    found = []
    for kind, field in _STRICT.findall(message):
        why = "There is no such field." if kind == "unknown" else "This field is given twice."
        found.append(Fault(line_of(text, within + field), field, why))
    for given, field, wanted in _UNMARSHAL.findall(message):
        article = "An" if given[0] in "aeiou" else "A"
        why = f"{article} {given} stands where {wanted} is wanted."
        line = line_of_type(text, within + field, given, wanted)
        found.append(Fault(line, field, why))
    return found
