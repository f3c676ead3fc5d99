"""The sides of one object's page: what it is, its history, events, family, edit and delete.

`views` finds the object's kind; each side here gives the page's data under a name of its own.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect

from dashboard.copy_as import Call, copies
from dashboard.objects import changing, past
from dashboard.objects.catalogue import list_url, object_url
from dashboard.objects.detail import detail
from dashboard.objects.events import events_about
from dashboard.objects.family import family
from dashboard.pages import LeadingError, Shown, origin_of
from listwatch.editing.conflicts import meanwhile
from listwatch.editing.form import Saved
from listwatch.editing.forms import DeleteForm
from listwatch.editing.texts import has_status
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import key_of

if TYPE_CHECKING:
    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.history import Revision

JSON = dict[str, Any]  # Any: JSON values

SIDES = (
    ("", "Object"),
    ("history", "History"),
    ("events", "Events"),
    ("owners", "Owners"),
    ("edit", "Edit"),
    ("delete", "Delete"),
)


class Place:
    """One object's page: who asks, for what, and how its addresses are made."""

    def __init__(self, request: HttpRequest, asker: Asker, resource: Resource, key: str) -> None:
        self.request = request
        self.asker = asker
        self.resource = resource
        self.key = key
        namespace, _, name = key.rpartition("/")
        self.namespace, self.name = namespace, name

    def url(self, **query: str) -> str:
        """The page, in one of its views."""
        return object_url(self.resource, self.namespace, self.name, **query)

    def twin(self) -> str:
        """Where the form's own address answers as JSON."""
        path, _, query = self.request.get_full_path().partition("?")
        return f"{path.rstrip('/').removesuffix('.json')}.json?{query}"

    def may(self, verb: str, part: str = "") -> bool:
        """Whether the user may do this to the object."""
        return self.asker.may(verb, self.resource, self.namespace, self.name, part)


async def object_page(
    request: HttpRequest, asker: Asker, resource: Resource, namespace: str, name: str
) -> Shown | HttpResponseBase:
    """The page in the view that its address asks for; raises 400, 403, 404, 410.

    Of an object that was deleted, 404 leads to what the log still holds of it.
    """
    place = Place(request, asker, resource, key_of(namespace, name))
    try:
        return await _side(place)
    except StatusError as error:
        if error.code != HTTPStatus.NOT_FOUND:
            raise
        if not await past.revisions(asker, resource, namespace, name):
            raise
        ways = ("The revisions that the log still holds", place.url(view="history"))
        raise LeadingError(error, ways) from None


async def _side(place: Place) -> Shown | HttpResponseBase:
    request, asker, resource = place.request, place.asker, place.resource
    namespace, name = place.namespace, place.name
    view, at = request.GET.get("view", ""), request.GET.get("at", "")
    if view not in dict(SIDES):
        view = ""
    if view == "history":
        return await _history(place)
    if at and not view:  # also of an object that is gone: its history links to its revisions
        old = past.at(await past.revisions(asker, resource, namespace, name), at).document
        return _shown(place, "", detail(old), old, at=at)
    document = await asker.get(resource, namespace, name) if view != "edit" else None
    if view == "edit":
        return await _edit(place)
    assert document is not None
    if view == "delete":
        return await _delete(place, document)
    if view == "events":
        also = f"objects:events?fields=involvedObject.uid={document['metadata']['uid']}"
        also += f"&namespace={namespace}" if namespace else ""
        about = events_about(asker, document)
        return _shown(place, view, {"events": about}, document, also=also)
    if view == "owners":
        return _shown(place, view, {"family": await family(asker, resource, document)}, document)
    return _shown(place, "", detail(document), document)


