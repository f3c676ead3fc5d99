"""The base of all work queues: no item twice in it, no item at two workers, no add forgotten.

`delaying` and `rate_limiting` build on it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic

from listwatch.informer.workqueue.metrics import Item, QueueTimes, WorkQueueStatistics
from listwatch.protocol.clock import Clock, SystemClock


class ShutDownError(Exception):
    """The queue was shut down, and nothing is left in it."""


class WorkQueue(Generic[Item]):
    """Items that need work, in the order in which they came. One event loop.

    An item that waits is not added again. One that is added while a worker has it comes back, at
    the end, when that worker is done: so a hot item starves no other. Whoever gets an item calls
    `done` in the end, whatever happened.
    """

    def __init__(self, name: str = "", *, clock: Clock | None = None) -> None:
        self.name = name
        self.clock = clock or SystemClock()
        self._order: deque[Item] = deque()
        self._dirty: set[Item] = set()  # needs work: waits, or came back while it is worked on
        self._processing: set[Item] = set()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._idle = asyncio.Event()
        self._idle.set()
        self._shutting_down = False
        self._aborted = asyncio.Event()
        self._times: QueueTimes[Item] = QueueTimes(self.clock)

    def add(self, item: Item) -> None:
        """This needs work; ignored once the queue is shutting down."""
        if self._shutting_down or item in self._dirty:
            return
        self._times.add(item)
        self._dirty.add(item)
        if item not in self._processing:
            self._append(item)

    async def get(self) -> Item:
        """The next item, which is this worker's until `done`; raises ShutDownError at the end."""
        while not self._order:
            if self._shutting_down and not self._may_return():
                raise ShutDownError(self.name)
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except BaseException:
                if waiter.done() and not waiter.cancelled():
                    self._wake_one()  # it was woken for an item that it will not take
                raise
            finally:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)
        item = self._order.popleft()
        self._dirty.discard(item)
        self._processing.add(item)
        self._times.get(item)
        return item

    def done(self, item: Item) -> None:
        """The worker is through with it; of an item that no worker has nothing is done."""
        if item not in self._processing:
            return
        self._processing.discard(item)
        self._times.done(item)
        if item in self._dirty:
            self._append(item)
        elif not self._processing and not self._order:
            self._idle.set()
        if self._shutting_down and not self._may_return():
            self._wake_all()

    def shut_down(self) -> None:
        """Take nothing more; what waits is still handed out. Ends a drain that goes on."""
        self._shutting_down = True
        self._aborted.set()
        self._wake_all()

    async def shut_down_with_drain(self) -> None:
        """Take nothing more, and wait until nothing waits and no worker has anything."""
        self._shutting_down = True
        self._wake_all()
        idle = asyncio.ensure_future(self._idle.wait())
        aborted = asyncio.ensure_future(self._aborted.wait())
        try:
            await asyncio.wait({idle, aborted}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            idle.cancel()
            aborted.cancel()

    @property
    def shutting_down(self) -> bool:
        """Whether it takes nothing more."""
        return self._shutting_down

    def __len__(self) -> int:
        """Items that wait; those at workers do not count."""
        return len(self._order)

    # For workers

    @contextmanager
    def handling(self, item: Item) -> Iterator[None]:
        """Work on an item that `get` gave; it is done at the end, whatever happened."""
        try:
            yield
        finally:
            self.done(item)

    def statistics(self) -> WorkQueueStatistics:
        """A record of now."""
        times = self._times
        unfinished, longest = times.unfinished()
        return WorkQueueStatistics(
            name=self.name,
            depth=len(self._order),
            adds=times.adds,
            retries=times.retries,
            delayed=self._delayed(),
            processing=len(self._processing),
            gets=times.gets,
            queue_latency_sum=times.latency_sum,
            queue_latency_max=times.latency_max,
            work_duration_sum=times.work_sum,
            work_duration_max=times.work_max,
            unfinished_work_seconds=unfinished,
            longest_running_processor_seconds=longest,
            shutting_down=self._shutting_down,
        )

    def _delayed(self) -> int:
        return 0

    def _may_return(self) -> bool:
        # An item that was added while it is worked on comes back: workers wait for it.
        return any(item in self._dirty for item in self._processing)

    def _append(self, item: Item) -> None:
        self._order.append(item)
        self._idle.clear()
        self._wake_one()

    def _wake_one(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _wake_all(self) -> None:
        while self._waiters:
            self._wake_one()
