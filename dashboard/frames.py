"""What the pages show, as JSON values: every number is a field of some statistics.

Read by `views` for pages as they stand, and by `subscriptions` for what changes. Revisions are
text, since a browser's numbers end at 2^53.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from dashboard.agents import short_agent
from dashboard.ring_map import RingMap
from listwatch.protocol.events import EndReason

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupResource
    from listwatch.runtime import Runtime, RuntimeStatistics
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import CacherStatistics, RingSlot, WatcherStatistics

JSON = dict[str, Any]  # Any: JSON values

WATCHERS = 250  # rows of open watches at most: those furthest behind
AT_ONCE = 50  # watches asked for their statistics in one turn of the loop
ENDED = 50  # rows of ended watches at most: the newest
ENDED_HERE = 8  # of these on the page of one resource
EVENTS = 100  # of all rings on the flow page as it stands
FEW_LANES = 20  # up to here, each of these events is asked who took it
LAG_SECONDS = 1.0  # a watcher that waits longer is marked
MARKS = 100  # ticks above the strip at most: neighbours share one

_CALM = frozenset({
    EndReason.CLIENT_LEFT, EndReason.DEADLINE_REACHED, EndReason.DETACHED,
    EndReason.SERVER_STOPPING,
})  # fmt: skip


_DOING = {"initial": "reading the state", "log": "reading the log"}  # live needs no word


# Overview.


def overview(runtime: Runtime, statistics: RuntimeStatistics) -> JSON:
    """The overview page as it stands."""
    rows = []
    for each in sorted(statistics.cachers.values(), key=_resource_order):
        cacher = runtime.caches.cacher(each.group_resource)
        oldest = cacher.ring_slots(each.ring.start, 1)
        rows.append(resource_row(each, oldest[0].received_at if oldest else None))
    return {"figures": figures(statistics), "resources": rows}


def figures(statistics: RuntimeStatistics, rate: float | None = None) -> JSON:
    """The numbers on top of the overview."""
    cachers = statistics.cachers.values()
    behind = statistics.head - statistics.applied
    return {
        "applied": str(statistics.applied),
        "behind": f"{behind:,} behind head" if behind > 0 else "caches are at head",
        "behind_is": "high" if behind > 0 else "none",
        "objects": sum(each.objects for each in cachers),
        "resources": len(statistics.cachers),
        "watchers": sum(each.watchers for each in cachers),
        "lanes": sum(each.lanes for each in cachers),
        "delivered": sum(each.delivered_frames for each in cachers),
        "delivered_bytes": sum(each.delivered_bytes for each in cachers),
        "received": sum(each.received for each in cachers),
        "started_at": statistics.started_at,
        "rate": rate,
    }


def resource_row(statistics: CacherStatistics, oldest_at: float | None) -> JSON:
    """One resource in the overview's table; who follows it fills in the rate."""
    ring = statistics.ring
    name = str(statistics.group_resource)
    return {
        "id": name,
        "resource": name,
        "url": resource_url(statistics.group_resource),
        "objects": statistics.objects,
        "revision": str(ring.newest or ""),
        "watchers": statistics.watchers,
        "received": statistics.received,
        "rate": None,
        "oldest_at": oldest_at,
        "ring_size": ring.events,
        "ring_capacity": ring.capacity,
        "ring_percent": round(100 * ring.events / ring.capacity, 1),
        "quiet": "true" if not (statistics.objects or statistics.watchers) else "false",
    }


@lru_cache(maxsize=1024)
def resource_url(group_resource: GroupResource) -> str:
    """The page of a resource."""
    return reverse("dashboard:resource", args=[str(group_resource)])


# Watchers.


async def watchers(runtime: Runtime) -> JSON:
    """All watches of all resources, as they stand."""
    return watcher_tables(await watches(runtime.caches.cachers().values()))


async def watches(cachers: Iterable[Cacher]) -> list[WatcherStatistics]:
    """The open and the remembered ended watches of these caches; others have turns between."""
    found: dict[int, WatcherStatistics] = {}
    for cacher in cachers:
        for number, watcher in enumerate(cacher.watchers(), start=1):
            found[watcher.id] = watcher.statistics()
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        # Last, since some may have ended meanwhile.
        found |= {ended.id: ended for ended in cacher.ended()}
    return list(found.values())


