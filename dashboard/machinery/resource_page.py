"""One resource: its ring, its newest slots, its watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.frames import facts, slot_row
from dashboard.machinery.ring_frames import ring
from dashboard.machinery.watching import ENDED_HERE, watcher_tables, watches
from dashboard.ring_map import RingMap

if TYPE_CHECKING:
    from listwatch.watchcache.cacher import Cacher

JSON = dict[str, Any]  # Any: JSON values


async def resource(cacher: Cacher, *, before: int | None = None, limit: int) -> JSON:
    """The page as it stands; `older` is where the next older page of slots begins."""
    watching = await watches([cacher])
    statistics = cacher.statistics()
    outline = RingMap()
    outline.read(statistics.ring, cacher.ring_outline)
    last = statistics.ring.end
    if before is not None:
        last = statistics.ring.start + outline.position(before - 1, statistics.ring)
    first = max(last - limit, statistics.ring.start)
    slots = cacher.ring_slots(first, last - first)
    more = bool(slots) and slots[0].index > statistics.ring.start
    return {
        "facts": facts(statistics),
        "ring": ring(cacher, statistics, outline, watching),
        "slots": [slot_row(slot) for slot in reversed(slots)],
        "older": str(slots[0].revision) if more else "",
        **watcher_tables(watching, now=cacher.clock.now(), ended_rows=ENDED_HERE),
    }
