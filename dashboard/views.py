"""The pages as they stand at one moment; the browser keeps them current over `consumers`.

Each page's data comes from `frames`, which reads statistics only; the `.json` twin is that data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_POST

from dashboard import commands, frames, samples
from dashboard.access import signed_in
from dashboard.choices import chosen_resource, resource_groups, resource_path
from dashboard.copy_as import Call, copies
from dashboard.links import ring_url
from dashboard.machinery import resource_page
from dashboard.machinery.views import columns, served
from dashboard.machinery.watching import EVERYONE
from dashboard.pages import (
    THEME_COOKIE,
    THEMES,
    Context,
    Shown,
    frame_of_page,
    origin_of,
    page,
    rendered,
    runtime_of,
)
from dashboard.wishes import FORMS, STARTS
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

YEAR = 365 * 24 * 3600
SLOTS = 100  # of the ring on one page


@page("overview")
async def overview(request: HttpRequest) -> Shown:
    """All resources, and the few numbers that say how things stand."""
    runtime = runtime_of(request)
    data = frames.overview(runtime, runtime.statistics())
    return Shown(data)


@page("resource", tab="overview")
async def resource(request: HttpRequest, resource: str) -> Shown:
    """One resource: ring, slots, watchers. `?before=` a revision shows older slots."""
    runtime = runtime_of(request)
    cacher, stored = served(runtime, resource)
    before = request.GET.get("before", "")
    if not before.isdecimal():
        before = ""
    data = await resource_page.resource(cacher, before=int(before) if before else None, limit=SLOTS)
    older = data.pop("older")
    wish = urlencode({"resource": resource_path(stored)})
    context = {
        "resource": str(stored.storage),
        "ring_url": ring_url(stored.storage),
        "kind": f"{stored.api_version} {stored.kind}",
        "namespaced": stored.namespaced,
        "selectable_fields": _selectable(stored),
        "before": before,
        "limit": SLOTS,
        "older_url": f"{request.path}?{urlencode({'before': older})}" if older else "",
        "attach_url": f"{reverse('dashboard:attach')}?{wish}",
        "columns": columns({}, EVERYONE),
        "watch_command": commands.watch(stored),
        "write_command": commands.write(stored),
    }
    return Shown(data, context)


@page("attach")
async def attach(request: HttpRequest) -> Shown:
    """The form; what is attached lives in the browser that attached it."""
    runtime = runtime_of(request)
    watchable = [each for each in runtime.resources.served() if "watch" in each.verbs]
    form: Context = {
        "resource": "v1/pods", "from": "state", "bookmarks": "true", "streaming": "true",
    }  # fmt: skip
    if request.GET.get("resource"):
        form = dict(request.GET.items()) | {"from": request.GET.get("from", "state")}
        form.setdefault("bookmarks", "" if "from" in request.GET else "true")
        form.setdefault("streaming", "true" if form["from"] == "state" else "")
    chosen = chosen_resource(watchable, form["resource"])
    context: Context = {
        "form": form,
        "starts": STARTS,
        "forms": FORMS,
        "groups": resource_groups(watchable),
        "commands": [commands.watch(chosen, form)],
        "copies": copies(_call(chosen, form), origin_of(request)),
    }
    data = {"resources": [resource_path(each) for each in watchable]}
    return Shown(data, context)


@signed_in
async def patterns(request: HttpRequest) -> HttpResponseBase:
    """Every component, in both themes side by side; its numbers are made up."""
    context = {
        **frame_of_page(request, "patterns", runtime_of(request)),
        "user": await request.auser(),
        **samples.everything(runtime_of(request).clock.now()),
    }
    return await rendered(request, "patterns", context)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Choose the colours and go back: the switch of browsers without JavaScript."""
    chosen = request.POST.get("theme", "")
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("dashboard:overview")
    response = HttpResponseRedirect(target)
    response.set_cookie(
        THEME_COOKIE, chosen if chosen in THEMES else "", max_age=YEAR, samesite="Lax"
    )
    return response


class Login(LoginView):
    """Django's login in the dashboard's look."""

    template_name = "dashboard/login.html"
    next_page = "dashboard:overview"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> Context:  # Any: Django's own signature
        """With what every page needs."""
        return {**super().get_context_data(**kwargs), **frame_of_page(self.request, "login")}


@page("unknown")
async def unknown(request: HttpRequest, rest: str) -> Shown:
    """What is no page of the dashboard."""
    raise StatusError(404, "NotFound", f'there is no page "{request.path}"')


def _call(resource: Resource, form: Context) -> Call:
    """The watch that the attach form says."""
    return Call(
        "watch", resource, form.get("namespace", "") if resource.namespaced else "",
        labels=form.get("labels", ""), fields=form.get("fields", ""),
        since=form.get("revision", "") if form["from"] == "revision" else "",
    )  # fmt: skip


def _selectable(resource: Resource) -> list[str]:
    names = ["metadata.name", *(["metadata.namespace"] if resource.namespaced else [])]
    return [*names, *resource.selectable_fields]
