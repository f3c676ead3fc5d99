"""What people may ask of a Cacher: its numbers, its slots, its watches, one event's way.

Called through `cacher`, by `metrics` and the dashboard; changes nothing and counts nothing. What
selectors make of events is in `transitions`, the arithmetic of 410 in `explaining`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal

from listwatch.protocol.versions import Version
from listwatch.watchcache.statistics import (
    CacherStatistics,
    Journey,
    RingMark,
    RingSlot,
    RingStatistics,
    Stop,
    WatcherStatistics,
)
from listwatch.watchcache.verdicts import change_type, verdict

if TYPE_CHECKING:
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.ring import Ring
    from listwatch.watchcache.watcher import CacheWatcher, Keeper

RECENT_SECONDS = 10.0  # over which the present rate of a ring is taken


def statistics(cacher: Cacher) -> CacherStatistics:
    """One look at a Cacher."""
    lanes, lists, versions = cacher.lanes, cacher.lists, cacher.versions
    watchers = cacher.watchers()
    newest = cacher.ring.newest
    return CacherStatistics(
        group_resource=cacher.group_resource,
        ready=cacher.ready,
        objects=len(versions),
        tombstones=versions.tombstones,
        applied=cacher.progress.applied,
        newest=cacher.floor if newest is None else newest.revision,
        received=cacher.received,
        ring=ring_statistics(cacher.ring, cacher.clock.monotonic()),
        watchers=len(watchers),
        lanes=len(lanes),
        selectors=lanes.selectors,
        evaluations=lanes.evaluations,
        encodings=lanes.encodings,
        index_hits=lanes.hits,
        index_spared=lanes.spared,
        flushes=lanes.flushes,
        delivered_frames=cacher.counts["frames"] + sum(w.frames for w in watchers),
        delivered_bytes=cacher.counts["bytes"] + sum(w.bytes for w in watchers),
        lists=lists.answered,
        lists_from_log=lists.from_log,
        pinned_arrays=len(lists.pages),
        pinned_references=lists.pages.held,
        indexed=tuple(versions.index.names()),
        watches_from_log=cacher.counts["watches_from_log"],
        too_old=cacher.counts["too_old"],
        ends=dict(cacher.ends),
    )


def ring_statistics(ring: Ring, now: float) -> RingStatistics:
    """One look at a ring; `now` is monotonic."""
    oldest, newest = ring.oldest, ring.newest
    recent, seconds = ring.since(now - RECENT_SECONDS), RECENT_SECONDS
    if ring.start and recent == len(ring) > 0:  # what came before those has left already
        ((_, _, first),) = ring.slots(ring.start, ring.start + 1)
        seconds = max(now - first, 0.001)
    return RingStatistics(
        events=len(ring),
        capacity=ring.capacity,
        bytes=ring.bytes,
        oldest=None if oldest is None else oldest.revision,
        newest=None if newest is None else newest.revision,
        floor=ring.floor,
        start=ring.start,
        end=ring.end,
        resizes=ring.resizes,
        history=tuple(ring.history),
        recent=recent,
        recent_seconds=seconds,
    )


def ring_slots(cacher: Cacher, first: int | None, limit: int) -> list[RingSlot]:
    """Slots of the ring from an index on, or the newest."""
    ring = cacher.ring
    first = max(ring.end - limit, ring.start) if first is None else first
    now = cacher.clock.monotonic()
    return [slot_of(*slot, now=now) for slot in ring.slots(first, first + limit)]


def ring_outline(cacher: Cacher, first: int, limit: int) -> list[RingMark]:
    """The same in outline: a picture of the whole ring may need a hundred thousand."""
    slots = cacher.ring.slots(first, first + limit)
    return [RingMark(e.revision, change_type(e), e.received_at) for _, e, _ in slots]


def watcher_statistics(watcher: CacheWatcher, keeper: Keeper) -> WatcherStatistics:
    """One look at a watch."""
    lane, request, schedule = watcher.lane, watcher.request, watcher.schedule
    now, monotonic = keeper.clock.now(), keeper.clock.monotonic()
    lag = 0 if lane is None else lane.end - watcher.cursor
    waiting = lane.first_from(watcher.cursor) if lane is not None and lag else None
    due = schedule.next_bookmark
    why: Literal["", "period", "closing"] = "closing" if schedule.next_is_last else "period"
    return WatcherStatistics(
        id=watcher.id,
        group_resource=watcher.group_resource,
        agent=request.client.agent,
        user=request.client.user,
        address=request.client.address,
        namespace=request.namespace,
        name=request.name,
        selector=watcher.selector_text,
        selects=request.selector,
        representation=request.representation.name,
        since_at=watcher.since_at,
        started_from=watcher.started_from,
        delivered=watcher.revision,
        phase=watcher.phase,
        lag_events=lag,
        lag_seconds=0.0 if waiting is None else max(now - waiting.received_at, 0.0),
        lag_revisions=max(keeper.progress.applied - watcher.revision, 0),
        bytes=watcher.bytes,
        frames=watcher.frames,
        chunks=watcher.chunks,
        bookmarks=watcher.bookmarks,
        bookmark_at=None if due is None else now + due - monotonic,
        bookmark_why="" if due is None else why,
        bookmark_waits=watcher.bookmark_due,
        deadline_at=None if schedule.deadline == inf else now + schedule.deadline - monotonic,
        initial_events=watcher.initial_events,
        reading=watcher.reading,
        accepted_at=watcher.accepted_at,
        end_reason=watcher.end_reason,
        ended_at=watcher.ended_at,
    )


def journey(cacher: Cacher, revision: int) -> Journey | None:
    """Which open watches hear of an event, and which have taken it."""
    ring = cacher.ring
    event = ring.find(revision)
    if event is None:
        return None
    index = ring.end - ring.count_after(revision - 1)
    ((index, event, time),) = ring.slots(index, index + 1)
    stops = []
    for lane in cacher.lanes:
        if lane.namespace not in ("", event.namespace) or lane.name not in ("", event.name):
            continue
        heard = verdict(lane.selector, event, event.previous)
        if heard is None:
            continue
        stops += [
            Stop(watcher.id, lane.id, heard.value, delivered=watcher.revision >= revision)
            for watcher in lane.watchers
            if watcher.started_from < revision
        ]
    return Journey(slot_of(index, event, time, now=cacher.clock.monotonic()), tuple(stops))


def slot_of(index: int, event: Version, time: float, *, now: float) -> RingSlot:
    """One event of the ring; `time` is when it arrived and, as `now`, monotonic."""
    return RingSlot(
        index=index,
        revision=event.revision,
        type=change_type(event),
        namespace=event.namespace,
        name=event.name,
        age=now - time,
        bytes=len(event.encoded.body),
        committed_at=event.committed_at,
        received_at=event.received_at,
    )
