"""Forgetting a ring's history before its time: what a sudden compaction does to those who resume.

Called by `runtime`, for a fault put in on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from listwatch.watchcache.cacher import Cacher


def forget_history(cacher: Cacher) -> None:
    """Empty the ring, as if its events were too old. A watch that has not taken them ends."""
    for evicted in cacher.ring.clear():
        cacher.versions.forget(evicted)
    cacher.lists.pages.drop_below(cacher.floor)
    for lane in tuple(cacher.lanes):
        cacher.lanes.trim(lane)
