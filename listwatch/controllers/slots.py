"""Requests under way at one time: work comes first, what nobody waits for takes what room is left.

Made by `environment`, taken by its clients around every request.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

from listwatch.protocol.clock import Clock, SystemClock

# Work and events, of all clients of a process. More would finish no sooner, and everybody else's
# requests would stand in line behind them.
IN_FLIGHT, EVENTS_IN_FLIGHT = 8, 2
PATIENCE = 0.1  # seconds an event stands back: some are told however much there is to do
PAUSE = 0.05  # seconds between two looks whether there is room: looking costs, too


class Aside(AbstractAsyncContextManager[None]):
    """Room for `width` requests, each of which first lets all the work go before, for a while."""

    def __init__(self, width: int, work: asyncio.Semaphore, clock: Clock | None = None) -> None:
        self._own = asyncio.Semaphore(width)
        self._work = work
        self._clock = clock or SystemClock()

    async def __aenter__(self) -> None:
        await self._own.acquire()
        try:
            end = self._clock.monotonic() + PATIENCE
            while self._work.locked() and self._clock.monotonic() < end:
                await self._clock.sleep(PAUSE)
        except BaseException:
            self._own.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._own.release()
