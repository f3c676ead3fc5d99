"""When a lane's watchers are woken: at once when it is idle, together when it is busy.

`lanes` tells which lanes an event has touched; a flush wakes the watchers of one of them. What
flushes cost is the matter of `pace`.
"""

from __future__ import annotations

import asyncio

from listwatch.protocol.clock import Clock, Timer
from listwatch.watchcache.lane import Lane
from listwatch.watchcache.pace import Pace

_EARLY = 0.0001  # a timer of the loop may ring this much before its time
_ROUNDS = 4  # an interval: how often busy lanes are looked through, at most
_BURST = 4  # flushes that a lane may have on credit after a rest


class Flusher:
    """Flushes the lanes that were touched.

    A lane that was not flushed for `interval` seconds is flushed in the next turn of the loop, so
    that what is applied together is read together. A busier one waits until then; at most
    `interval` and a quarter. In a busy process a lane with many watchers, touched again and again,
    comes to wait for up to `busy_interval`. Lanes that wait share one timer.
    """

    def __init__(self, clock: Clock, interval: float, busy_interval: float) -> None:
        self._clock = clock
        self._interval = interval
        self._pace = Pace(clock, busy_interval)
        self._touched: list[Lane] = []
        self._waiting: list[Lane] = []
        self._soon: asyncio.Handle | None = None
        self._timer: Timer | None = None

    def touch(self, lane: Lane) -> None:
        """There is something new in a lane."""
        if lane.touched:
            return
        lane.touched = True
        self._touched.append(lane)
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._flush_idle)

    def _flush_idle(self) -> None:
        self._soon = None
        now = self._clock.monotonic()
        touched, self._touched = self._touched, []
        self._waiting += self._flush(touched, now, now + _EARLY)
        if self._waiting and self._timer is None:
            self._arm(now)

    def _flush_waiting(self) -> None:
        now = self._clock.monotonic()
        # Those that are nearly due go along, else each would need a round of its own.
        self._waiting = self._flush(self._waiting, now, now + self._interval / _ROUNDS)
        self._timer = None
        if self._waiting:
            self._arm(now)

    def _arm(self, now: float) -> None:
        due = min(lane.flush_due for lane in self._waiting) - now
        delay = max(due, self._interval / _ROUNDS) + _EARLY
        self._timer = self._clock.call_later(delay, self._flush_waiting)

    def _flush(self, lanes: list[Lane], now: float, before: float) -> list[Lane]:
        """Flush those that are due before then; returns the others."""
        others = []
        for lane in lanes:
            if lane.flush_due > before:
                others.append(lane)
                continue
            lane.touched = False
            lane.flush()
            # What it owes is paid off by the clock: who was not flushed for a while owes nothing.
            price = self._pace.price(len(lane.watchers), now)
            lane.flush_owed = max(lane.flush_owed, now - _BURST * price) + price
            lane.flush_due = max(now + self._interval, lane.flush_owed)
        return others