def watcher_tables(statistics: Sequence[WatcherStatistics], *, ended_rows: int = ENDED) -> JSON:
    """Rows of open and of ended watches, and how many there are."""
    open_ = [each for each in statistics if each.end_reason is None]
    ended = [each for each in statistics if each.end_reason is not None]
    shown = open_
    if len(open_) > WATCHERS:
        shown = sorted(open_, key=attrgetter("lag_seconds"), reverse=True)[:WATCHERS]
    shown = sorted(shown, key=attrgetter("id"))
    ended.sort(key=lambda each: (each.ended_at or 0.0, each.id), reverse=True)
    hidden = len(open_) - len(shown)
    return {
        "counts": {
            "watching": len(open_),
            "not_shown": f", the {len(shown)} furthest behind shown" if hidden else "",
        },
        "watching": [watcher_row(each) for each in shown],
        "ended": [ended_row(each) for each in ended[:ended_rows]],
    }


def watcher_row(watcher: WatcherStatistics) -> JSON:
    """One open watch."""
    lag = "none"
    if watcher.lag_events:
        lag = "high" if watcher.lag_seconds >= LAG_SECONDS else "some"
    return {
        **_identity(watcher),
        "since": watcher.since_at,
        "phase": watcher.phase,
        "doing": _DOING.get(watcher.phase, ""),
        "lag": lag,
        "lag_events": watcher.lag_events,
        "lag_ms": round(watcher.lag_seconds * 1000, 1) if watcher.lag_events else 0,
        "bookmarks": watcher.bookmarks,
        "initial_events": watcher.initial_events,
    }


def ended_row(watcher: WatcherStatistics) -> JSON:
    """One watch that has ended, and why."""
    reason = watcher.end_reason
    return {
        **_identity(watcher),
        "ended_at": watcher.ended_at,
        "end_reason": str(reason),
        "end_kind": "calm" if reason in _CALM else "bad",
    }


def _identity(watcher: WatcherStatistics) -> JSON:
    return {
        "id": str(watcher.id),
        "client": short_agent(watcher.agent),
        "agent": f"{watcher.agent or 'no user agent'}, from {watcher.address or 'this process'}",
        "user": watcher.user,
        "resource": str(watcher.group_resource),
        "resource_url": resource_url(watcher.group_resource),
        "namespace": watcher.namespace,
        "selector": selector_text(watcher),
        "representation": watcher.representation,
        "delivered": str(watcher.delivered),
        "events": watcher.frames,
        "bytes": watcher.bytes,
    }


def selector_text(watcher: WatcherStatistics) -> str:
    """What the watch narrows down to: namespace and labels as kubectl's options, fields bare."""
    parts = [f"-n {watcher.namespace}"] if watcher.namespace else []
    if watcher.name:
        parts.append(watcher.name)
    # Its statistics say `labels:app=web fields:spec.nodeName=a`.
    labels, _, fields = watcher.selector.partition("fields:")
    if labels := labels.removeprefix("labels:").strip():
        parts.append(f"-l {labels}")
    if fields:
        parts.append(fields)  # bare: the long option would leave no room for what it says
    return " ".join(parts)


# One resource.


async def resource(cacher: Cacher, *, before: int | None = None, limit: int) -> JSON:
    """A resource's page as it stands; `older` is where the next older page of slots begins."""
    statistics = cacher.statistics()
    watching = await watches([cacher])
    ring_map = RingMap()
    ring_map.read(statistics.ring, cacher.ring_slots)
    last = statistics.ring.end
    if before is not None:
        last = statistics.ring.start + ring_map.position(before - 1, statistics.ring)
    first = max(last - limit, statistics.ring.start)
    slots = cacher.ring_slots(first, last - first)
    more = bool(slots) and slots[0].index > statistics.ring.start
    return {
        "facts": facts(statistics),
        "ring": ring(cacher, statistics, ring_map, watching),
        "slots": [slot_row(slot) for slot in reversed(slots)],
        "older": str(slots[0].revision) if more else "",
        **watcher_tables(watching, ended_rows=ENDED_HERE),
    }


def facts(statistics: CacherStatistics, rate: float | None = None) -> JSON:
    """The words beside a resource's name."""
    return {
        "objects": statistics.objects,
        "watchers": statistics.watchers,
        "lanes": statistics.lanes,
        "revision": str(statistics.ring.newest or ""),
        "received": statistics.received,
        "rate": rate,
    }


def slot_row(slot: RingSlot) -> JSON:
    """One slot of the ring."""
    key = f"{slot.namespace}/{slot.name}" if slot.namespace else slot.name
    return {
        "id": str(slot.revision),
        "revision": str(slot.revision),
        "type": str(slot.type),
        "key": key,
        "at": slot.received_at,
        "bytes": slot.bytes,
    }


