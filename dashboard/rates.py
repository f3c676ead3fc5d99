"""Rates from counters that only grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock


class Rates:
    """How fast named counters grew between the last two readings. For one reader."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at: float | None = None
        self._counters: dict[str, int] = {}

    def read(self, counters: Mapping[str, int]) -> dict[str, float]:
        """Growth a second of each counter since the last reading; empty at the first."""
        now = self._clock.monotonic()
        before, self._at = self._at, now
        rates = {}
        if before is not None and now > before:
            for name, value in counters.items():
                grown = max(value - self._counters.get(name, value), 0)
                rates[name] = round(grown / (now - before), 2)
        self._counters = dict(counters)
        return rates
