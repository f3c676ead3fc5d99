"""Edit and delete: the forms of one object, sent back and answered.

A change is looked at before it is made: the first press asks the server by a dry run and shows the
difference, the second writes, and only the very text that was looked at. Nothing that a person
typed is lost to a conflict. Everything here waits, so it runs in a thread.
"""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from dashboard.objects.past import lines
from listwatch.editing.form import Editing, Page, Saved
from listwatch.editing.forms import DeleteForm
from listwatch.editing.packing import unpack
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from django.http import QueryDict

    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.registry.context import Deleted

JSON = dict[str, Any]  # Any: JSON values


def edit(
    asker: Asker, resource: Resource, key: str, data: QueryDict | None, *, status: bool
) -> Page | Saved:
    """The form as it is opened (`data` None), or what comes of it; raises 403, 404."""
    editing = Editing(asker.door(resource), resource, key, status_only=status)
    if data is None:
        return editing.open()
    if "_save" in data and data.get("checked") != mark_of(data.get("document", "")):
        data = data.copy()
        del data["_save"]
        data["_check"] = "1"  # this text was not looked at yet
    return editing.submit(data)


def mark_of(text: str) -> str:
    """What the form carries of the text that was looked at."""
    plain = text.replace("\r\n", "\n")
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def edit_data(page: Page) -> JSON:
    """A form as the page and its twin tell it."""
    text = page.form.initial["document"]
    stale = None
    if page.stale is not None:
        stale = {
            **page.stale.what._asdict(),
            "revision": page.stale.revision,
            "began": page.form.initial["revision"],
            "theirs": [each._asdict() for each in page.stale.theirs],
            "mine": [each._asdict() for each in page.stale.mine],
        }
    checked = None if page.checked is None else [each._asdict() for each in page.checked]
    return {
        "text": text,
        "revision": page.form.initial["revision"],
        "checked": checked,
        "mark": mark_of(text) if page.checked is not None and not page.is_merged else "",
        "warnings": page.warnings,
        "faults": [each._asdict() for each in page.faults],
        "stale": stale,
        "merged": page.merged if page.is_merged else None,
        "mine": lines(unpack(page.form.initial["base"]), text) if page.faults else [],
    }


def delete(
    asker: Asker, resource: Resource, key: str, data: QueryDict
) -> tuple[DeleteForm, Deleted | None, bool]:
    """Delete as a form says: the form, what came of it, whether the object had moved on."""
    form = DeleteForm(resource, data)
    if not form.is_valid():
        return form, None, False
    try:
        return form, asker.door(resource).delete(key, form.options()), False
    except StatusError as error:
        if error.code != HTTPStatus.CONFLICT:
            raise
        return form, None, True
