"""A clock that is turned by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable


class FakeClock:
    """Time that stands still until `advance` is called; sleepers and timers wake in order.

    For tests only. `advance` is awaited, so that what wakes also runs before it returns.
    """

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self.used = 0.0  # seconds of CPU
        self._time = start
        self._numbers = itertools.count()
        self._due: list[tuple[float, int, _Timer]] = []

    def now(self) -> float:
        """Seconds since 1970."""
        return self._time

    def monotonic(self) -> float:
        """The same time, for intervals."""
        return self._time

    def process_time(self) -> float:
        """Seconds of CPU that `used` says."""
        return self.used

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been turned that far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.Event()
        timer = self.call_later(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            timer.cancel()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> _Timer:
        """Call back once the clock has been turned that far."""
        timer = _Timer(callback)
        heapq.heappush(self._due, (self._time + max(seconds, 0.0), next(self._numbers), timer))
        return timer

    def set(self, time: float) -> None:
        """Turn to a time without waking anyone; also backward."""
        self._time = time

    async def advance(self, seconds: float) -> None:
        """Turn forward, waking what is due on the way."""
        end = self._time + seconds
        await _settle()
        while self._due and self._due[0][0] <= end:
            self._time, _, timer = heapq.heappop(self._due)
            timer.fire()
            await _settle()
        self._time = end
        await _settle()


class _Timer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self._callback = None

    def fire(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


async def _settle() -> None:
    # What wakes may wake others in turn: give them all a few turns of the loop.
    for _ in range(10):
        await asyncio.sleep(0)
