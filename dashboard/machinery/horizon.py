"""How long each place in a ring will last: where a client that lost its connection now would stand.

Reads the ring's statistics and outline; the arithmetic is `listwatch.watchcache.forecast`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.watchcache.forecast import rate_of, seconds_left

if TYPE_CHECKING:
    from dashboard.ring_map import RingMap
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import RingStatistics

JSON = dict[str, Any]  # Any: JSON values

NEAR = 10.0  # seconds
SOON = 60.0  # seconds
FINE, STILL, LOST = "fine", "still", "lost"


class Left(NamedTuple):
    """Until a place is overwritten: `kind` is fine, soon, near, lost, or still (not at all)."""

    seconds: float | None
    kind: str


class Horizon:
    """Asked of places in one ring at one moment.

    Promises that places further from the oldest slot never last less long, as far as events come
    as they do; a place below the ring is lost to it, whatever the log may still serve.
    """

    def __init__(self, cacher: Cacher, ring: RingStatistics, outline: RingMap) -> None:
        self._ring = ring
        self._options = cacher.options
        self._outline = outline
        self._now = cacher.clock.now()
        self.rate = rate_of(ring)

    def of(self, revision: int) -> Left:
        """How long a watch could still resume from this revision out of the ring."""
        if revision < self._ring.floor:
            return Left(0.0, LOST)
        return self.at(self._outline.position(revision, self._ring))

    def at(self, ahead: int) -> Left:
        """The same for the place with so many slots at or below it."""
        seconds = seconds_left(self._ring, self._options, self._age, ahead, rate=self.rate)
        if seconds is None:
            return Left(None, STILL)
        kind = "near" if seconds < NEAR else "soon" if seconds < SOON else FINE
        return Left(round(seconds, 1), kind)

    def zones(self) -> list[JSON]:
        """The strip in stretches of one kind: from which slot, how many, of what kind."""
        events = self._ring.events
        edges = [0, self._first_beyond("near"), self._first_beyond("near", "soon"), events]
        found = []
        for worst, start, end in zip(("near", "soon", ""), edges, edges[1:], strict=False):
            if end > start:
                kind = worst or self.at(start).kind
                found.append({"from": start, "size": end - start, "is": kind})
        return found

    def _first_beyond(self, *kinds: str) -> int:
        low, high = 0, self._ring.events
        while low < high:
            middle = (low + high) // 2
            if self.at(middle).kind in kinds:
                low = middle + 1
            else:
                high = middle
        return low

    def _age(self, index: int) -> float:
        return max(self._now - self._outline.received_at(index, self._ring), 0.0)
