"""The history ring: the newest events of one resource, in revision order.

`cacher` appends; watches that start a little in the past take what they missed from here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from listwatch.protocol.versions import Version
from listwatch.watchcache.options import CacheOptions

_revision = attrgetter("revision")
_RESIZES = 32  # remembered


class Resize(NamedTuple):
    """The ring grew or shrank."""

    at: float  # wall time of the event that made it
    before: int  # events it might hold
    after: int


class Ring:
    """Events from just above `floor` to the newest, none missing between.

    An event is the version that a write made, and its `previous` the version before. Promises
    that `previous` is in place for every event it holds; it is cut off as the event leaves, so
    that nothing older is kept alive. `start` and `end` are indices that only grow: the event at
    index i stands there for good. Not thread-safe; never awaits.
    """

    __slots__ = (
        "_events", "_options", "_times", "bytes", "capacity", "end", "floor", "history", "resizes",
        "start",
    )  # fmt: skip

    def __init__(self, options: CacheOptions, floor: int = 0) -> None:
        self._options = options
        self._events: deque[Version] = deque()
        self._times: deque[float] = deque()  # monotonic, when each was appended
        self.capacity = options.ring_minimum
        self.start = 0
        self.end = 0
        self.floor = floor  # the lowest revision after which no event is missing
        self.bytes = 0  # of the bodies of its events
        self.resizes = 0
        self.history: deque[Resize] = deque(maxlen=_RESIZES)  # the newest of these

    def __len__(self) -> int:
        return len(self._events)

    def append(self, event: Version, now: float) -> list[Version]:
        """Take the newest event; returns those that had to leave, oldest first."""
        evicted: list[Version] = []
        if len(self._events) >= self.capacity:
            self._resize(now, event.received_at)
            while len(self._events) >= self.capacity:
                evicted.append(self._evict())
        self._events.append(event)
        self._times.append(now)
        self.end += 1
        self.bytes += len(event.encoded.body)
        while self.bytes > self._options.ring_bytes and len(self._events) > 1:
            evicted.append(self._evict())
        return evicted

    def clear(self) -> list[Version]:
        """Let all events go, as if they were too old; returns them, oldest first."""
        return [self._evict() for _ in range(len(self._events))]

    def after(self, revision: int) -> list[Version]:
        """The events above a revision, oldest first; only for revisions from `floor` on."""
        offset = self._offset(revision)
        count = len(self._events) - offset
        if count < offset:  # a deque is walked from its nearer end
            newest_first = list(islice(reversed(self._events), count))
            newest_first.reverse()
            return newest_first
        return list(islice(self._events, offset, None))

    def count_after(self, revision: int) -> int:
        """How many events lie above a revision."""
        return len(self._events) - self._offset(revision)

    def state_revision(self, revision: int) -> int:
        """The lowest revision with the same state: that of the newest event not above, or floor."""
        offset = self._offset(revision)
        return self._events[offset - 1].revision if offset else self.floor

    def find(self, revision: int) -> Version | None:
        """The event that has this revision, if it is here."""
        offset = self._offset(revision - 1)
        if offset < len(self._events) and self._events[offset].revision == revision:
            return self._events[offset]
        return None

    def slots(self, first: int, last: int) -> list[tuple[int, Version, float]]:
        """Index, event and monotonic time of arrival, for the indices first <= i < last."""
        first, last = max(first, self.start), min(last, self.end)
        low, high = first - self.start, max(last - self.start, first - self.start)
        events = islice(self._events, low, high)
        times = islice(self._times, low, high)
        return list(zip(range(first, last), events, times, strict=False))

    def since(self, time: float) -> int:
        """How many events arrived after a monotonic time."""
        return len(self._times) - bisect_right(self._times, time)

    @property
    def oldest(self) -> Version | None:
        """The event that leaves next."""
        return self._events[0] if self._events else None

    @property
    def newest(self) -> Version | None:
        """The event that came last."""
        return self._events[-1] if self._events else None

    def _offset(self, revision: int) -> int:
        # Most ask for what came last, and a deque is slow in its middle.
        if not self._events or self._events[-1].revision <= revision:
            return len(self._events)
        return bisect_right(self._events, revision, key=_revision)

    def _evict(self) -> Version:
        event = self._events.popleft()
        self._times.popleft()
        self.start += 1
        self.floor = event.revision
        self.bytes -= len(event.encoded.body)
        event.previous = None
        return event

    def _resize(self, now: float, at: float) -> None:
        # The rule of kube-apiserver (pkg/storage/cacher/watch_cache.go): a full ring doubles while
        # its oldest event is younger than the window, and halves when its newest quarter spans it.
        options = self._options
        if now - self._times[0] < options.history_window:
            capacity = min(self.capacity * 2, options.ring_maximum)
        elif now - self._times[-max(self.capacity // 4, 1)] > options.history_window:
            capacity = max(self.capacity // 2, options.ring_minimum)
        else:
            return
        if capacity != self.capacity:
            self.history.append(Resize(at, self.capacity, capacity))
            self.capacity = capacity
            self.resizes += 1
