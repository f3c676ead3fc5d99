"""Deletion from the admin: of one object, or of what was chosen in a list.

An object is deleted as it was shown: when it has moved on since, the page says what changed and
asks again. Used by `object_admin`.
"""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from listwatch.admin.doors import door_of
from listwatch.admin.rows import document_of
from listwatch.editing.conflicts import meanwhile
from listwatch.editing.forms import DeleteForm
from listwatch.editing.texts import parts_of
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from listwatch.admin.object_admin import ObjectAdmin
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.options import DeleteOptions
    from listwatch.registry.context import Deleted
    from listwatch.store.models import StoredObject

SHOWN = 100  # of the objects that were chosen, on the page that asks


def delete_view(kind: ObjectAdmin, request: HttpRequest, key: str) -> HttpResponse:
    """The page of one deletion."""
    try:
        door = door_of(request, kind.resource)
        document = door.get(key)
        moved, what = False, None
        if request.method == "POST":
            form = DeleteForm(kind.resource, request.POST)
            if form.is_valid():
                try:
                    deleted = door.delete(key, form.options())
                except StatusError as error:
                    if error.code != HTTPStatus.CONFLICT:
                        raise
                    moved = True
                else:
                    tell(kind, request, key, deleted)
                    return HttpResponseRedirect(kind.url("changelist"))
    except StatusError as error:
        return kind.refused(request, error, key)
    metadata = document["metadata"]
    if moved:
        what = meanwhile(form.cleaned_data["revision"], form.cleaned_data["uid"], metadata)
    fresh = {"revision": metadata["resourceVersion"], "uid": metadata["uid"]}
    if request.method != "POST" or moved:
        form = DeleteForm(kind.resource, initial={**fresh, "policy": "Background"})
    context = {
        "title": f"Delete {key}?",
        "form": form,
        "meanwhile": what,
        "text": parts_of(kind.resource, document).text,
        **_what_waits(document),
    }
    code = HTTPStatus.CONFLICT if moved else HTTPStatus.OK
    return kind.page(request, "delete", key, context, code)


def _what_waits(document: JSONObject) -> dict[str, Any]:  # Any: for a template
    metadata = document["metadata"]
    return {
        "finalizers": metadata.get("finalizers") or [],
        "deleting_since": metadata.get("deletionTimestamp"),
        "owners": [f"{o['kind']} {o['name']}" for o in metadata.get("ownerReferences") or []],
    }


def delete_chosen(
    kind: ObjectAdmin, request: HttpRequest, queryset: QuerySet[StoredObject]
) -> HttpResponse | None:
    """The page that asks about many, and then the deletions, one by one."""
    form = DeleteForm(kind.resource, request.POST if "_sure" in request.POST else None)
    if form.is_bound and form.is_valid():
        _delete_each(kind, request, queryset, form.options())
        return None
    chosen = list(queryset[: SHOWN + 1])
    waiting = [o.key for o in chosen if document_of(o)["metadata"].get("finalizers")]
    count = queryset.count()
    context = {
        "title": f"Delete {count} {kind.opts.verbose_name_plural}?",
        "form": form if form.is_bound else DeleteForm(kind.resource),
        "chosen": chosen[:SHOWN],
        "more": max(count - SHOWN, 0),
        "waiting": waiting,
        "posted": request.POST,
        "selected": request.POST.getlist("_selected_action"),
        "across": request.POST.get("select_across", "0"),
    }
    return kind.page(request, "delete_chosen", "", context)


def _delete_each(
    kind: ObjectAdmin,
    request: HttpRequest,
    queryset: QuerySet[StoredObject],
    options: DeleteOptions,
) -> None:
    done = staying = 0
    try:
        door = door_of(request, kind.resource)
    except StatusError as error:
        messages.error(request, error.message)
        return
    for key, uid in queryset.values_list("key", "uid"):
        try:
            deleted = door.delete(key, replace(options, uid=uid, resource_version=""))
        except StatusError as error:
            messages.error(request, f"{key}: {error.message}")
            continue
        kind.log_deleted(request, key)
        done += deleted.gone
        staying += not deleted.gone
    if done:
        messages.success(request, f"{done} {kind.opts.verbose_name_plural} were deleted.")
    if staying:
        messages.info(
            request, f"{staying} wait for their finalizers, or for their time to stop in order."
        )


def tell(kind: ObjectAdmin, request: HttpRequest, key: str, deleted: Deleted) -> None:
    """Say what came of a deletion, and note it."""
    kind.log_deleted(request, key)
    name = f"{kind.resource.kind} {key}"
    if deleted.gone:
        messages.success(request, f"{name} was deleted.")
    else:
        messages.info(request, f"{name} is on its way out: it waits for finalizers or its time.")
