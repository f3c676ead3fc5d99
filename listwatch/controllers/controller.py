"""What all controllers are: a queue of keys, workers, and one look at one key at a time.

A controller adds handlers to informers, which put keys into `queue`; `reconcile` makes the world
as the object of a key wants it. `manager` starts and stops them.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from listwatch.controllers.unseen_writes import UnseenWrites
from listwatch.informer import RateLimitingQueue, object_key, wait_for_cache_sync
from listwatch.informer.errors import ApiError, TransportError
from listwatch.informer.workqueue import (
    ExponentialLimiter,
    MaxWaitLimiter,
    ShutDownError,
    WorkQueueStatistics,
)

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.controllers.events import EventRecorder
    from listwatch.informer import APIResource, Deleted, Scope, SharedIndexInformer
    from listwatch.protocol.objects import JSONObject

logger = logging.getLogger(__name__)

RETRY_CAP = 60.0  # seconds between two tries at what fails again and again
RECHECK = 0.25  # seconds until a look at a key whose writes the caches did not show


@dataclass(frozen=True, slots=True)
class ControllerStatistics:
    """A controller at one moment; counts since it was made."""

    name: str
    running: bool
    reconciled: int  # looks that succeeded
    conflicts: int  # looks that were overtaken by another write, and came back
    errors: int  # looks that failed otherwise, and came back
    waits: int  # looks put off until the caches showed what was written before
    queue: WorkQueueStatistics


class Controller:
    """Subclasses add handlers when made, and implement `reconcile`. One event loop.

    `reconcile` is level-driven: it looks at the caches, never at what happened; a key is never
    worked on twice at once, and comes back later after an exception.
    """

    name: ClassVar[str]
    component: ClassVar[str] = ""  # who the events are from; '' for the name
    workers: ClassVar[int] = 5

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.client = environment.client
        self.clock = environment.clock
        self.unseen = UnseenWrites(environment.clock)
        limiter = MaxWaitLimiter(ExponentialLimiter(0.01), RETRY_CAP)
        self.queue: RateLimitingQueue[str] = RateLimitingQueue(
            self.name, limiter=limiter, clock=environment.clock
        )
        self._informers: list[SharedIndexInformer] = []
        self._reconciled = self._conflicts = self._errors = self._waits = 0
        self._running = False

    # For subclasses

    async def reconcile(self, key: str) -> None:
        """Make the world as the object of this key wants it; raise to come back later."""
        raise NotImplementedError

    async def prepare(self) -> None:
        """Called once, when the caches are filled and before the first look."""

    def background(self) -> list[asyncio.Task[None]]:
        """Start what runs beside the workers; cancelled with them."""
        return []

    @property
    def events(self) -> EventRecorder:
        """Where to tell what was done."""
        return self.environment.recorder(self.component or self.name)

    def informer(self, resource: APIResource, scope: Scope | None = None) -> SharedIndexInformer:
        """A shared informer that is waited for before the first look."""
        informer = self.environment.informer(resource, scope=scope)
        if informer not in self._informers:
            self._informers.append(informer)
        return informer

    def enqueue(self, subject: JSONObject, _: object = None) -> None:
        """This object needs a look; may be used as `on_add`."""
        self.queue.add(object_key(subject))

    def enqueue_new(self, _: JSONObject, new: JSONObject) -> None:
        """The same, as `on_update`."""
        self.queue.add(object_key(new))

    def enqueue_deleted(self, gone: Deleted) -> None:
        """The same, as `on_delete`."""
        self.queue.add(gone.key)

    def follow(self, informer: SharedIndexInformer) -> None:
        """Every change of an object is a reason to look at it."""
        informer.add_handler(
            on_add=self.enqueue, on_update=self.enqueue_new, on_delete=self.enqueue_deleted
        )

    # Life

    async def run(self) -> None:
        """Wait for the caches, then work until cancelled."""
        await wait_for_cache_sync(*self._informers)
        await self.prepare()
        self._running = True
        tasks = [asyncio.create_task(self._work(), name=self.name) for _ in range(self.workers)]
        tasks += self.background()
        try:
            await asyncio.gather(*tasks)
        finally:
            self._running = False
            self.queue.shut_down()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def statistics(self) -> ControllerStatistics:
        """A record of now."""
        return ControllerStatistics(
            self.name, self._running, self._reconciled, self._conflicts, self._errors,
            self._waits, self.queue.statistics(),
        )  # fmt: skip

    async def _work(self) -> None:
        while True:
            try:
                key = await self.queue.get()
            except ShutDownError:
                return
            try:
                await self._look(key)
            finally:
                self.queue.done(key)

    async def _look(self, key: str) -> None:
        if not self.unseen.seen(key):
            self._waits += 1
            self.queue.add_after(key, RECHECK)
            return
        try:
            await self.reconcile(key)
        except ApiError as error:
            if error.code in (404, 409):
                self._conflicts += 1
                logger.debug("%s: %s was overtaken: %s", self.name, key, error)
            else:
                # What is refused is told in events as well; what goes wrong in a server is not.
                self._errors += 1
                level = logging.WARNING if error.code >= 500 else logging.INFO
                logger.log(level, "%s: %s failed, and comes back: %s", self.name, key, error)
            self.queue.add_rate_limited(key)
        except TransportError as error:
            self._errors += 1
            logger.info("%s: %s was not answered, and comes back: %s", self.name, key, error)
            self.queue.add_rate_limited(key)
        except Exception:
            self._errors += 1
            logger.exception("%s: %s failed, and comes back", self.name, key)
            self.queue.add_rate_limited(key)
        else:
            self._reconciled += 1
            self.queue.forget(key)
