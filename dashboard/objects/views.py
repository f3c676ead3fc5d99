"""The pages of objects: the directory with its search, a kind's table, one object, and making some.

State is in the query string, so that every view is a link; each has its twin in JSON.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.http import urlencode

from dashboard import commands
from dashboard.access import signed_in
from dashboard.copy_as import Call, copies
from dashboard.objects import catalogue, making
from dashboard.objects.asker import Asker, asker_of
from dashboard.objects.changing import mark_of
from dashboard.objects.listing import ROWS, Wanted, listed, namespaces_of
from dashboard.objects.object_page import object_page
from dashboard.objects.searching import FOUND, search
from dashboard.pages import Context, Shown, origin_of, page, runtime_of
from listwatch.editing.completion import completions
from listwatch.editing.skeletons import skeleton
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from dashboard.objects.listing import Listed

JSON = dict[str, Any]  # Any: JSON values


@page("objects")
async def directory(request: HttpRequest) -> Shown:
    """Every kind with its number of objects; with `?q=` what the search across them finds."""
    asker = await asker_of(request)
    text = request.GET.get("q", "").strip()
    found = await search(asker, text) if text else None
    data: JSON = {"query": text, "groups": catalogue.directory(asker), "found": found}
    return Shown(data, {"found_at_most": FOUND, "write_command": commands.WRITE})


@page("object_list", tab="objects")
async def listing(request: HttpRequest, resource: str) -> Shown:
    """The objects of one kind in the server's own columns."""
    asker = await asker_of(request)
    wanted = Wanted.read(asker.runtime.resources, resource, request.GET)
    try:
        found = await listed(asker, wanted)
    except StatusError as error:
        places = namespaces_of(asker, wanted.resource)
        if error.code != HTTPStatus.FORBIDDEN or not places or wanted.namespace:
            raise
        return Shown(
            {"status": error.to_dict(), "namespaces": places},
            {"resource": wanted.resource, "places": [(p, wanted.url(namespace=p)) for p in places]},
            code=HTTPStatus.FORBIDDEN,
        )
    return Shown(_list_data(asker, wanted, found), _list_context(request, asker, wanted, found))


def _list_data(asker: Asker, wanted: Wanted, found: Listed) -> JSON:
    resource = wanted.resource
    return {
        "resource": str(resource.group_resource),
        "api_version": resource.api_version,
        "kind": resource.kind,
        "namespaced": resource.namespaced,
        "columns": found.table.columns,
        "rows": found.rows,
        "revision": str(found.revision),
        "remaining": found.remaining,
        "next": found.token,
        "selectable_fields": [
            "metadata.name",
            *(["metadata.namespace"] if resource.namespaced else []),
            *resource.selectable_fields,
        ],
    }


def _list_context(request: HttpRequest, asker: Asker, wanted: Wanted, found: Listed) -> Context:
    resource = wanted.resource
    versions = sorted({
        each.version for each in asker.runtime.resources.served()
        if each.group_resource == resource.group_resource
    })  # fmt: skip
    call = Call(
        "watch" if wanted.live else "list", resource, wanted.namespace,
        labels=wanted.labels, fields=wanted.fields,
    )  # fmt: skip
    return {
        "resource": resource,
        "wanted": wanted,
        "channel": f"objects:{resource.group_resource}?{wanted.query}" if wanted.live else "",
        "heads": [{**column, **_sorting(wanted, column)} for column in _columns(found, resource)],
        "namespaces": namespaces_of(asker, resource, wanted.namespace),
        "versions": [(v, wanted.url(version=v)) for v in versions] if len(versions) > 1 else [],
        "next_url": wanted.url(after=found.token) if found.token else "",
        "first_url": wanted.url() if wanted.after else "",
        "now_url": wanted.url(at="") if wanted.at else "",
        "per_page": ROWS,
        "may_create": any(asker.places("create", resource)) or asker.may("create", resource),
        "create_url": _create_url(resource, wanted.namespace),
        "ring_url": reverse("dashboard:resource", args=[str(resource.storage)]),
        "copies": copies(call, origin_of(request)),
        "write_command": commands.write(resource, wanted.namespace),
    }


def _columns(found: Listed, resource: Any) -> list[JSON]:  # Any: a Resource
    place = [{"name": "Namespace", "field": "namespace", "wide": False, "number": False}]
    name = [{"name": "Name", "field": "name", "wide": False, "number": False}]
    return [*(place if resource.namespaced else []), *name, *found.table.columns]


def _sorting(wanted: Wanted, column: JSON) -> JSON:
    """Where a press on the head of a column leads, and what stands there now."""
    now = {column["field"]: "ascending", f"-{column['field']}": "descending"}.get(wanted.sort, "")
    other = f"-{column['field']}" if now == "ascending" else column["field"]
    return {"sorted": now, "sort_url": wanted.url(sort=other)}


def _create_url(resource: Any, namespace: str) -> str:  # Any: a Resource
    query = {"resource": str(resource.group_resource), "namespace": namespace}
    given = {name: value for name, value in query.items() if value}
    return f"{reverse('dashboard:create')}?{urlencode(given)}"


@page("object", tab="objects")
async def one(
    request: HttpRequest, resource: str, name: str, namespace: str = ""
) -> Shown | HttpResponseBase:
    """One object; `?view=` says which side of it."""
    asker = await asker_of(request)
    found = catalogue.find(asker.runtime.resources, resource, request.GET.get("version", ""))
    if found.namespaced != bool(namespace):
        return HttpResponseRedirect(catalogue.list_url(found))
    return await object_page(request, asker, found, namespace, name)


@page("object_create", tab="objects")
async def create(request: HttpRequest) -> Shown:
    """Make objects from one text of many documents: looked at first, then made."""
    asker = await asker_of(request)
    namespace = request.GET.get("namespace", "")
    wanted = request.GET.get("resource", "")
    text = ""
    if wanted:
        kind = catalogue.find(asker.runtime.resources, wanted, request.GET.get("version", ""))
        text = skeleton(kind, namespace)
    if request.method != "POST":
        data: JSON = {"text": text, "outcomes": None, "mark": "", "made": False}
        return Shown(data, {"namespaces": asker.namespaces(), "namespace": namespace})
    text = request.POST.get("document", "").replace("\r\n", "\n")
    namespace = request.POST.get("namespace", "")
    looked = "_create" in request.POST and request.POST.get("checked") == mark_of(text)
    outcomes = await asyncio.to_thread(making.make, asker, text, namespace, dry_run=not looked)
    good = bool(outcomes) and all(each.done for each in outcomes)
    data = {
        "text": making.left_over(outcomes) if looked else text,
        "outcomes": [each.to_dict() for each in outcomes],
        "mark": mark_of(text) if good and not looked else "",
        "made": looked,
    }
    return Shown(data, {"namespaces": asker.namespaces(), "namespace": namespace})


@signed_in
async def completion(request: HttpRequest) -> HttpResponseBase:
    """What may stand at a place of an object's text, by its schema; for the editor."""
    query = request.GET
    resources = runtime_of(request).resources.served()
    where = query.get("apiVersion", ""), query.get("kind", ""), query.getlist("path")
    return JsonResponse(await asyncio.to_thread(completions, resources, *where))
