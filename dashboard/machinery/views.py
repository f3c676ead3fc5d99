"""The pages of the machinery as they stand at one moment, each with its `.json` twin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.http import urlencode

from dashboard import commands
from dashboard.copy_as import Call, Copy, copies
from dashboard.links import resource_url, ring_url
from dashboard.machinery import calculator, event_page, flows, ring_page, watcher_page
from dashboard.machinery.watching import Query, selectors_of
from dashboard.machinery.watching import watchers as watcher_data
from dashboard.pages import Context, Shown, origin_of, page, runtime_of
from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.runtime import Runtime
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import WatcherStatistics

COLUMNS = (  # of the table of open watches: sort key, title, class, what it means
    ("client", "Client", "", ""),
    ("user", "User", "roomy", ""),
    ("resource", "Resource", "of", ""),
    ("", "Selector", "mid", ""),
    ("since", "Since", "num mid", ""),
    ("delivered", "Delivered", "num wide", "Revision of the last event or bookmark delivered"),
    ("lag", "Lag", "num", "Events that are due to this watcher"),
    ("revisions", "Revisions", "num mid",
     "Revisions applied since the last one it was told of, for it or not"),
    ("time", "Lag time", "num", "Age of the oldest event that is due to this watcher"),
    ("", "Events/s", "wide", "One bar a second, the last half minute"),
    ("events", "Events", "num wide", "Frames of any type"),
    ("bytes", "Bytes", "num roomy", ""),
)  # fmt: skip


# The agents of the controllers that `serve` runs, which watch some sixty kinds all the time.
CONTROLLERS = ("kube-controller-manager", "kube-scheduler", "kubelet")


def served(runtime: Runtime, name: str) -> tuple[Cacher, Resource]:
    """The cache of a resource, and its kind; raises 404."""
    group_resource = GroupResource.parse(name)
    cacher = runtime.caches.cachers().get(group_resource)
    stored = runtime.resources.stored(group_resource)
    if cacher is None or stored is None:
        raise StatusError(404, "NotFound", f'no resource "{name}" is served')
    return cacher, stored


@page("flow")
async def flow(request: HttpRequest) -> Shown:
    """The newest events of all rings; live, each with who got it."""
    data = {"events": flows.recent_events(runtime_of(request))}
    return Shown(data, {"write_command": commands.WRITE})


@page("watchers")
async def watchers(request: HttpRequest) -> Shown:
    """Every watcher of every resource, and those that ended lately; `?q=` words, `?sort=` one."""
    query = Query.read(request.GET.urlencode())
    data = await watcher_data(runtime_of(request), query)
    context = {
        "watch_command": "kubectl get pods -A -w --output-watch-events",
        "columns": columns(request.GET.dict(), query),
        "others_query": "?" + urlencode({"q": " ".join(f"not:{each}" for each in CONTROLLERS)}),
        "others_only": set(query.words) >= {f"not:{each}" for each in CONTROLLERS},
    }
    return Shown(data, context)


def columns(given: dict[str, Any], query: Query) -> list[Context]:
    """The heads of the table of watches: each a link that sorts by it, or back."""
    heads = []
    for key, title, kind, means in COLUMNS:
        sorting = key != "" and query.sort == key
        # Numbers are looked at from the largest on.
        first = f"-{key}" if "num" in kind else key
        other = key if first.startswith("-") else f"-{key}"
        now = f"-{key}" if query.descending else key
        after = other if sorting and now == first else "" if sorting else first
        rest = {name: value for name, value in given.items() if name == "q" and value}
        heads.append({
            "key": key, "title": title, "class": kind, "means": means,
            "sorted": ("descending" if query.descending else "ascending") if sorting else "",
            "query": "?" + urlencode({**rest, **({"sort": after} if after else {})}),
        })  # fmt: skip
    return heads


@page("watcher", tab="watchers")
async def watcher(request: HttpRequest, number: int) -> Shown:
    """One watcher, open or ended lately. `?show=heard` leaves out what it heard nothing of."""
    found = watcher_page.find(runtime_of(request), number)
    if found is None:
        raise StatusError(
            404,
            "NotFound",
            f"watcher {number} is not open, and not among the ended ones still kept",
        )
    heard_only = request.GET.get("show") == "heard"
    cacher, statistics = found
    data = await watcher_page.watcher(cacher, statistics, heard_only=heard_only)
    name = str(statistics.group_resource)
    context = {
        "number": number, "heard_only": heard_only, "resource": name,
        "ring_url": ring_url(statistics.group_resource),
        "copies": _copies(request, statistics),
    }  # fmt: skip
    return Shown(data, context)


def _copies(request: HttpRequest, watcher: WatcherStatistics) -> list[Copy]:
    """The same watch for terminal and program; none if its kind is not served any more."""
    stored = runtime_of(request).resources.stored(watcher.group_resource)
    if stored is None:
        return []
    labels, fields = selectors_of(watcher.selector)
    call = Call("watch", stored, watcher.namespace, labels=labels, fields=fields)
    return copies(call, origin_of(request))


@page("rings")
async def rings(request: HttpRequest) -> Shown:
    """A strip for each ring in use."""
    data = await ring_page.all_rings(runtime_of(request), {})
    return Shown(data, {"write_command": commands.WRITE})


@page("ring", tab="rings")
async def ring(request: HttpRequest, resource: str) -> Shown:
    """The map of one ring; `?from=` a revision asks who would serve a watch from there."""
    runtime = runtime_of(request)
    cacher, stored = served(runtime, resource)
    form = {name: request.GET.get(name, "") for name in calculator.FIELDS}
    data = await ring_page.ring_map(runtime, cacher)
    data["explanation"] = await calculator.calculate(cacher, stored, form)
    group_resource = stored.storage
    context = {
        "resource": str(group_resource),
        "namespaced": stored.namespaced,
        "resource_url": resource_url(group_resource),
        "form": {**form, "asked": any(form[name] for name in calculator.FIELDS[1:])},
        "window": runtime.options.history_window,
        "write_command": commands.write(stored),
    }
    return Shown(data, context)


@page("event", tab="flow")
async def event(request: HttpRequest, revision: int) -> Shown:
    """One event that a ring still holds, and where it went."""
    runtime = runtime_of(request)
    found = event_page.find(runtime, revision)
    if found is None:
        raise StatusError(
            404,
            "NotFound",
            f"no ring holds an event of revision {revision}: it has been overwritten, was of no"
            " resource that is watched, or is not written yet",
        )
    return Shown(event_page.event(runtime, found), {"revision": str(revision)})