def _shown(
    place: Place,
    view: str,
    data: JSON,
    document: JSONObject | None,
    *,
    code: HTTPStatus = HTTPStatus.OK,
    **context: Any,
) -> Shown:
    """A page with what all sides have in common."""
    resource = place.resource
    metadata = document["metadata"] if document is not None else {}
    head = {
        "kind": resource.kind,
        "api_version": resource.api_version,
        "resource": str(resource.group_resource),
        "namespace": place.namespace,
        "name": place.name,
        "revision": metadata.get("resourceVersion", ""),
        "view": view,
    }
    able = {"edit": place.may("update"), "delete": place.may("delete")}
    sides = [
        {"view": side, "title": title, "url": place.url(view=side), "current": side == view}
        for side, title in SIDES
        if able.get(side, True)
    ]
    call = Call("get", resource, place.namespace, place.name)
    live = view not in ("edit", "delete", "history") and not context.get("at")
    query = f"namespace={place.namespace}&fields=metadata.name={place.name}"
    common = {
        "resource": resource,
        "sides": sides,
        "list_url": list_url(resource),
        "namespace_url": list_url(resource, namespace=place.namespace) if place.namespace else "",
        "self_url": place.url(),
        "history_url": place.url(view="history"),
        "check_url": place.twin(),
        "channel": f"objects:{resource.group_resource}?{query}"
        if place.asker.may("watch", resource, place.namespace)
        else "",
        "live": live,
        "copies": copies(call, origin_of(place.request)),
        "saved": place.request.GET.get("saved", ""),
        "has_status": has_status(resource) and place.may("update", "status"),
    }
    return Shown({"head": head, **data}, {**common, **context}, code)


async def _history(place: Place) -> Shown:
    """Also of an object that is gone: its last revisions stay until the log is compacted."""
    found: list[Revision] = await past.revisions(
        place.asker, place.resource, place.namespace, place.name
    )
    if not found:  # then it is there unchanged since the log was cut, or never was
        await place.asker.get(place.resource, place.namespace, place.name)
    query = place.request.GET
    data = {
        "revisions": past.table(found),
        "compared": past.compared(found, query.get("older", ""), query.get("newer", "")),
        "shown": past.SHOWN,
    }  # `complete`: the oldest is where the object was made
    gone = bool(found) and found[0].type == "DELETED"
    data["complete"] = bool(found) and not found[-1].previous
    return _shown(place, "history", data, found[0].document if found else None, gone=gone)


async def _edit(place: Place) -> Shown | HttpResponseBase:
    request, status = place.request, "status" in place.request.GET
    data = request.POST if request.method == "POST" else None
    answer = await asyncio.to_thread(
        changing.edit, place.asker, place.resource, place.key, data, status=status
    )
    if isinstance(answer, Saved):
        saved = {"saved": str(answer.revision)} if answer.changed else {"saved": "unchanged"}
        return HttpResponseRedirect(place.url(**saved))
    form = changing.edit_data(answer)
    marks = answer.parts.marks if answer.parts is not None else {}
    code = HTTPStatus.OK if "_asked" in request.POST else answer.code
    return _shown(
        place, "edit", {"form": form}, {"metadata": marks}, code=code,
        page=answer, status_only=status,
    )  # fmt: skip


async def _delete(place: Place, document: JSONObject) -> Shown | HttpResponseBase:
    metadata = document["metadata"]
    fresh = {"revision": metadata["resourceVersion"], "uid": metadata["uid"]}
    form = DeleteForm(place.resource, initial={**fresh, "policy": "Background"})
    moved, what = False, None
    if place.request.method == "POST":
        form, deleted, moved = await asyncio.to_thread(
            changing.delete, place.asker, place.resource, place.key, place.request.POST
        )
        if deleted is not None and deleted.gone:
            return HttpResponseRedirect(place.url(view="history"))
        if deleted is not None:
            return HttpResponseRedirect(place.url())
        if moved:
            began = form.cleaned_data["revision"], form.cleaned_data["uid"]
            what = meanwhile(*began, metadata)
            form = DeleteForm(place.resource, initial={**form.cleaned_data, **fresh})
    tree = await family(place.asker, place.resource, document)
    data = {
        "meanwhile": what._asdict() if what else None,
        "finalizers": metadata.get("finalizers") or [],
        "dependents": tree["rows"][tree["owners"] + 1 :],
        "owners": _nearest(tree),
        "errors": form.errors.get_json_data() if form.is_bound else {},
    }
    code = HTTPStatus.CONFLICT if moved else HTTPStatus.OK
    return _shown(place, "delete", data, document, code=code, form=form)


def _nearest(tree: JSON) -> list[JSON]:
    """The owners that the object itself names."""
    own = tree["rows"][tree["owners"]]["depth"]
    return [row for row in tree["rows"][: tree["owners"]] if row["depth"] == own - 1]
