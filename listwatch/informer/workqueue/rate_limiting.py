"""The queue of a controller: what fails comes back later, and later each time."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from listwatch.informer.workqueue.delaying import DelayingQueue
from listwatch.informer.workqueue.limiters import RateLimiter, default_limiter
from listwatch.informer.workqueue.metrics import Item
from listwatch.informer.workqueue.queue import ShutDownError
from listwatch.protocol.clock import Clock

logger = logging.getLogger(__name__)


class RateLimitingQueue(DelayingQueue[Item]):
    """A DelayingQueue with a limiter.

    A worker calls `forget` after a success, `add_rate_limited` after a failure, and `done` in any
    case; `work` does all three.
    """

    def __init__(
        self, name: str = "", *, limiter: RateLimiter | None = None, clock: Clock | None = None
    ) -> None:
        super().__init__(name, clock=clock)
        self._limiter = limiter or default_limiter(self.clock)

    def add_rate_limited(self, item: Item) -> None:
        """It failed: it needs work again, when the limiter says so."""
        self.add_after(item, self._limiter.when(item))

    def forget(self, item: Item) -> None:
        """It succeeded, or is given up: its next failure is its first. `done` is still needed."""
        self._limiter.forget(item)

    def num_requeues(self, item: Item) -> int:
        """Its failures in a row."""
        return self._limiter.num_requeues(item)

    @contextmanager
    def handling(self, item: Item) -> Iterator[None]:
        """Work on an item that `get` gave: forgotten after a success, back later after a failure.

        An exception is logged and goes no further. The item is done at the end in any case.
        """
        try:
            yield
        except Exception:
            logger.exception("%s: %r failed, and comes back", self.name, item)
            self.add_rate_limited(item)
        else:
            self.forget(item)
        finally:
            self.done(item)

    async def work(self, reconcile: Callable[[Item], Awaitable[None]]) -> None:
        """One worker: `reconcile` item after item, `handling` each, until the shut-down.

        Start as many of these as there shall be workers.
        """
        while True:
            try:
                item = await self.get()
            except ShutDownError:
                return
            with self.handling(item):
                await reconcile(item)
