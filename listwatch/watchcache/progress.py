"""How far the caches have come: one number for all of them, and those who wait for it.

Advanced by `caches`, after a change is in its Cacher and its lanes; awaited by consistent reads.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools

from listwatch.protocol.clock import Clock
from listwatch.protocol.errors import too_large_resource_version
from listwatch.watchcache.timers import TimerWheel


class Progress:
    """The revision up to which every cache is complete.

    Promises that whoever waits is woken as soon as the revision is reached, and nobody else is.
    Only `caches` may advance it. Owned by one event loop.
    """

    def __init__(self, clock: Clock) -> None:
        self.applied = 0
        self._clock = clock
        self._wheel = TimerWheel(clock)
        self._numbers = itertools.count()
        self._waiters: list[tuple[int, int, _Waiter]] = []  # a heap: the lowest revision first
        self._gone = 0  # how many have given up since the heap was last cleared of them

    def advance(self, revision: int) -> None:
        """Everything up to this revision is applied."""
        if revision < self.applied:
            raise ValueError(f"progress cannot go back from {self.applied} to {revision}")
        self.applied = revision
        while self._waiters and self._waiters[0][0] <= revision:
            heapq.heappop(self._waiters)[2].wake()

    async def wait_until(self, revision: int, timeout: float) -> None:  # noqa: ASYNC109 (by our Clock)
        """Return once `revision` is applied; raises 504 if it was not after `timeout` seconds."""
        if revision <= self.applied:
            return
        waiter = _Waiter()
        heapq.heappush(self._waiters, (revision, next(self._numbers), waiter))
        tick = self._wheel.add(self._clock.monotonic() + timeout, waiter)
        try:
            await waiter.future
        finally:
            self._wheel.remove(tick, waiter)
            if revision > self.applied:
                self._forget()
        if revision > self.applied:
            raise too_large_resource_version(revision, self.applied)

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return sum(not waiter.future.done() for _, _, waiter in self._waiters)

    def _forget(self) -> None:
        # Those that gave up leave their place on the heap behind, until they are too many.
        self._gone += 1
        if self._gone > max(_FEW, len(self._waiters) // 2):
            self._waiters = [entry for entry in self._waiters if not entry[2].future.done()]
            heapq.heapify(self._waiters)
            self._gone = 0


_FEW = 64


class _Waiter:
    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake(self) -> None:
        if not self.future.done():
            self.future.set_result(None)

    def due(self, now: float) -> None:
        self.wake()
