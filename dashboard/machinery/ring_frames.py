"""A ring as a picture: its strip, its zones, and a tick for each watch and each resume point.

A resume point is where a watch that has ended would go on if its client came back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2
from typing import TYPE_CHECKING, Any

from dashboard.agents import short_agent
from dashboard.formats import age
from dashboard.machinery.horizon import Horizon
from dashboard.machinery.watching import identity
from dashboard.ring_map import RingMap

if TYPE_CHECKING:
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import CacherStatistics, RingStatistics, WatcherStatistics

JSON = dict[str, Any]  # Any: JSON values

MARKS = 50  # ticks above the strip at most: neighbours share one
LABEL = 0.024  # of the strip: a number that is nearer to the next one is left out
PLACES = 100  # rows of the table of places: those that are lost first
WORST = ("lost", "near", "soon", "fine", "still")
CHART = (1000, 48)  # the growth chart's own units


def ring(
    cacher: Cacher,
    statistics: CacherStatistics,
    outline: RingMap,
    watching: Sequence[WatcherStatistics],
) -> JSON:
    """The strip with its axis, zones and ticks."""
    numbers = statistics.ring
    ends = [*cacher.ring_slots(numbers.start, 1), *cacher.ring_slots(numbers.end - 1, 1)]
    horizon = Horizon(cacher, numbers, outline)
    first = horizon.at(0)
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
        "rate": round(horizon.rate, 2),
        "first_left": first.seconds,
        "first_says": left_text(first.seconds, first.kind) if ends else "empty",
        "marks": [
            *marks(numbers, horizon, outline, list(_open(watching))),
            *marks(numbers, horizon, outline, resume_points(watching), resumes=True),
        ],
        "zones": horizon.zones(),
        **outline.buckets(numbers),
    }


def marks(
    numbers: RingStatistics,
    horizon: Horizon,
    outline: RingMap,
    watching: Sequence[WatcherStatistics],
    *,
    resumes: bool = False,
) -> list[JSON]:
    """A tick for each place where watches stand, by what is worst among those that share it."""
    step = max(1.0, numbers.capacity / MARKS)
    places: dict[int, list[tuple[int, WatcherStatistics]]] = {}
    for watcher in watching:
        at = outline.position(watcher.delivered, numbers)
        places.setdefault(int(at // step), []).append((at, watcher))
    found: list[JSON] = []
    for _, here in sorted(places.items()):
        names = sorted({short_agent(watcher.agent) for _, watcher in here})
        oldest = min(watcher.delivered for _, watcher in here)
        left = horizon.of(oldest)
        doing = "would resume" if resumes else "at revision"
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        found.append({
            "at": max(at for at, _ in here),
            "count": len(here),
            "is": left.kind,
            "of": "resume" if resumes else "watcher",
            "label": "",
            "title": f"{len(here)} {doing} {max(w.delivered for _, w in here)}, "
            f"{left_text(left.seconds, left.kind)}: {', '.join(names[:5])}{more}",
        })  # fmt: skip
    for number, mark in enumerate(found):
        following = found[number + 1]["at"] if number + 1 < len(found) else 2 * numbers.capacity
        if mark["count"] > 1 and following - mark["at"] > LABEL * numbers.capacity:
            mark["label"] = f"{mark['count']:,}"
    return found


def places(
    numbers: RingStatistics,
    horizon: Horizon,
    outline: RingMap,
    watching: Sequence[WatcherStatistics],
) -> list[JSON]:
    """The ticks as rows: those that are lost first on top, at most PLACES."""
    standing = [(each, False) for each in _open(watching)]
    standing += [(each, True) for each in resume_points(watching)]
    standing.sort(key=lambda each: (each[0].delivered, each[0].id))
    rows = []
    for watcher, resumes in standing[:PLACES]:
        left = horizon.of(watcher.delivered)
        replay = numbers.events - outline.position(watcher.delivered, numbers)
        rows.append({
            **identity(watcher),
            "id": f"{watcher.id}",
            "stands": "resume" if resumes else "watcher",
            "stands_says": "ended, may resume" if resumes else "watching",
            "left": left.seconds,
            "left_is": left.kind,
            "left_says": left_text(left.seconds, left.kind),
            "behind": replay,
        })  # fmt: skip
    return rows


def resume_points(watching: Sequence[WatcherStatistics]) -> list[WatcherStatistics]:
    """The last of the ended watches of each client that has not come back for the same since."""
    back = {_same(each): each.since_at for each in _open(watching)}
    points: dict[tuple[str, ...], WatcherStatistics] = {}
    for each in watching:
        ended = each.ended_at
        if ended is None or not each.delivered or back.get(_same(each), 0.0) >= ended:
            continue
        points[_same(each)] = max(points.get(_same(each), each), each, key=_when)
    return list(points.values())


def left_text(seconds: float | None, kind: str) -> str:
    """Time left, in words."""
    if kind == "lost":
        return "below the ring"
    if seconds is None:
        return "not overwritten at this rate"
    return f"overwritten in {age(seconds)}"


def growth(statistics: CacherStatistics, since: float, now: float) -> JSON:
    """How the capacity went: rows, and the steps of a chart from `since` to `now`."""
    history = statistics.ring.history
    rows = [
        {
            "id": str(number),
            "at": each.at,
            "before": each.before,
            "after": each.after,
            "does": "grew" if each.after > each.before else "shrank",
        }
        for number, each in enumerate(history)
    ]
    return {
        "resizes": statistics.ring.resizes,
        "rows": list(reversed(rows)),
        "path": _steps(statistics.ring, since, now),
        "most": max((statistics.ring.capacity, *(each.after for each in history))),
    }


def _steps(numbers: RingStatistics, since: float, now: float) -> str:
    width, height = CHART
    history = numbers.history
    begin = min(since, history[0].at) if history else since
    span = max(now - begin, 1.0)
    capacities = [each.before for each in history] + [numbers.capacity]
    most, least = log2(max(capacities)), log2(min(capacities))

    def high(capacity: int) -> float:
        # Each doubling is a step of the same height.
        share = (log2(capacity) - least) / (most - least) if most > least else 0.5
        return height - 4 - share * (height - 10)

    path = f"M0 {high(capacities[0]):.1f}"
    for each in history:
        path += f"H{width * (each.at - begin) / span:.1f}V{high(each.after):.1f}"
    return f"{path}H{width}"


def _summary(statistics: CacherStatistics) -> str:
    numbers = statistics.ring
    if not numbers.events:
        return f"The ring is empty; it has room for {numbers.capacity:,} events."
    return (
        f"The ring holds {numbers.events:,} of {numbers.capacity:,} events, from revision "
        f"{numbers.oldest} to {numbers.newest}; {statistics.watchers:,} watchers follow it."
    )


def _open(watching: Sequence[WatcherStatistics]) -> Iterator[WatcherStatistics]:
    return (each for each in watching if each.end_reason is None)


def _same(watcher: WatcherStatistics) -> tuple[str, ...]:
    return watcher.agent, watcher.user, watcher.namespace, watcher.name, watcher.selector


def _when(watcher: WatcherStatistics) -> float:
    return watcher.ended_at or 0.0