def ring(
    cacher: Cacher,
    statistics: CacherStatistics,
    ring_map: RingMap,
    watching: Sequence[WatcherStatistics],
) -> JSON:
    """The strip with its axis and ticks."""
    numbers = statistics.ring
    ends = [*cacher.ring_slots(numbers.start, 1), *cacher.ring_slots(numbers.end - 1, 1)]
    return {
        "size": numbers.events,
        "capacity": numbers.capacity,
        "bytes": numbers.bytes,
        "oldest": str(numbers.oldest or ""),
        "newest": str(numbers.newest or ""),
        "floor": str(numbers.floor),
        "oldest_at": ends[0].received_at if ends else None,
        "newest_at": ends[-1].received_at if ends else None,
        "summary": _summary(statistics),
        "marks": marks(statistics, ring_map, watching),
        **ring_map.buckets(numbers),
    }


def marks(
    statistics: CacherStatistics, ring_map: RingMap, watching: Sequence[WatcherStatistics]
) -> list[JSON]:
    """A tick for each place where watchers stand; `lost`: the ring has moved past them."""
    numbers = statistics.ring
    step = max(1.0, numbers.capacity / MARKS)
    places: dict[int, list[tuple[int, WatcherStatistics]]] = {}
    for watcher in watching:
        if watcher.end_reason is None:
            at = ring_map.position(watcher.delivered, numbers)
            places.setdefault(int(at // step), []).append((at, watcher))
    found = []
    for _, here in sorted(places.items()):
        names = sorted({short_agent(watcher.agent) for _, watcher in here})
        lost = any(watcher.delivered < numbers.floor for _, watcher in here)
        found.append({
            "at": max(at for at, _ in here),
            "count": len(here),
            "lost": lost,
            "title": f"{len(here)} at revision {max(w.delivered for _, w in here)}: "
            + ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else ""),
        })  # fmt: skip
    return found


def _summary(statistics: CacherStatistics) -> str:
    numbers = statistics.ring
    if not numbers.events:
        return f"The ring is empty; it has room for {numbers.capacity:,} events."
    return (
        f"The ring holds {numbers.events:,} of {numbers.capacity:,} events, from revision "
        f"{numbers.oldest} to {numbers.newest}; {statistics.watchers:,} watchers follow it."
    )


# Flow.


def recent_events(runtime: Runtime) -> list[JSON]:
    """The newest events of all rings, newest first, and which open watches have taken them."""
    found: list[tuple[RingSlot, Cacher]] = []
    few = set()
    for cacher in runtime.caches.cachers().values():
        found += [(slot, cacher) for slot in cacher.ring_slots(limit=EVENTS)]
        if cacher.statistics().lanes <= FEW_LANES:
            few.add(cacher)
    found.sort(key=lambda each: each[0].revision, reverse=True)
    return [event_row(slot, cacher, ask=cacher in few) for slot, cacher in found[:EVENTS]]


def event_row(slot: RingSlot, cacher: Cacher, *, ask: bool) -> JSON:
    """One event from a ring: when watchers took it was not observed, so it has one stage."""
    # An event that was read from the log at a start has no time of its own in the cache.
    observed = slot.received_at > slot.committed_at > 0
    stage = (slot.received_at - slot.committed_at) * 1000 if observed else None
    taken = None
    if ask and (journey := cacher.journey(slot.revision)) is not None:
        taken = sum(stop.delivered for stop in journey.stops)
    return {
        **slot_row(slot),
        "resource": str(cacher.group_resource),
        "resource_url": resource_url(cacher.group_resource),
        "reached": taken,
        "names": "",
        "storage_to_cache": None if stage is None else round(stage, 3),
        "cache_to_watcher": None,
        "total": None,
        **journey_bar(stage, None),
    }


def journey_bar(storage_to_cache: float | None, cache_to_watcher: float | None) -> JSON:
    """The two stages as parts of a bar of 100: on a root scale, so that 1 ms shows beside 100."""
    whole = (storage_to_cache or 0.0) + (cache_to_watcher or 0.0)
    length = min(whole / 100, 1.0) ** 0.5 * 100
    first = length * (storage_to_cache or 0.0) / whole if whole else 0.0
    return {"bar_storage": round(first, 1), "bar_watcher": round(length - first, 1)}


def _resource_order(statistics: CacherStatistics) -> tuple[bool, bool, str]:
    """What is in use first, then by name; the core group before others."""
    quiet = not (statistics.objects or statistics.watchers)
    return quiet, bool(statistics.group_resource.group), str(statistics.group_resource)
