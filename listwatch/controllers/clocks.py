"""A clock that runs faster than the one of the machine, so that tests need not wait for an hour.

Given to every controller by `manager`; their connections keep to real time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from listwatch.protocol.clock import Clock, SystemClock, Timer


class FastClock:
    """Begins at the present and passes `speed` times as fast."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._began = time.time()
        self._mark = time.monotonic()

    def now(self) -> float:
        """Seconds since 1970, ahead of everybody else's."""
        return self._began + (time.monotonic() - self._mark) * self._speed

    def monotonic(self) -> float:
        """Seconds that never go back, and go by faster."""
        return self._mark + (time.monotonic() - self._mark) * self._speed

    def process_time(self) -> float:
        """Seconds of CPU that this process has used: those are everybody's."""
        return time.process_time()

    async def sleep(self, seconds: float) -> None:
        """Wait for so many of this clock's seconds."""
        await asyncio.sleep(seconds / self._speed)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call back after so many of this clock's seconds."""
        return asyncio.get_running_loop().call_later(seconds / self._speed, callback)


def clock_of(speed: float) -> Clock:
    """The clock for a speed: at 1, the machine's."""
    return SystemClock() if speed == 1 else FastClock(speed)
