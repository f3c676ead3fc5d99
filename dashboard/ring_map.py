"""The ring in outline: type, revision and arrival of every slot, read once, for the strip.

A ring may hold a hundred thousand slots; asking for all of them each second would cost more than
the watches. A RingMap asks only for what came since, and reads a long ring's past in pieces.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from listwatch.protocol.versions import ChangeType

if TYPE_CHECKING:
    from listwatch.watchcache.statistics import RingMark, RingStatistics

PIECE = 4_000  # slots read in one look at most
BUCKETS = 250  # columns of the strip at most

Slots = Callable[[int, int], Sequence["RingMark"]]  # from an index on, at most so many
JSON = dict[str, Any]  # Any: JSON values

_CODES = {ChangeType.ADDED: 1, ChangeType.MODIFIED: 2, ChangeType.DELETED: 3}


class RingMap:
    """Outline of one ring, kept up to date by `read`.

    Promises that after as many reads as the ring has pieces every slot is known; until then the
    oldest are drawn as not read. For one page; not shared.
    """

    def __init__(self) -> None:
        self._types = bytearray()
        self._revisions = array("Q")
        self._received = array("d")  # wall time
        self._first = 0  # index of the first slot known
        self._end = 0  # index behind the last slot known

    def read(self, ring: RingStatistics, slots: Slots) -> None:
        """Learn the slots that came since the last reading, and a piece of those before."""
        if self._end < ring.start or self._end > ring.end or self._end == self._first:
            first = max(ring.start, ring.end - PIECE)
            self._clear()
            self._first = self._end = first
        gone = max(ring.start - self._first, 0)
        del self._types[:gone]
        del self._revisions[:gone]
        del self._received[:gone]
        self._first += gone
        newest = max(self._end, ring.end - PIECE)
        if newest > self._end:  # more came than one look reads: begin anew from the newest
            self._clear()
            self._first = newest
        fresh = slots(newest, ring.end - newest)
        self._types.extend(_codes(fresh))
        self._revisions.extend(slot.revision for slot in fresh)
        self._received.extend(slot.received_at for slot in fresh)
        self._end = self._first + len(self._types)
        if len(fresh) < PIECE and self._first > ring.start:
            first = max(ring.start, self._first - PIECE)
            older = slots(first, self._first - first)
            self._types[:0] = _codes(older)
            self._revisions = array("Q", (slot.revision for slot in older)) + self._revisions
            self._received = array("d", (slot.received_at for slot in older)) + self._received
            self._first -= len(older)

    def position(self, revision: int, ring: RingStatistics) -> int:
        """How many of the ring's slots lie at or below a revision."""
        return self._first - ring.start + bisect_right(self._revisions, revision)

    def received_at(self, index: int, ring: RingStatistics) -> float:
        """When the slot with so many older ones in the ring arrived; if not read, the oldest."""
        known = max(index - (self._first - ring.start), 0)
        return self._received[min(known, len(self._received) - 1)]

    def buckets(self, ring: RingStatistics) -> JSON:
        """Counts [added, modified, deleted, not read] for each column, from the oldest slot on."""
        per_bucket = max(1, -(-ring.capacity // BUCKETS))
        columns: list[list[int]] = []
        unread = self._first - ring.start
        for start in range(0, ring.events, per_bucket):
            size = min(per_bucket, ring.events - start)
            low, high = max(start - unread, 0), max(start + size - unread, 0)
            part = self._types[low:high]
            columns.append([*(part.count(code) for code in (1, 2, 3)), size - len(part)])
        return {"per_bucket": per_bucket, "buckets": columns}

    def _clear(self) -> None:
        self._types, self._revisions, self._received = bytearray(), array("Q"), array("d")


def _codes(slots: Iterable[RingMark]) -> bytes:
    return bytes(_CODES[slot.type] for slot in slots)
