"""What people may ask of a Cacher: its numbers, its slots, the arithmetic of 410, one event's way.

Called through `cacher`, by `metrics` and the dashboard; changes nothing and counts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from listwatch.protocol.errors import too_old_resource_version
from listwatch.protocol.versions import Version
from listwatch.watchcache.statistics import (
    CacherStatistics,
    Explanation,
    Journey,
    RingSlot,
    RingStatistics,
    Stop,
)
from listwatch.watchcache.verdicts import change_type, verdict

if TYPE_CHECKING:
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.ring import Ring


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
        ring=ring_statistics(cacher.ring),
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


def ring_statistics(ring: Ring) -> RingStatistics:
    """One look at a ring."""
    oldest, newest = ring.oldest, ring.newest
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
    )


def ring_slots(cacher: Cacher, first: int | None, limit: int) -> list[RingSlot]:
    """Slots of the ring from an index on, or the newest."""
    ring = cacher.ring
    first = max(ring.end - limit, ring.start) if first is None else first
    now = cacher.clock.monotonic()
    return [_slot(*slot, now=now) for slot in ring.slots(first, first + limit)]


def explain(cacher: Cacher, revision: int, oldest: int) -> Explanation:
    """What a watch from `revision` would meet; `oldest` is the log's oldest revision."""
    source: Literal["ring", "log", "refused", "future"]
    replayed = 0
    applied, floor = cacher.progress.applied, cacher.floor
    if revision > applied:
        source = "future"
        message = f"accepted, and silent until an event exceeds {revision}"
    elif revision >= floor:
        source = "ring"
        replayed = cacher.ring.count_after(revision)
        message = f"begins with {replayed} events of the ring"
    elif revision >= oldest:
        source = "log"
        replayed = len(cacher.ring)
        message = f"reads the log up to {floor}, then {replayed} events of the ring"
    else:
        source = "refused"
        message = too_old_resource_version(revision, min(oldest, floor)).message
    return Explanation(
        revision=revision,
        source=source,
        oldest_in_ring=floor,
        oldest_in_log=oldest,
        applied=applied,
        replayed=replayed,
        message=message,
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
    return Journey(_slot(index, event, time, now=cacher.clock.monotonic()), tuple(stops))


def _slot(index: int, event: Version, time: float, *, now: float) -> RingSlot:
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
