"""A cache of one kind that everybody in a process shares, and the handlers that follow it.

Puts together `reflector`, a delta queue, `delta_consumer`, `indexer` and `processor`. Controllers
take it from a `factory`, and put keys into a `workqueue` from its handlers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from types import TracebackType
from typing import Literal, Self

from listwatch.informer.delta_consumer import DeltaConsumer
from listwatch.informer.delta_fifo import DeltaFIFO
from listwatch.informer.deltas import QueueClosedError, QueueStatistics
from listwatch.informer.failures import FollowState
from listwatch.informer.freshness import FreshnessRecord
from listwatch.informer.handlers import (
    HandlerFunctions,
    HandlerOptions,
    OnAdd,
    OnDelete,
    OnUpdate,
    ResourceEventHandler,
)
from listwatch.informer.in_order_fifo import InOrderFIFO
from listwatch.informer.indexer import Indexer, IndexerStatistics
from listwatch.informer.indices import NAMESPACE, IndexFunction, by_namespace
from listwatch.informer.list_watch import ListerWatcher
from listwatch.informer.listener import HandlerStatistics, Listener, Registration
from listwatch.informer.lister import Lister
from listwatch.informer.mutations import MutationDetector
from listwatch.informer.notifications import Added, Notification
from listwatch.informer.objects import Transform
from listwatch.informer.processor import Processor
from listwatch.informer.reflector import ErrorHandler, Reflector
from listwatch.informer.reflector_options import ReflectorOptions, ReflectorStatistics
from listwatch.informer.resources import APIResource
from listwatch.protocol.clock import Clock, SystemClock

logger = logging.getLogger(__name__)


class InformerStateError(RuntimeError):
    """A call that came too early, too late or once too often."""


@dataclass(frozen=True, slots=True)
class InformerOptions:
    """How an informer works. `queue` chooses the one in between; in order is the default."""

    name: str = ""
    resync_seconds: float = 0.0  # told again that often, to handlers that do not say otherwise
    queue: Literal["in_order", "delta"] = "in_order"
    indexers: Mapping[str, IndexFunction] = field(default_factory=dict)  # beside `namespace`
    check_mutations: bool = False  # for development: end with MutationError if a reader writes
    copies: bool = False  # the lister hands out copies, which may be changed
    reflector: ReflectorOptions = field(default_factory=ReflectorOptions)


@dataclass(frozen=True, slots=True)
class InformerStatistics:
    """An informer at one moment."""

    name: str
    started: bool
    stopped: bool
    synced: bool  # its first list is in the store
    freshness: FreshnessRecord
    reflector: ReflectorStatistics
    queue: QueueStatistics
    indexer: IndexerStatistics
    handlers: tuple[HandlerStatistics, ...]


class SharedIndexInformer:
    """Keeps a store equal to a server's state, and tells handlers of every change.

    Promises: the store is written before a handler is told; each handler hears of an object in
    order; no handler hurts another or the store; whatever happens to server or network, the store
    is equal again after it. Does not promise every state in between. One event loop; `indexer` and
    `lister` may be read from any thread. Lives once: new, started, stopped.
    """

    def __init__(
        self,
        source: ListerWatcher,
        *,
        resource: APIResource | None = None,
        options: InformerOptions | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self.options = options or InformerOptions()
        self.resource = resource
        self.name = self.options.name or str(resource or "informer")
        self.clock = clock or SystemClock()
        self.indexer = Indexer({NAMESPACE: by_namespace, **self.options.indexers})
        self.lister = Lister(self.indexer, resource, copies=self.options.copies)
        self._source = source
        self._random = random
        self._transform: Transform | None = None
        self._on_error: ErrorHandler | None = None
        self._processor = Processor(self.clock, self.options.resync_seconds)
        self._synced = asyncio.Event()
        self._queue = self._make_queue()
        self._reflector = self._make_reflector()
        self._consumer = DeltaConsumer(self.indexer, self._distribute)
        self._started = self._stopped = False
        self._task: asyncio.Task[None] | None = None
        self._drain = False

    # Before the start

    def set_transform(self, transform: Transform) -> None:
        """Change every object before it is stored and told, once each; only before the start."""
        self._refuse_if(self._started, "a transform is set before the start")
        self._transform = transform
        self._queue = self._make_queue()
        self._reflector = self._make_reflector()

    def set_error_handler(self, handler: ErrorHandler) -> None:
        """Who is told when list or watch was not answered; the last one set, before the start."""
        self._refuse_if(self._started, "an error handler is set before the start")
        self._on_error = handler
        self._reflector.on_error = handler

    def add_indexers(self, indexers: Mapping[str, IndexFunction]) -> None:
        """Add indexes, filled at once; not after the stop. Raises ValueError for a taken name."""
        self._refuse_if(self._stopped, "the informer has stopped")
        self.indexer.add_indexers(indexers)

    # Handlers

    def add_handler(
        self,
        handler: ResourceEventHandler | None = None,
        *,
        on_add: OnAdd | None = None,
        on_update: OnUpdate | None = None,
        on_delete: OnDelete | None = None,
        options: HandlerOptions | None = None,
    ) -> Registration:
        """Tell this handler of everything, what is stored already first, marked as initial.

        A handler object, or functions. Added twice it is told twice. Not after the stop.
        """
        functions = HandlerFunctions(on_add, on_update, on_delete)
        if (handler is None) == (functions == HandlerFunctions()):
            raise ValueError("give a handler, or functions")
        self._refuse_if(self._stopped, "was not added to informer because it has stopped already")
        listener = Listener(
            handler or functions, options or HandlerOptions(), self.clock, lambda: self.has_synced
        )
        self._processor.add(listener)
        # Nothing is awaited between these two: no event is told twice, and none is missed.
        for subject in self.indexer.list() if self._started else ():
            listener.notify(Added(self.indexer.key_of(subject), subject, initial=True))
        listener.tracker.look()
        return Registration(listener, self._remove_registration)

    def remove_handler(self, registration: Registration) -> None:
        """Tell it no more; nothing for one of another informer, or removed before."""
        if not isinstance(registration, Registration):
            raise TypeError(f"not a registration: {registration!r}")
        self._remove_registration(registration)

    # Life

    async def run(self) -> None:
        """Work until cancelled or stopped; returns when no handler runs any more."""
        if self._started:
            logger.warning("%s: was started before; an informer runs once", self.name)
            return
        self._started = True
        self._reflector.resync_seconds = self._processor.check_seconds
        reflecting = asyncio.create_task(self._reflector.run(), name=f"reflector {self.name}")
        consuming = asyncio.create_task(self._consume(), name=f"consumer {self.name}")
        parts = [reflecting, consuming]
        if self.options.check_mutations:
            checking = MutationDetector(self.indexer).run(self.clock)
            parts.append(asyncio.create_task(checking, name=f"mutations {self.name}"))
        self._processor.start()
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
            for task in parts:
                if task.done() and not task.cancelled():
                    if task.exception() is not None:
                        logger.critical("%s: ends: %r", self.name, task.exception())
                    task.result()
        finally:
            self._stopped = True
            self._queue.close()
            for task in parts:
                if task is not consuming or not self._drain:
                    task.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
            await self._processor.stop(drain=self._drain)

    def start(self) -> None:
        """Work in a task of its own; once."""
        self._refuse_if(self._stopped, "the informer has stopped")
        if self._task is None:
            self._task = asyncio.create_task(self.run(), name=f"informer {self.name}")

    async def stop(self, *, drain: bool = False) -> None:
        """Stop, and wait for it; `drain` tells what is queued first. Also from a handler."""
        self._drain = drain
        self._stopped = True
        if self._task is None:
            await self._processor.stop(drain=False)
            return
        self._queue.close()
        self._task.cancel()
        if not self._processor.is_calling():
            await asyncio.gather(self._task, return_exceptions=True)
            if not self._started:  # stopped before its first step
                await self._processor.stop(drain=False)

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    # State

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the store; says nothing on handlers."""
        return self._synced.is_set()

    async def wait_synced(self) -> None:
        """Return when it is."""
        await self._synced.wait()

    @property
    def started(self) -> bool:
        """Whether it was started; stays true."""
        return self._started

    @property
    def starting(self) -> bool:
        """Whether `start` was called."""
        return self._task is not None

    @property
    def stopped(self) -> bool:
        """Whether it was stopped."""
        return self._stopped

    @property
    def last_sync_resource_version(self) -> str:
        """Up to where the server was heard; the store's own is `indexer.resource_version`."""
        return self._reflector.last_sync_resource_version

    @property
    def freshness(self) -> FreshnessRecord:
        """How old the store may be."""
        return self._reflector.freshness.record()

    @property
    def state(self) -> FollowState:
        """Whether the store follows the server, and if not, why: `kind not served`, for one."""
        return self._reflector.following.state

    @property
    def is_live(self) -> bool:
        """Whether the store follows the server now: synced, connected and heard lately."""
        return self.has_synced and self._reflector.freshness.live

    @property
    def last_event_at(self) -> float | None:
        """When an object last changed, in seconds since 1970."""
        return self._reflector.freshness.last_event_at

    @property
    def last_bookmark_at(self) -> float | None:
        """When the server last said that nothing else had changed."""
        return self._reflector.freshness.last_bookmark_at

    def statistics(self) -> InformerStatistics:
        """A record of now."""
        return InformerStatistics(
            self.name,
            self._started,
            self._stopped,
            self.has_synced,
            self.freshness,
            self._reflector.statistics(),
            self._queue.statistics(),
            self.indexer.statistics(),
            tuple(listener.statistics() for listener in self._processor.listeners),
        )

    # Parts

    def _make_queue(self) -> InOrderFIFO | DeltaFIFO:
        if self.options.queue == "delta":
            return DeltaFIFO(self.indexer, transform=self._transform)
        return InOrderFIFO(transform=self._transform)

    def _make_reflector(self) -> Reflector:
        reflector = Reflector(
            self._source,
            self._queue,
            options=self.options.reflector,
            name=self.name,
            kind=self.resource.kind if self.resource else "",
            clock=self.clock,
            random=self._random,
        )
        if self._on_error is not None:
            reflector.on_error = self._on_error
        reflector.should_resync = self._processor.should_resync
        self._queue.on_synced = self._mark_synced
        return reflector

    async def _consume(self) -> None:
        while True:
            await self._processor.room()
            try:
                if isinstance(self._queue, InOrderFIFO):
                    await self._queue.pop_batch(self._consumer.process_batch)
                else:
                    await self._queue.pop(self._consumer.process)
            except QueueClosedError:
                return
            await asyncio.sleep(0)  # popping does not wait while something is queued

    def _mark_synced(self) -> None:
        self._synced.set()
        self._processor.upstream_synced()

    def _distribute(self, notification: Notification, sync: bool, tick: bool) -> None:
        self._processor.distribute(notification, sync=sync, tick=tick)

    def _remove_registration(self, registration: Registration) -> None:
        self._processor.remove(registration.listener)

    def _refuse_if(self, wrong: bool, why: str) -> None:
        if wrong:
            raise InformerStateError(f"{self.name}: {why}")
