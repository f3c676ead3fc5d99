"""Time as an argument: nothing in the house reads the clock of the machine by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol


class Timer(Protocol):
    """A call that is due later and can still be taken back."""

    def cancel(self) -> None:
        """Take the call back; nothing happens if it was made already."""


class Clock(Protocol):
    """Wall time for people, monotonic time for intervals, and waiting."""

    def now(self) -> float:
        """Seconds since 1970, UTC: for timestamps that leave the process."""

    def monotonic(self) -> float:
        """Seconds that never go back: for ages and deadlines inside the process."""

    def process_time(self) -> float:
        """Seconds of CPU that this process has used: for how busy it is."""

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 gives other tasks a turn."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call back in the running event loop after so many seconds."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def process_time(self) -> float:
        """Seconds of CPU that this process has used."""
        return time.process_time()

    async def sleep(self, seconds: float) -> None:
        """Wait in the running event loop."""
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call back in the running event loop."""
        return asyncio.get_running_loop().call_later(seconds, callback)


def rfc3339(seconds: float) -> str:
    """Wall time as Kubernetes writes it: whole seconds, UTC, `Z` (rounded down, never ahead)."""
    return _rfc3339(int(seconds))


@lru_cache(maxsize=8)  # a server writes the same second many times
def _rfc3339(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_rfc3339(text: str) -> float:
    """Seconds since 1970 of a timestamp; raises ValueError if it is none."""
    return datetime.fromisoformat(text).timestamp()
