"""The ring map: one ring with everyone who stands in it, and all rings in one look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboard.agents import short_agent
from dashboard.formats import age
from dashboard.links import resource_url, ring_url
from dashboard.machinery.endings import is_calm
from dashboard.machinery.horizon import Horizon
from dashboard.machinery.ring_frames import growth, left_text, places, resume_points, ring
from dashboard.machinery.watching import watches
from dashboard.ring_map import RingMap

if TYPE_CHECKING:
    from listwatch.runtime import Runtime
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import CacherStatistics, WatcherStatistics

JSON = dict[str, Any]  # Any: JSON values


async def ring_map(runtime: Runtime, cacher: Cacher, outline: RingMap | None = None) -> JSON:
    """One ring as it stands; whoever follows it keeps the `outline`."""
    watching = await watches([cacher])
    statistics = cacher.statistics()
    outline = outline or RingMap()
    outline.read(statistics.ring, cacher.ring_outline)
    horizon = Horizon(cacher, statistics.ring, outline)
    rows = places(statistics.ring, horizon, outline, watching)
    return {
        "figures": figures(statistics, horizon, rows),
        "ring": ring(cacher, statistics, outline, watching),
        "growth": growth(statistics, runtime.started_at, runtime.clock.now()),
        "places": rows,
        "ends": ends(statistics),
    }


def figures(statistics: CacherStatistics, horizon: Horizon, rows: Sequence[JSON]) -> JSON:
    """The few numbers that say how safe a client's last revision is."""
    numbers = statistics.ring
    first = horizon.at(0) if numbers.events else None
    nearest = rows[0] if rows else None
    return {
        "size": numbers.events,
        "capacity": numbers.capacity,
        "percent": round(100 * numbers.events / numbers.capacity, 1),
        "bytes": numbers.bytes,
        "rate": round(horizon.rate, 2),
        "rate_seconds": round(numbers.recent_seconds),
        "first_left": _seconds(first.seconds) if first else "",
        "first_is": first.kind if first else "still",
        "nearest": "" if nearest is None else _left(nearest),
        "nearest_is": "still" if nearest is None else nearest["left_is"],
        "nearest_who": "nobody stands here" if nearest is None else nearest["client"],
        "too_old": statistics.too_old,
        "from_log": statistics.watches_from_log,
        "too_old_is": "high" if statistics.too_old else "none",
    }


def ends(statistics: CacherStatistics) -> list[JSON]:
    """How the watches of this resource have ended, since the server started."""
    rows = [
        {"id": str(reason), "reason": str(reason), "count": count,
         "is": "calm" if is_calm(reason) else "bad"}
        for reason, count in statistics.ends.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row["is"], row["reason"]))


async def all_rings(runtime: Runtime, outlines: dict[str, RingMap]) -> JSON:
    """A strip for each ring that holds events or is watched: what is followed on top."""
    rows = []
    for cacher in runtime.caches.cachers().values():
        if not (len(cacher.ring) or cacher.watchers()):
            continue
        watching = await watches([cacher])
        statistics = cacher.statistics()
        outline = outlines.setdefault(str(cacher.group_resource), RingMap())
        outline.read(statistics.ring, cacher.ring_outline)
        rows.append(_row(cacher, statistics, outline, watching))
    rows.sort(key=lambda row: (not row["watchers"], -row["rate"], -row["size"], row["resource"]))
    return {"rings": rows}


def _row(
    cacher: Cacher,
    statistics: CacherStatistics,
    outline: RingMap,
    watching: Sequence[WatcherStatistics],
) -> JSON:
    picture = ring(cacher, statistics, outline, watching)
    horizon = Horizon(cacher, statistics.ring, outline)
    standing = [each for each in watching if each.end_reason is None] + resume_points(watching)
    nearest = min(standing, key=lambda each: each.delivered, default=None)
    left = None if nearest is None else horizon.of(nearest.delivered)
    return {
        "id": str(statistics.group_resource),
        "resource": str(statistics.group_resource),
        "url": ring_url(statistics.group_resource),
        "resource_url": resource_url(statistics.group_resource),
        "size": statistics.ring.events,
        "capacity": statistics.ring.capacity,
        "rate": round(horizon.rate, 2),
        "watchers": statistics.watchers,
        "oldest_at": picture["oldest_at"],
        "resizes": statistics.ring.resizes,
        "nearest": "" if nearest is None else short_agent(nearest.agent),
        "left_is": "still" if left is None else left.kind,
        "left_says": "" if left is None else left_text(left.seconds, left.kind),
        "ring": picture,
    }


def _left(place: JSON) -> str:
    return "below it" if place["left_is"] == "lost" else _seconds(place["left"])


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "never"
    return age(seconds)
