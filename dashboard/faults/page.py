"""`/dashboard/faults/`: put in, see, lift. Forms, so that it works without JavaScript too."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from dashboard import access
from dashboard.faults import rows
from dashboard.pages import Shown, page, runtime_of
from listwatch.api.faults import PATH, faults_of
from listwatch.faults import FACTS, FaultSpec
from listwatch.faults.records import LONGEST, SECONDS
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from listwatch.runtime import Runtime

Form = dict[str, str]

WATCHERS = 200  # offered in the form at most
_INTEGERS = ("seconds", "times", "delayMilliseconds", "retryAfterSeconds", "watcher")
_DEFAULTS: Form = {
    "type": "expired", "form": "event", "seconds": str(SECONDS), "times": "",
    "delayMilliseconds": "500", "retryAfterSeconds": "5", "resource": "", "watcher": "",
}  # fmt: skip


@page("faults")
async def faults(request: HttpRequest) -> Shown | HttpResponseBase:
    """GET shows; POST with `lift` lifts one or `all`, any other puts one in."""
    runtime = runtime_of(request)
    form = _DEFAULTS | {name: request.GET[name] for name in _DEFAULTS if name in request.GET}
    if request.method != "POST":
        return await _shown(request, runtime, form)
    form = _DEFAULTS | {name: request.POST.get(name, "").strip() for name in _DEFAULTS}
    try:
        user = await access.asking_user(runtime, await request.auser(), "post", PATH)
        if lift := request.POST.get("lift", ""):
            _lift(runtime, lift)
        else:
            spec = FaultSpec.read(document_of(form))
            await faults_of(runtime).inject(spec, by=user.name)
    except StatusError as error:
        return await _shown(request, runtime, form, error)
    return HttpResponseRedirect(_back(request))


def document_of(form: Form) -> dict[str, Any]:  # Any: JSON values
    """The form as the API takes it: numbers as numbers, what is empty left out."""
    spec: dict[str, Any] = {}
    for name, text in form.items():
        if text:
            number = name in _INTEGERS and text.lstrip("-").isdecimal() and len(text) < 16
            spec[name] = int(text) if number else text
    return {"spec": spec}


async def _shown(
    request: HttpRequest, runtime: Runtime, form: Form, error: StatusError | None = None
) -> Shown:
    code = HTTPStatus(error.code) if error is not None else HTTPStatus.OK
    data = rows.tables(runtime)
    data["types"] = [
        {"type": str(kind), "title": facts.title, "does": facts.does, "after": facts.after}
        for kind, facts in FACTS.items()
    ]
    context = {
        "form": form,
        "forms": (("event", "an ERROR event"), ("http", "an HTTP answer")),
        "longest": LONGEST,
        "resources": sorted(
            str(each) for each, c in runtime.caches.cachers().items() if c.watchers()
        ),
        "watchers": _watchers(runtime),
        "may": await access.may_ask(runtime, await request.auser(), "post", PATH),
        "command": rows.command(document_of({"type": form["type"], "seconds": form["seconds"]})),
        "wrong": {} if error is None else _fields(error),
        "status": None if error is None else error.to_dict(),
    }
    return Shown(data, context, code)


def _lift(runtime: Runtime, lift: str) -> None:
    found = faults_of(runtime)
    if lift == "all":
        found.lift_all()
    else:
        found.lift(int(lift) if lift.isdecimal() and len(lift) < 16 else 0)


def _fields(error: StatusError) -> dict[str, str]:
    return {cause.field.removeprefix("spec."): cause.message for cause in error.causes}


def _watchers(runtime: Runtime) -> list[dict[str, str]]:
    found = [
        {
            "id": str(watcher.id),
            "title": f"{watcher.id}: {watcher.request.client.agent.split(' ')[0]}, "
            f"{watcher.group_resource} {watcher.request.namespace or 'everywhere'}",
        }
        for cacher in runtime.caches.cachers().values()
        for watcher in cacher.watchers()[:WATCHERS]
    ]
    return sorted(found, key=lambda each: int(each["id"]), reverse=True)[:WATCHERS]


def _back(request: HttpRequest) -> str:
    # To where it was lifted: the banner is on every page.
    target = request.POST.get("next", "")
    own = reverse("dashboard:overview")
    return target if target.startswith(own) and "//" not in target else reverse("dashboard:faults")
