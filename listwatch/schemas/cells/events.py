"""Cells of events, in the fields of either group that serves them."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import name_of, number, part, since, text


def event(document: JSONObject, now: float) -> list[Any]:
    """Last Seen, Type, Reason, Object, Subobject, Source, Message, First Seen, Count, Name."""
    of_events_group = "regarding" in document or "note" in document
    about = part(document, "regarding" if of_events_group else "involvedObject")
    message = text(document, "note" if of_events_group else "message")
    first = _either(document, "firstTimestamp", "deprecatedFirstTimestamp")
    last = _either(document, "lastTimestamp", "deprecatedLastTimestamp")
    count = number(document, "count") or number(document, "deprecatedCount") or 1
    first_seen = since(first or text(document, "eventTime"), now)
    last_seen = since(last, now) if last else first_seen
    if series := part(document, "series"):
        last_seen, count = since(text(series, "lastObservedTime"), now), number(series, "count")
    kind, name = text(about, "kind").lower(), text(about, "name")
    return [
        last_seen,
        text(document, "type"),
        text(document, "reason"),
        f"{kind}/{name}" if name else kind,
        text(about, "fieldPath"),
        _source(document),
        message.strip(),
        first_seen,
        count,
        name_of(document),
    ]


def _either(document: JSONObject, key: str, other: str) -> str:
    return text(document, key) or text(document, other)


def _source(document: JSONObject) -> str:
    source = part(document, "source") or part(document, "deprecatedSource")
    component = text(source, "component") or _either(
        document, "reportingComponent", "reportingController"
    )
    instance = text(source, "host") or text(document, "reportingInstance")
    return f"{component}, {instance}" if instance else component
