"""Deadlines on an injected clock, and waiting for several things at once.

Used by `reflector` to notice silence, and by everyone who waits for caches to be synced.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Protocol

from listwatch.protocol.clock import Clock, SystemClock, Timer


class Watchdog:
    """Ends the block it guards when `heard` was not called for so many seconds."""

    def __init__(self, clock: Clock, seconds: float, deadline: asyncio.Timeout) -> None:
        self._clock = clock
        self._seconds = seconds
        self._deadline = deadline
        self._heard_at = clock.monotonic()
        self._timer: Timer | None = clock.call_later(seconds, self._look)

    def heard(self) -> None:
        """There was a sign of life."""
        self._heard_at = self._clock.monotonic()

    def stop(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        # One timer that looks now and then costs less than one set anew for every event.
        rest = self._heard_at + self._seconds - self._clock.monotonic()
        if rest > 0:
            self._timer = self._clock.call_later(rest, self._look)
        else:
            self._timer = None
            self._deadline.reschedule(asyncio.get_running_loop().time())


@asynccontextmanager
async def watchdog(clock: Clock, seconds: float) -> AsyncIterator[Watchdog]:
    """Guard a block; raises TimeoutError in it after so many seconds of silence."""
    async with asyncio.timeout(None) as deadline:
        dog = Watchdog(clock, seconds, deadline)
        try:
            yield dog
        finally:
            dog.stop()


class Syncing(Protocol):
    """What one can wait for: an informer, a registration of a handler, a factory."""

    @property
    def name(self) -> str:
        """For the message, if it takes too long."""

    @property
    def has_synced(self) -> bool:
        """Whether it is done."""

    async def wait_synced(self) -> None:
        """Return when it is done."""


class NotSyncedError(TimeoutError):
    """What had not synced in time; `names` are sorted."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted(names))
        super().__init__(f"not synced: {', '.join(self.names)}")


async def wait_for_cache_sync(
    *what: Syncing,
    within: float | None = None,
    clock: Clock | None = None,
) -> None:
    """Wait for all of them at once; raises NotSyncedError after `within` seconds.

    An informer that has synced says nothing on its handlers: pass their registrations, too.
    """
    clock = clock or SystemClock()
    tasks = [asyncio.ensure_future(each.wait_synced()) for each in what]
    if not tasks:
        return
    try:
        async with asyncio.timeout(None) as deadline:
            loop = asyncio.get_running_loop()
            timer = None
            if within is not None:
                timer = clock.call_later(within, lambda: deadline.reschedule(loop.time()))
            try:
                await asyncio.gather(*tasks)
            finally:
                if timer is not None:
                    timer.cancel()
    except TimeoutError:
        # One last look: what is done by now did not fail.
        late = [each.name for each in what if not each.has_synced]
        if late:
            raise NotSyncedError(late) from None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def deadline(clock: Clock, seconds: float) -> AsyncIterator[None]:
    """Guard a block; raises TimeoutError in it when so many seconds are over."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer = clock.call_later(seconds, lambda: limit.reschedule(loop.time()))
        try:
            yield
        finally:
            timer.cancel()
