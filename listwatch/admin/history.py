"""What the log still has of one object: every version, and what each changed.

Used by `object_admin`. The log is compacted, so the list ends where it was cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import get_content_type_for_model

from listwatch.editing.merging import DiffLine, difference
from listwatch.editing.texts import dump
from listwatch.protocol.objects import Encoded, JSONObject, decode
from listwatch.registry.conversions import to_served
from listwatch.store.models import Change

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from listwatch.admin.object_admin import ObjectAdmin
    from listwatch.protocol.kinds import Resource

SHOWN = 50  # versions on the page


@dataclass(slots=True)
class Entry:
    """One version: `changes` is None where the version before it is not kept any more."""

    revision: int
    type: str
    at: datetime
    by: str
    changes: list[DiffLine] | None = field(default=None)


def history_view(kind: ObjectAdmin, request: HttpRequest, key: str) -> HttpResponse:
    """The page of one object's history."""
    context = {"title": f"History of {key}", "entries": entries_of(kind, key), "shown": SHOWN}
    return kind.page(request, "history", key, context)


def entries_of(kind: ObjectAdmin, key: str) -> list[Entry]:
    """The newest versions, newest first."""
    storage = kind.resource.storage
    log = Change.objects.filter(group=storage.group, resource=storage.resource, key=key)
    rows = cast("list[Change]", list(log.order_by("-revision")[: SHOWN + 1]))
    texts = {row.revision: _text(kind.resource, row) for row in rows}
    people = _people(kind, key)
    entries = []
    for row in rows[:SHOWN]:
        before = texts.get(row.previous_revision) if row.previous_revision else ""
        after = "" if row.type == "DELETED" else texts[row.revision]
        entries.append(
            Entry(
                row.revision,
                row.type,
                datetime.fromtimestamp(row.committed_at, UTC),
                people.get(row.revision, ""),
                None if before is None else difference(before, after),
            )
        )
    return entries


def _text(resource: Resource, row: Change) -> str:
    document = to_served(resource, decode(Encoded(bytes(row.body), row.splice), row.revision))
    metadata: JSONObject = document["metadata"]
    for mark in ("resourceVersion", "managedFields"):
        metadata.pop(mark, None)
    return dump(document)


def _people(kind: ObjectAdmin, key: str) -> dict[int, str]:
    """Who wrote which revision here in the admin."""
    content_type = get_content_type_for_model(kind.model)
    noted = LogEntry.objects.filter(content_type=content_type, object_id=key)
    found = {}
    for message, name in noted.values_list("change_message", "user__username")[: 4 * SHOWN]:
        revision = message.removeprefix("revision ")
        if revision.isdigit():
            found[int(revision)] = name
    return found
