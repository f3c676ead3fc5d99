"""What every page has in common: who may see it, the frame around it, and its `.json` twin.

A page is an asynchronous function that returns `Shown`; `page` makes a view of it, and `addresses`
gives that view its two addresses. What a template shows is in `data`, which is the twin.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path, reverse

from dashboard.access import signed_in
from dashboard.faults import rows as fault_rows
from dashboard.keys import KEYS
from dashboard.links import SOCKET_PATH
from dashboard.navigation import ENTRIES
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from listwatch.runtime import Runtime

Parameters = ParamSpec("Parameters")
View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]
Context = dict[str, Any]  # Any: what a template may be given

THEMES = ("", "light", "dark")
THEME_COOKIE = "listwatch_theme"


@dataclass(frozen=True, slots=True)
class Shown:
    """A page at one moment.

    `data` is all that it tells, as JSON values: the template's `data` and the whole of the twin.
    `context` is what the template needs besides: addresses, forms, words.
    """

    data: Context
    context: Context = field(default_factory=dict)
    code: HTTPStatus = HTTPStatus.OK


class LeadingError(StatusError):
    """A refusal that knows where the visitor can go from here: a title and an address each."""

    def __init__(self, error: StatusError, *ways: tuple[str, str]) -> None:
        super().__init__(
            error.code, error.reason, error.message, details=error.details, causes=error.causes
        )
        self.ways = ways


Making = Callable[
    Concatenate[HttpRequest, Parameters], Coroutine[Any, Any, "Shown | HttpResponseBase"]
]


def page(name: str, *, tab: str = "") -> Callable[[Making[Parameters]], View]:
    """Make a view of a function that says what a page shows.

    `name` is that of its template and of `data-page`; `tab` the entry of the bar that it belongs
    to, if that is another. A StatusError becomes a page that tells it, or the Status as JSON. A
    response that the function returns instead, such as a redirect, is sent as it is.
    """

    def decorate(making: Making[Parameters]) -> View:
        async def view(
            request: HttpRequest,
            /,
            *args: Parameters.args,
            **kwargs: Parameters.kwargs,
        ) -> HttpResponseBase:
            as_json = bool(kwargs.pop("as_json", False))
            try:
                shown = await making(request, *args, **kwargs)
            except StatusError as error:
                return await _refused(request, tab or name, error, as_json=as_json)
            if not isinstance(shown, Shown):
                return shown
            if as_json:
                return JsonResponse(shown.data, status=shown.code)
            context = {**await _around(request, tab or name), "data": shown.data, **shown.context}
            return await rendered(request, name, context, shown.code)

        return signed_in(functools.update_wrapper(view, making))

    return decorate


def addresses(route: str, view: View, name: str) -> Iterator[URLPattern]:
    """A page at `route/` and its data at `route.json`; the route '' is the front page."""
    yield path(f"{route}/" if route else "", view, name=name)
    yield path(f"{route or name}.json", view, {"as_json": True}, name=f"{name}-json")


def origin_of(request: HttpRequest) -> str:
    """Where the visitor reaches the server, for commands to copy: `http://127.0.0.1:8000`."""
    return f"{request.scheme}://{request.get_host()}"


def runtime_of(request: HttpRequest) -> Runtime:
    """The running server, which every request carries in its scope."""
    runtime: Runtime = request.scope["listwatch.runtime"]  # type: ignore[attr-defined]
    return runtime


def frame_of_page(request: HttpRequest, name: str, runtime: Runtime | None = None) -> Context:
    """What every page needs, also one that is not live: colours, bar, keys, the filter's text."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    theme = theme if theme in THEMES else ""
    entries = [entry for entry in ENTRIES if entry.shown(runtime)]
    missing = {f"go:{entry.name}" for entry in ENTRIES if entry not in entries}
    return {
        "theme": theme,
        "next_theme": THEMES[(THEMES.index(theme) + 1) % len(THEMES)],
        "keys": [key for key in KEYS if key.does not in missing],
        "tabs": [
            {
                "url": reverse(f"dashboard:{entry.name}"),
                "title": entry.title,
                "name": entry.name,
                "current": entry.name == name,
            }
            for entry in entries
        ],
        "q": request.GET.get("q", ""),
    }


async def _around(request: HttpRequest, tab: str) -> Context:
    runtime = runtime_of(request)
    query = request.GET.urlencode()
    json_path = request.path.rstrip("/") + ".json"
    if request.path == reverse("dashboard:overview"):
        json_path = reverse("dashboard:overview-json")
    return {
        **frame_of_page(request, tab, runtime),
        "user": await request.auser(),
        "socket": SOCKET_PATH,
        "now": runtime.clock.now(),
        "applied": str(runtime.caches.progress.applied),
        "head": str(runtime.statistics().head),
        "faults": fault_rows.active(runtime),
        "faults_on": runtime.faults is not None,
        "json_url": f"{json_path}?{query}" if query else json_path,
    }


async def _refused(
    request: HttpRequest, tab: str, error: StatusError, *, as_json: bool
) -> HttpResponseBase:
    """The Status as it is, for people or for programs."""
    if as_json:
        return JsonResponse(error.to_dict(), status=error.code)
    ways = error.ways if isinstance(error, LeadingError) else ()
    context = {**await _around(request, tab), "status": error.to_dict(), "ways": ways, "socket": ""}
    return await rendered(request, "refused", context, HTTPStatus(error.code))


async def rendered(
    request: HttpRequest, name: str, context: Context, code: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    """The page of a template, made in a thread.

    A long table takes ten milliseconds, which would be every watch's delay.
    """
    return await asyncio.to_thread(
        render, request, f"dashboard/{name}.html", context, status=int(code)
    )
