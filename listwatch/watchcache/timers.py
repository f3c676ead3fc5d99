"""Very many deadlines behind one timer of the clock.

`progress` waits with it, and every `watcher` is called by it for bookmarks and deadlines.
"""

from __future__ import annotations

import heapq
from math import ceil
from typing import Protocol

from listwatch.protocol.clock import Clock, Timer

_EARLY = 0.001  # a timer of the loop may ring this much before its time


class Due(Protocol):
    """Something that wants to be called at a time; told apart by identity."""

    def due(self, now: float) -> None:
        """The time has come; `now` is monotonic. Must not raise."""


class TimerWheel:
    """Calls whatever is due, at most `resolution` seconds late, never early.

    Adding and removing cost the same however many wait; what waits at the same tick is called
    together; the clock's timer runs only while something waits.
    """

    def __init__(self, clock: Clock, *, resolution: float = 0.1) -> None:
        self._clock = clock
        self._resolution = resolution
        self._ticks: dict[int, dict[Due, None]] = {}
        self._order: list[int] = []  # a heap of the ticks
        self._timer: Timer | None = None
        self._armed = 0

    def add(self, when: float, item: Due) -> int:
        """Call `item` at a monotonic time; returns the tick, with which it can be removed."""
        tick = ceil(when / self._resolution)
        waiting = self._ticks.get(tick)
        if waiting is None:
            self._ticks[tick] = {item: None}
            heapq.heappush(self._order, tick)
            if self._timer is None or tick < self._armed:
                self._arm()
        else:
            waiting[item] = None
        return tick

    def remove(self, tick: int, item: Due) -> None:
        """Take an item back; nothing happens if it was called already."""
        waiting = self._ticks.get(tick)
        if waiting is not None:
            waiting.pop(item, None)

    def __len__(self) -> int:
        return sum(len(waiting) for waiting in self._ticks.values())

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed = self._order[0]
        delay = self._armed * self._resolution - self._clock.monotonic()
        self._timer = self._clock.call_later(max(delay, 0.0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        now = self._clock.monotonic() + _EARLY
        ticks = []
        while self._order and self._order[0] * self._resolution <= now:
            ticks.append(heapq.heappop(self._order))
        for tick in ticks:
            for item in self._ticks.pop(tick):
                item.due(now)
        if self._order:
            self._arm()
