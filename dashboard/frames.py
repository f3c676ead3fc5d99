"""What the pages show, as JSON values: every number is a field of some statistics.

Read by `views` for pages as they stand, and by `subscriptions` for what changes; watches, rings and
events are in `machinery`. Revisions are
text, since a browser's numbers end at 2^53.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.links import event_url, resource_url

if TYPE_CHECKING:
    from listwatch.runtime import Runtime, RuntimeStatistics
    from listwatch.watchcache.statistics import CacherStatistics, RingSlot

JSON = dict[str, Any]  # Any: JSON values

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
        "quiet": "true" if _quiet(statistics) else "false",
    }


# One resource.


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
        "url": event_url(slot.revision),
        "type": str(slot.type),
        "key": key,
        "at": slot.received_at,
        "bytes": slot.bytes,
    }


def _resource_order(statistics: CacherStatistics) -> tuple[bool, bool, str]:
    """What is in use first, then by name; the core group before others."""
    return _quiet(statistics), bool(statistics.group_resource.group), str(statistics.group_resource)


def _quiet(statistics: CacherStatistics) -> bool:
    """Whether there is nothing to see: controllers watch every kind, so watchers do not count."""
    return not (statistics.objects or statistics.ring.events)
