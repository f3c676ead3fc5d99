"""The 410 calculator: for any revision, who would serve a watch from there, and with what.

The answer is `Cacher.explain`'s; here it becomes words and a line on which the revision stands.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from dashboard.formats import count, counted
from listwatch.protocol.errors import StatusError, bad_request, expired
from listwatch.protocol.options import ListOptions
from listwatch.protocol.selectors import Selector

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import Explanation

JSON = dict[str, Any]  # Any: JSON values

FIELDS = ("from", "namespace", "labels", "fields")
TYPES = ("ADDED", "MODIFIED", "DELETED")
VERDICTS = {
    "ring": "Served by the ring",
    "log": "Served by the log",
    "refused": "Refused: 410 Expired",
    "future": "Accepted, and silent",
    "state": "Begins with the state",
}


async def calculate(cacher: Cacher, resource: Resource, form: Mapping[str, str]) -> JSON | None:
    """The answer for what was typed in; None if nothing was. A refusal is a `status` in it."""
    text = form.get("from", "").strip()
    if not text:
        return None
    try:
        revision, namespace, selector = _read(text, resource, form)
    except StatusError as error:
        return {"status": error.to_dict()}
    explanation = await cacher.explain(revision, namespace=namespace, selector=selector)
    source = explanation.source if revision else "state"
    answer: JSON = {
        "revision": str(revision),
        "source": source,
        "verdict": VERDICTS[source],
        "says": _says(explanation, source, cacher.statistics().objects),
        "replayed": explanation.replayed,
        "counted": explanation.counted,
        "types": [
            {"type": kind, "count": explanation.by_type.get(kind, 0)}  # type: ignore[call-overload]  # a StrEnum
            for kind in TYPES
        ],
        "reach": reach(explanation),
        "command": _command(resource, form, revision),
    }
    if source == "refused":
        answer["refusal"] = expired(explanation.message).to_dict()
    return answer


def reach(explanation: Explanation) -> list[JSON]:
    """The revisions there are, in stretches by who serves them; `here` is a place of 100."""
    log, ring = explanation.oldest_in_log, explanation.oldest_in_ring
    revision, applied = explanation.revision, explanation.applied
    edges = [
        ("refused", "410 Expired", 0, log),
        ("log", "the log", log, ring),
        ("ring", "the ring", ring, applied + 1),
    ]
    found = []
    for kind, title, start, end in edges:
        if end <= start:
            continue
        here = None
        if start <= revision < end:
            here = round(4 + 92 * (revision - start) / max(end - 1 - start, 1), 1)
        upto = end - 1
        span = f"{start} to {upto}" if start < upto else f"{start}"
        found.append({"is": kind, "title": title, "span": span, "here": here})
    beyond = revision > applied
    span = f"above {applied}"
    found.append({"is": "future", "title": "not yet", "span": span, "here": 50 if beyond else None})
    return found


def _read(text: str, resource: Resource, form: Mapping[str, str]) -> tuple[int, str, Selector]:
    if not text.isdecimal() or not text.isascii() or int(text) >= 2**64:
        raise bad_request(f'resourceVersion: "{text}" is not a number below 2^64')
    namespace = form.get("namespace", "").strip() if resource.namespaced else ""
    query = {"labelSelector": [form.get("labels", "").strip()]}
    query["fieldSelector"] = [form.get("fields", "").strip()]
    options = ListOptions.from_query({name: value for name, value in query.items() if value[0]})
    fields = options.field_selector
    if not fields.empty:
        fields = fields.check(resource.selectable_fields, namespaced=resource.namespaced)
    return int(text), namespace, Selector(options.label_selector, fields)


def _says(told: Explanation, source: str, objects: int) -> str:
    events = counted(told.replayed, "event")
    match source:
        case "state":
            return (
                f"0 asks for any version: the watch begins with the {count(objects)} objects there"
                " are, as ADDED, and is never refused."
            )
        case "future":
            return (
                f"The server is at {told.applied}. The watch is accepted, and hears nothing until "
                f"an event exceeds {told.revision}."
            )
        case "ring":
            return f"It is answered from memory, and begins with {events}."
        case "log":
            more = "" if told.counted else "at least "
            return (
                f"The ring begins at {told.oldest_in_ring}; the log still holds what lies between."
                f" The watch begins with {more}{events}, read from the database first."
            )
        case _:
            return (
                f"Nothing holds what happened between {told.revision} and {told.oldest_in_log}."
                " The client must list again: a list's own resourceVersion is always recent enough,"
                " that of a single object may not be."
            )


def _command(resource: Resource, form: Mapping[str, str], revision: int) -> str:
    prefix = f"/apis/{resource.group}" if resource.group else "/api"
    path = f"{prefix}/{resource.version}"
    if resource.namespaced and (namespace := form.get("namespace", "").strip()):
        path += f"/namespaces/{namespace}"
    query = {"watch": "1", "resourceVersion": str(revision)}
    for field, parameter in (("labels", "labelSelector"), ("fields", "fieldSelector")):
        if text := form.get(field, "").strip():
            query[parameter] = text
    return shlex.join(["kubectl", "get", "--raw", f"{path}/{resource.resource}?{urlencode(query)}"])
