"""One event's way: commit, pump, cache, lanes, each watcher, each informer, with stage times.

What stands in the ring tells who hears what; times of each watcher were recorded if a page of the
dashboard was open when the event came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dashboard.agents import short_agent
from dashboard.formats import count
from dashboard.frames import slot_row
from dashboard.links import event_url, resource_url, watcher_url
from dashboard.machinery.recording import recorder_of
from dashboard.machinery.watcher_page import because

if TYPE_CHECKING:
    from dashboard.machinery.recording import Journey
    from listwatch.runtime import Runtime
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import LaneJudgement, RingSlot, WatcherStatistics

JSON = dict[str, Any]  # Any: JSON values

STOPS = 100  # watchers listed at most
LANES = 24  # lanes listed under one verdict at most
HEARD = ("ADDED", "MODIFIED", "DELETED", "nothing")
WAYS = {"signal": "handed over by the signal", "log": "read from the log"}


class Found(NamedTuple):
    """An event in its ring."""

    cacher: Cacher
    slot: RingSlot


def find(runtime: Runtime, revision: int) -> Found | None:
    """The event of a revision, if a ring still holds it."""
    for cacher in runtime.caches.cachers().values():
        journey = cacher.journey(revision)
        if journey is not None:
            return Found(cacher, journey.slot)
    return None


def event(runtime: Runtime, found: Found) -> JSON:
    """The page as it stands."""
    cacher, slot = found
    journey = recorder_of(runtime).find(slot.revision)
    judgements = cacher.judgements(slot.revision)
    stops = deliveries(cacher, slot, journey)
    return {
        **slot_row(slot),
        "resource": str(cacher.group_resource),
        "resource_url": resource_url(cacher.group_resource),
        "committed_at": slot.committed_at or None,
        "recorded": journey is not None,
        "neighbours": neighbours(cacher, slot),
        "stations": list(stations(slot, journey)),
        "fan_out": fan_out(judgements, journey, cacher),
        "transitions": transitions(judgements),
        "stops": stops["rows"],
        "stops_more": stops["more"],
        "informers": informers(journey),
    }


def stations(slot: RingSlot, journey: Journey | None) -> Iterator[JSON]:
    """The way, station by station; `took` is the time in ms from the one before."""
    yield {"name": "commit", "says": "The transaction is durable.", "at": slot.committed_at or None,
           "took": None, "stage": ""}  # fmt: skip
    to_cache = None
    if slot.received_at > slot.committed_at > 0:
        to_cache = (slot.received_at - slot.committed_at) * 1000
    via = WAYS.get(journey.via, "") if journey else ""
    says = f"Taken in revision order, {via}." if via else "Taken in revision order by the pump."
    yield {"name": "cache", "says": says, "at": slot.received_at, "took": _round(to_cache),
           "stage": "storage_to_cache"}  # fmt: skip
    if journey is None:
        return
    if journey.offered_at is not None:
        lanes = len(journey.waiting_in)
        yield {
            "name": "lanes",
            "says": f"Stands in {count(lanes)} of {count(journey.open_lanes)} lanes.",
            "at": journey.offered_at,
            "took": _since(journey.offered_at, journey.received_at), "stage": "",
        }  # fmt: skip
    first, last = journey.first_delivered_at, journey.last_delivered_at
    if first is not None and last is not None:
        name = next(iter(journey.names), "")
        yield {"name": "first watcher", "says": f"Taken by {name}.", "at": first,
               "took": _since(first, journey.offered_at or journey.received_at),
               "stage": ""}  # fmt: skip
        if journey.reached > 1:
            all_ = count(max(journey.offered, journey.reached))
            says = f"{count(journey.reached)} of {all_} have it; last {journey.last_name}."
            yield {"name": "last watcher", "says": says, "at": last,
                   "took": _since(last, first), "stage": "cache_to_watcher"}  # fmt: skip
    if journey.applied:
        newest = max(journey.applied.values(), key=lambda each: each.at)
        yield {"name": "informers", "says": f"In {count(len(journey.applied))} indexers.",
               "at": newest.at, "took": _since(newest.at, last or journey.received_at),
               "stage": ""}  # fmt: skip


def fan_out(judgements: Sequence[LaneJudgement], journey: Journey | None, cacher: Cacher) -> JSON:
    """What the inverted index spared: as it was when the event came, else as it would be now."""
    open_, asked = len(judgements), sum(each.asked for each in judgements)
    hearing = [each for each in judgements if each.judgement.hears is not None]
    stand, offered = len(hearing), sum(each.lane.watchers for each in hearing)
    watchers = len(cacher.watchers())
    if journey is not None and journey.offered_at is not None:
        open_, asked, stand = journey.open_lanes, journey.asked, len(journey.waiting_in)
        offered, watchers = journey.offered, max(watchers, journey.offered)
    return {
        "when": "then" if journey is not None else "now",
        "lanes": open_, "asked": asked, "spared": max(open_ - asked, 0), "stand": stand,
        "watchers": watchers, "offered": offered,
        "taken": journey.reached if journey is not None else None,
        "asked_percent": _percent(asked, open_), "stand_percent": _percent(stand, open_),
        "offered_percent": _percent(offered, watchers),
        "taken_percent": _percent(journey.reached if journey else 0, watchers),
    }  # fmt: skip


def transitions(judgements: Sequence[LaneJudgement]) -> list[JSON]:
    """The same write as each selector saw it, under what its watchers hear."""
    groups: dict[str, list[LaneJudgement]] = {name: [] for name in HEARD}
    for each in judgements:
        heard = each.judgement.hears
        groups["nothing" if heard is None else heard.value].append(each)
    columns = []
    for name, lanes in groups.items():
        # Those that were asked first: who was spared could not have heard it.
        lanes.sort(key=lambda each: (not each.asked, -each.lane.watchers, each.lane.id))
        columns.append({
            "type": name,
            "lanes": len(lanes),
            "watchers": sum(each.lane.watchers for each in lanes),
            "rows": [_lane(each) for each in lanes[:LANES]],
            "more": max(len(lanes) - LANES, 0),
        })  # fmt: skip
    return columns


def deliveries(cacher: Cacher, slot: RingSlot, journey: Journey | None) -> JSON:
    """Each watcher that hears of it: what, and after how long."""
    told = cacher.journey(slot.revision)
    stops = told.stops if told is not None else ()
    times = journey.stops if journey is not None else {}
    found = [(stop, times.get(stop.watcher)) for stop in stops]
    # Who waits stands first: that is what one looks for.
    found.sort(key=lambda each: (each[0].delivered, -(each[1] or 0.0), each[0].watcher))
    wanted = {stop.watcher for stop, _ in found[:STOPS]}
    open_ = {each.id: each.statistics() for each in cacher.watchers() if each.id in wanted}
    longest = max((at - slot.received_at for at in times.values()), default=0.0)
    rows = []
    for stop, at in found[:STOPS]:
        watcher: WatcherStatistics | None = open_.get(stop.watcher)
        took = None if at is None else max(at - slot.received_at, 0.0)
        rows.append({
            "id": str(stop.watcher),
            "url": watcher_url(stop.watcher),
            "client": short_agent(watcher.agent) if watcher else "",
            "user": watcher.user if watcher else "",
            "hears": stop.type,
            "state": "taken" if stop.delivered else "waits",
            "took": _round(None if took is None else took * 1000),
            "bar": 0 if took is None else round(100 * took / longest, 1) if longest else 2,
        })  # fmt: skip
    gone = len(times.keys() - {stop.watcher for stop in stops})
    more = [f"{count(len(found) - STOPS)} more"] if len(found) > STOPS else []
    more += [f"{count(gone)} that took it have ended since"] if gone else []
    return {"rows": rows, "more": ", ".join(more)}


def informers(journey: Journey | None) -> list[JSON]:
    """Informers that have it in their indexer."""
    if journey is None:
        return []
    return [
        {"id": str(number), "client": each.name, "url": watcher_url(number),
         "took": _since(each.at, journey.received_at)}
        for number, each in journey.applied.items()
    ]  # fmt: skip


def neighbours(cacher: Cacher, slot: RingSlot) -> JSON:
    """The events before and after it in its ring."""
    older = cacher.ring_slots(slot.index - 1, 1) if slot.index else []
    newer = cacher.ring_slots(slot.index + 1, 1)
    return {
        "older": event_url(older[0].revision) if older and older[0].index < slot.index else "",
        "newer": event_url(newer[0].revision) if newer else "",
    }


def _lane(each: LaneJudgement) -> JSON:
    lane = each.lane
    return {
        "id": str(lane.id),
        "selector": _selector(each),
        "watchers": lane.watchers,
        "asked": each.asked,
        "before": each.judgement.before,
        "after": each.judgement.after,
        "because": because(each.judgement) if lane.selector or not each.judgement.in_scope else "",
    }


def _selector(each: LaneJudgement) -> str:
    lane = each.lane
    parts = [f"-n {lane.namespace}"] if lane.namespace else []
    labels, _, fields = lane.selector.partition("fields:")
    if labels := labels.removeprefix("labels:").strip():
        parts.append(f"-l {labels}")
    parts += [fields] if fields else []
    return " ".join(parts) or "everything"


def _since(at: float, before: float) -> float:
    return round(max(at - before, 0.0) * 1000, 3)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _percent(part: int, whole: int) -> float:
    return round(100 * min(part / whole, 1.0), 1) if whole else 0.0
