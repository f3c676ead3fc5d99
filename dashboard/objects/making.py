"""Many documents of one text, made one by one: each with what came of it.

A document that was refused stays in the text, so that a second try makes only what is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dashboard.objects.catalogue import by_kind, object_url
from listwatch.editing.faults import Fault, faults_of
from listwatch.editing.lines import line_of
from listwatch.editing.texts import TextError, dump, parse
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import decode

if TYPE_CHECKING:
    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject

JSON = dict[str, Any]  # Any: JSON values

DOCUMENTS = 200  # of one text at most
_SEPARATOR = re.compile(r"^---(?:[ \t].*)?$", re.MULTILINE)


@dataclass(slots=True)
class Outcome:
    """What came of one document; `line` is where it begins in the whole text."""

    line: int
    text: str
    kind: str = ""
    key: str = ""
    url: str = ""
    done: bool = False
    faults: list[Fault] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    whole: str = ""  # the document of which it is an item; '' if it stands for itself
    within: str = ""  # where in that document: `items[0].`

    def blame(self, error: StatusError | TextError) -> None:
        """Set what was refused beside its lines."""
        self.faults = faults_of(error, self.whole or self.text, within=self.within)

    def blame_field(self, name: str, why: str) -> None:
        """Set one fault beside a field, or beside the first line where there is no such field."""
        line = line_of(self.whole or self.text, self.within + name)
        self.faults.append(Fault(line or 1, name, why))

    def to_dict(self) -> JSON:
        """For the page and its twin."""
        return {
            "line": self.line,
            "kind": self.kind,
            "key": self.key,
            "url": self.url,
            "done": self.done,
            "warnings": self.warnings,
            "faults": [
                {"line": each.line, "field": each.field, "message": each.message}
                for each in self.faults
            ],
        }


def split(text: str) -> list[tuple[int, str]]:
    """The documents with the lines that they begin in; those of nothing but comments are none."""
    found, start = [], 0
    for mark in [*_SEPARATOR.finditer(text), None]:
        end = mark.start() if mark else len(text)
        part = text[start:end]
        if any(line.strip() and not line.lstrip().startswith("#") for line in part.splitlines()):
            # What precedes the first line is the end of the separator's own.
            skipped = len(part) - len(part.lstrip("\n"))
            found.append((text.count("\n", 0, start + skipped) + 1, part.lstrip("\n")))
        start = mark.end() if mark else end
    return found


def make(asker: Asker, text: str, namespace: str, *, dry_run: bool) -> list[Outcome]:
    """Create every document, or ask whether it could be; waits, so not for the event loop.

    `namespace` is for those that say none.
    """
    documents = split(text)
    if len(documents) > DOCUMENTS:
        fault = Fault(0, "", f"There are {len(documents)} documents; {DOCUMENTS} is the most.")
        return [Outcome(1, text, faults=[fault])]
    outcomes = []
    for line, part in documents:
        for outcome, document, duplicates in _objects(line, part):
            if document is not None:
                _make(asker, outcome, document, duplicates, namespace or "default", dry_run)
            outcome.faults = [
                each._replace(line=each.line + line - 1) if each.line else each
                for each in outcome.faults
            ]
            outcomes.append(outcome)
    return outcomes


def left_over(outcomes: list[Outcome]) -> str:
    """The text of what was not made."""
    return "---\n".join(
        each.text if each.text.endswith("\n") else f"{each.text}\n"
        for each in outcomes
        if not each.done
    )


def _objects(line: int, part: str) -> list[tuple[Outcome, JSONObject | None, tuple[str, ...]]]:
    """The object of a document, or those of a List."""
    try:
        document, duplicates = parse(part)
    except TextError as error:
        return [(Outcome(line, part, faults=faults_of(error, part)), None, ())]
    if document.get("kind") == "List" and isinstance(document.get("items"), list):
        return [
            (
                Outcome(
                    line + (line_of(part, f"items[{index}]") or 1) - 1,
                    dump(item),
                    whole=part,
                    within=f"items[{index}].",
                ),
                item,
                duplicates,
            )
            for index, item in enumerate(document["items"])
            if isinstance(item, dict)
        ]
    return [(Outcome(line, part), document, duplicates)]


def _make(
    asker: Asker,
    outcome: Outcome,
    document: JSONObject,
    duplicates: tuple[str, ...],
    namespace: str,
    dry_run: bool,
) -> None:
    api_version, kind = str(document.get("apiVersion", "")), str(document.get("kind", ""))
    outcome.kind = kind
    for name in ("apiVersion", "kind"):
        if not document.get(name):
            outcome.blame_field(name, f"{name} not set")
    if outcome.faults:
        return
    resource = by_kind(asker.runtime.resources, api_version, kind)
    if resource is None or resource.api_version != api_version:
        what = f'no matches for kind "{kind}" in version "{api_version}"'
        versions = {each.api_version for each in asker.runtime.resources.served()}
        outcome.blame_field("kind" if api_version in versions else "apiVersion", what)
        return
    try:
        _create(asker, resource, outcome, document, duplicates, namespace, dry_run)
    except StatusError as error:
        outcome.blame(error)


def _create(
    asker: Asker,
    resource: Resource,
    outcome: Outcome,
    document: JSONObject,
    duplicates: tuple[str, ...],
    namespace: str,
    dry_run: bool,
) -> None:
    metadata = document.setdefault("metadata", {}) or {}
    document["metadata"] = metadata
    for mark in ("resourceVersion", "uid"):
        metadata.pop(mark, None)
    place = str(metadata.get("namespace") or namespace) if resource.namespaced else ""
    name = str(metadata.get("name") or metadata.get("generateName") or "")
    outcome.key = f"{place}/{name}" if place else name
    door = asker.door(resource)
    ctx = door.context(f"{place}/" if place else "", dry_run=dry_run, duplicates=duplicates)
    written = door.create(ctx, document)
    made = decode(written.encoded, written.revision)["metadata"]
    outcome.key = f"{place}/{made['name']}" if place else made["name"]
    outcome.url = "" if dry_run else object_url(resource, place, made["name"])
    outcome.done, outcome.warnings = True, ctx.warnings
