"""The form of an object: what is shown, what is asked of the registry, what a refusal looks like.

A form carries the state it began with. When the object has moved on since, nothing is written: the
form comes back with what others changed, the user's text untouched, and the ways on from there.
Used by `listwatch.admin` and by `dashboard`; a write goes through `door`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from listwatch.editing.conflicts import Meanwhile, meanwhile
from listwatch.editing.door import Door, split_key
from listwatch.editing.faults import Fault, faults_of
from listwatch.editing.forms import ObjectForm
from listwatch.editing.merging import DiffLine, difference, merge
from listwatch.editing.packing import pack, unpack
from listwatch.editing.skeletons import skeleton
from listwatch.editing.texts import Parts, TextError, dump, has_status, parse, parts_of
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import JSONObject, decode, key_of
from listwatch.registry.context import RequestContext, Written

if TYPE_CHECKING:
    from django.http import QueryDict

    from listwatch.protocol.kinds import Resource


@dataclass(slots=True)
class Stale:
    """What happened to the object since the form was opened."""

    what: Meanwhile
    revision: str = ""  # of the object now; '' if it is gone
    theirs: list[DiffLine] = field(default_factory=list)
    mine: list[DiffLine] = field(default_factory=list)


@dataclass(slots=True)
class Page:
    """All that the page shows of one form, and with which code."""

    form: ObjectForm
    parts: Parts | None = None  # of the stored object, None for a new one
    faults: list[Fault] = field(default_factory=list)
    stale: Stale | None = None
    merged: list[str] = field(default_factory=list)  # the places that both had changed
    is_merged: bool = False
    checked: list[DiffLine] | None = None  # of a dry run: what would change
    warnings: list[str] = field(default_factory=list)
    code: HTTPStatus = HTTPStatus.OK


@dataclass(slots=True)
class Saved:
    """A write that was done."""

    key: str
    revision: int
    changed: bool
    warnings: list[str]


class Editing:
    """One form of one object of a resource; `key` is '' for a new object."""

    def __init__(self, door: Door, resource: Resource, key: str, *, status_only: bool = False):
        self._door = door
        self._resource = resource
        self._key = key
        self._status_only = status_only and has_status(resource)

    def open(self, namespace: str = "") -> Page:
        """The form as it is opened; raises 404."""
        if not self._key:
            text = skeleton(self._resource, namespace)
            return Page(self._form(text, text, {}))
        document = self._door.get(self._key)
        parts = self._parts(document)
        return Page(self._form(parts.text, parts.text, parts.marks), parts)

    def submit(self, data: QueryDict) -> Page | Saved:
        """What comes of a form that was sent back, by the button that was pressed."""
        form = ObjectForm(data)
        form.is_valid()
        text = _lines(form.cleaned_data.get("document") or "")
        page = Page(self._form(text, unpack(form.cleaned_data["base"]), form.cleaned_data))
        try:
            document, duplicates = parse(text)
            if "_merge" in data:
                return self._merge(page, document)
            return self._write(page, document, duplicates, data)
        except TextError as error:
            page.faults = faults_of(error, text)
            page.code = HTTPStatus.UNPROCESSABLE_ENTITY
        except StatusError as error:
            if error.code in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND) and self._key:
                self._explain(page, error)
            else:
                page.faults = faults_of(error, text)
            page.code = HTTPStatus(error.code)
        self._show_stored(page)
        return page

    # The form

    def _form(self, text: str, base: str, marks: JSONObject) -> ObjectForm:
        revision = marks.get("revision") or marks.get("resourceVersion") or ""
        initial = {
            "document": text,
            "base": pack(base),
            "revision": revision,
            "uid": marks.get("uid") or "",
        }
        form = ObjectForm(initial=initial)
        form.fields["document"].widget.attrs["rows"] = max(16, min(36, text.count("\n") + 3))
        return form

    def _parts(self, document: JSONObject) -> Parts:
        return parts_of(self._resource, document, status_only=self._status_only)

    def _show_stored(self, page: Page) -> None:
        if self._key:
            try:
                page.parts = self._parts(self._door.get(self._key))
            except StatusError:
                page.parts = None

    # Writing

    def _write(
        self, page: Page, document: JSONObject, duplicates: tuple[str, ...], data: QueryDict
    ) -> Page | Saved:
        dry_run = "_check" in data
        marks = dict(page.form.initial)
        if "_overwrite" in data:  # a revision is of one object only: the UID may be another
            marks |= {"revision": data["_overwrite"], "uid": ""}
        body = self._body(document, marks)
        if not self._key or "_recreate" in data:
            ctx = self._new_context(body, duplicates, dry_run)
            written = self._door.create(ctx, body)
        else:
            subresource = "status" if self._status_only else ""
            ctx = self._door.context(
                self._key, dry_run=dry_run, duplicates=duplicates, subresource=subresource
            )
            written = self._door.update(ctx, body)
        if dry_run:
            return self._checked(page, written, ctx)
        metadata = decode(written.encoded, written.revision)["metadata"]
        key = key_of(metadata.get("namespace", ""), metadata["name"])
        changed = str(written.revision) != str(marks.get("revision"))
        return Saved(key, written.revision, changed, ctx.warnings)

    def _body(self, document: JSONObject, marks: JSONObject) -> JSONObject:
        """The object to write: the text, with the marks of the state that it was made from."""
        if not self._key:
            return document
        namespace, name = split_key(self._resource, self._key)
        metadata = dict(document.get("metadata") or {})
        if self._status_only:
            document, metadata = {"status": document.get("status")}, {}
        metadata.setdefault("name", name)
        if namespace:
            metadata.setdefault("namespace", namespace)
        given = {"resourceVersion": marks.get("revision"), "uid": marks.get("uid")}
        metadata |= {mark: value for mark, value in given.items() if value}
        return {
            "kind": self._resource.kind,
            "apiVersion": self._resource.api_version,
            **document,
            "metadata": metadata,
        }

    def _new_context(
        self, body: JSONObject, duplicates: tuple[str, ...], dry_run: bool
    ) -> RequestContext:
        """A context for creating: in the namespace of the text, or the default one."""
        metadata = body.setdefault("metadata", {})
        if metadata is None:
            metadata = body["metadata"] = {}
        for mark in ("resourceVersion", "uid"):
            metadata.pop(mark, None)
        namespace = metadata.get("namespace") or "default"
        key = f"{namespace}/" if self._resource.namespaced else ""
        return self._door.context(key, dry_run=dry_run, duplicates=duplicates)

    def _checked(self, page: Page, written: Written, ctx: RequestContext) -> Page:
        """What a dry run says: the difference that saving would make."""
        after = self._parts(decode(written.encoded, written.revision)).text
        page.checked = difference(unpack(page.form.initial["base"]) if self._key else "", after)
        page.warnings = ctx.warnings
        self._show_stored(page)
        return page

    # Somebody else was quicker

    def _explain(self, page: Page, error: StatusError) -> None:
        """Say what happened to the object meanwhile, if anything did."""
        base, text = unpack(page.form.initial["base"]), page.form.initial["document"]
        mine = difference(base, text)
        began = page.form.initial["revision"], page.form.initial["uid"]
        try:
            now = self._parts(self._door.get(self._key))
        except StatusError as gone:
            if gone.code != HTTPStatus.NOT_FOUND:
                raise
            page.stale = Stale(meanwhile(*began, None), mine=mine)
            return
        if now.marks["resourceVersion"] == began[0]:
            page.faults = faults_of(error, text)  # a conflict of another sort: nobody moved it
            return
        theirs = difference(base, now.text)
        page.stale = Stale(meanwhile(*began, now.marks), now.marks["resourceVersion"], theirs, mine)

    def _merge(self, page: Page, mine: JSONObject) -> Page:
        """My changes on top of theirs, to be looked at and saved."""
        now = self._parts(self._door.get(self._key))
        base, _ = parse(unpack(page.form.initial["base"]))
        theirs, _ = parse(now.text)
        merged = merge(base, mine, theirs)
        page = Page(self._form(dump(merged.document), now.text, now.marks), now)
        page.is_merged, page.merged = True, merged.both
        page.checked = difference(now.text, page.form.initial["document"])
        return page


def _lines(text: str) -> str:
    """Browsers send CRLF."""
    return text.replace("\r\n", "\n")


def context_of(page: Page) -> dict[str, Any]:
    """What the template is given."""
    return {
        "form": page.form,
        "parts": page.parts,
        "faults": page.faults,
        "stale": page.stale,
        "is_merged": page.is_merged,
        "merged": page.merged,
        "checked": page.checked,
        "warnings": page.warnings,
        "errors": bool(page.faults or page.stale),
    }
