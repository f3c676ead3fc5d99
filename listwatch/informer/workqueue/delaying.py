"""Items that need work later; built on `queue`, used by `rate_limiting`."""

from __future__ import annotations

import heapq
import itertools

from listwatch.informer.workqueue.metrics import Item
from listwatch.informer.workqueue.queue import WorkQueue
from listwatch.protocol.clock import Clock, Timer


class DelayingQueue(WorkQueue[Item]):
    """A WorkQueue with `add_after`. An item waits for one time only: the earliest asked for.

    Items that are due at the same time come in the order in which they were asked for. A shut-down
    forgets what is not due.
    """

    def __init__(self, name: str = "", *, clock: Clock | None = None) -> None:
        super().__init__(name, clock=clock)
        self._due: dict[Item, float] = {}
        self._heap: list[tuple[float, int, Item]] = []  # with entries that `_due` overtook
        self._numbers = itertools.count()
        self._timer: Timer | None = None
        self._timer_at = 0.0

    def add_after(self, item: Item, seconds: float) -> None:
        """This needs work in so many seconds; now, if that is none."""
        if self.shutting_down:
            return
        self._times.retries += 1
        if seconds <= 0:
            self.add(item)
            return
        at = self.clock.monotonic() + seconds
        if item in self._due and self._due[item] <= at:
            return
        self._due[item] = at
        heapq.heappush(self._heap, (at, next(self._numbers), item))
        self._arm()

    def shut_down(self) -> None:
        """As of a WorkQueue; what is not due is forgotten."""
        self._forget_delayed()
        super().shut_down()

    async def shut_down_with_drain(self) -> None:
        """As of a WorkQueue; what is not due is forgotten."""
        self._forget_delayed()
        await super().shut_down_with_drain()

    def _delayed(self) -> int:
        return len(self._due)

    def _forget_delayed(self) -> None:
        self._due.clear()
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)  # overtaken by an earlier time, or handed out
        if not self._heap:
            return
        at = self._heap[0][0]
        if self._timer is not None:
            if self._timer_at <= at:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = self.clock.call_later(at - self.clock.monotonic(), self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self.clock.monotonic()
        while self._heap and self._heap[0][0] <= now:
            at, _, item = heapq.heappop(self._heap)
            if self._due.get(item) == at:
                del self._due[item]
                self.add(item)
        self._arm()
