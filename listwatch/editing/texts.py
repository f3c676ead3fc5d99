"""An object as the text that a person edits, and back.

What the server keeps for itself is not in the text: managedFields and the marks of the object are
shown beside it, and the status, where it is written separately. Used by `form`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from listwatch.editing.lines import line_of
from listwatch.protocol import yaml_documents
from listwatch.protocol.kinds import Resource
from listwatch.protocol.objects import JSONObject

# Set by the server, and taken from the stored object when they are left out.
MARKS = ("uid", "resourceVersion", "creationTimestamp", "generation", "selfLink")


@dataclass(frozen=True, slots=True)
class Parts:
    """An object taken apart: `text` is edited, the rest is shown."""

    text: str
    marks: JSONObject  # of MARKS those the object has
    managed: list[JSONObject]  # who manages which fields
    status: str  # YAML; '' if it has none, or if it is edited with the rest


def has_status(resource: Resource) -> bool:
    """Whether the status of this kind is written separately."""
    return resource.subresource("status") is not None


def parts_of(resource: Resource, document: JSONObject, *, status_only: bool = False) -> Parts:
    """Take an object apart for the form, or its status for the form of that."""
    shown = dict(document)
    metadata = dict(shown.pop("metadata", {}))
    managed = metadata.pop("managedFields", [])
    marks = {mark: metadata.pop(mark) for mark in MARKS if mark in metadata}
    status = ""
    if status_only:
        text = dump({"status": shown.get("status", {})})
        return Parts(text, marks, managed, "")
    if has_status(resource) and "status" in shown:
        status = dump(shown.pop("status"))
    return Parts(dump({**shown, "metadata": metadata}), marks, managed, status)


def dump(value: Any) -> str:  # Any: a JSON value
    """YAML as kubectl shows it."""
    return yaml_documents.dump(value).decode()


_PLACE = re.compile(r'in "[^"]*", line (\d+), column')


class TextError(ValueError):
    """The text is no object; `line` counts from 1, 0 if the fault is nowhere in particular."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def parse(text: str) -> tuple[JSONObject, tuple[str, ...]]:
    """The object in a text, and the paths of keys that stand twice; raises TextError."""
    try:
        document, duplicates = yaml_documents.load(text.encode("utf-8", "surrogatepass"))
    except ValueError as error:
        places = [int(place) for place in _PLACE.findall(str(error))]
        line = places[-1] if places else 0  # the last is the fault, others lead to it
        end = len(text.rstrip().splitlines())
        if line > end:  # something was still open there: to blame is where it began
            line = min(places[0], end)
        raise TextError(_first_words(str(error)), line) from None
    if document is None:
        raise TextError("There is nothing in the text.")
    if not isinstance(document, dict):
        raise TextError('The text is not an object: it should begin with "apiVersion:".', 1)
    if not isinstance(document.get("metadata") or {}, dict):
        raise TextError("metadata should be an object.", line_of(text, "metadata"))
    return document, duplicates


def _first_words(message: str) -> str:
    """PyYAML's messages are its contexts and problems on lines of their own."""
    lines = [line.strip() for line in message.splitlines()]
    words = [line for line in lines if line and not line.startswith(('in "', "in '", "^"))]
    return "; ".join(words) or message
