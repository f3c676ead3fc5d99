"""The composition root: the one place where store, feed, cache and registry meet.

Made when a server starts, and handed to every request in its scope as `listwatch.runtime`; there
is no global. `api`, `admin` and `dashboard` take from it what they need.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from django.db import connection

from listwatch.changefeed.doorbells import DataVersionDoorbell, Doorbell, NotifyDoorbell
from listwatch.changefeed.freshness import Freshness, QueryFreshness, SQLiteFreshness
from listwatch.changefeed.history import LogHistory
from listwatch.changefeed.pump import Pump, PumpStatistics
from listwatch.conf import Options
from listwatch.faults import Faults
from listwatch.protocol.clock import Clock, SystemClock
from listwatch.protocol.events import EndReason
from listwatch.registry.api_services.aggregator import Aggregator
from listwatch.registry.api_services.remotes import API_SERVICES
from listwatch.registry.backend import Backend
from listwatch.registry.custom_resources.definitions import Definitions
from listwatch.registry.custom_resources.lifecycle import Lifecycle
from listwatch.registry.custom_resources.resources_of import DEFINITIONS
from listwatch.registry.keeping import Keeper
from listwatch.registry.namespaces import NamespaceController
from listwatch.registry.registry import Registry
from listwatch.registry.resources import ResourceTable
from listwatch.schemas import warming
from listwatch.store.compaction import CompactionStatistics, Compactor
from listwatch.store.group_commit import CommitStatistics, GroupCommitter
from listwatch.store.readers import Readers
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.forgetting import forget_history
from listwatch.watchcache.observer import Observers
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.statistics import CacherStatistics

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RuntimeStatistics:
    """One look at everything that lives long."""

    started_at: float  # wall time
    head: int  # the newest revision that was seen committed
    applied: int  # the revision that all caches are at
    ready: bool  # lists and watches are served
    pump: PumpStatistics
    commits: CommitStatistics
    compaction: CompactionStatistics
    cachers: dict[str, CacherStatistics]  # by resource, as `deployments.apps`


# Seconds from the start to reading ahead: what is asked for first shall not wait for that.
_WARM_AFTER = 2.0


class Runtime:
    """All parts of one server process, started and stopped together.

    Promises that after `start` lists and watches are served, and that `stop` ends every watch by
    name, answers every write that was taken, and leaves nothing running. Everything but `call`
    belongs to the event loop that `start` ran in.
    """

    def __init__(self, options: Options, *, clock: Clock | None = None) -> None:
        self.options = options
        self.clock: Clock = clock or SystemClock()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ready = False
        self.started_at = 0.0
        self._warming: asyncio.TimerHandle | None = None
        self.resources = ResourceTable()
        self.observers = Observers()
        self.committer = GroupCommitter()
        self.readers = Readers()
        self.freshness: Freshness = _freshness(self.readers)
        self.caches = Caches(
            Progress(self.clock),
            history=LogHistory(self.readers, self.resources.stored),
            clock=self.clock,
            options=_cache_options(options),
            observer=self.observers,
        )
        self.pump = Pump(
            self.caches,
            self.readers,
            self.resources.stored,
            clock=self.clock,
            doorbells=_doorbells(self.freshness, self.clock),
            history_window=options.history_window,
            fill_bytes=options.ring_bytes,
        )
        self.compactor = Compactor(self.readers, options, clock=self.clock)
        backend = Backend(
            self.resources,
            self.caches,
            self.committer,
            self.readers,
            freshness=self.freshness.current,
            clock=self.clock,
            options=options,
        )
        self.registry = Registry(backend)
        self.namespaces = NamespaceController(self.registry, clock=self.clock)
        self.keeper = Keeper(self.registry, self.caches, clock=self.clock)
        self.definitions = Definitions(self.resources, self.caches)
        self.pump.follow(DEFINITIONS, self.definitions)
        self.lifecycle = Lifecycle(self.registry, self.definitions, clock=self.clock)
        self.aggregator = Aggregator(self.registry, self.caches, clock=self.clock)
        self.pump.follow(API_SERVICES, self.aggregator.remotes)
        self.faults: Faults | None = None
        if options.faults:
            self.faults = Faults(
                self.caches, self.clock, hold_pump=self.pump.hold, compact=self._compact
            )

    async def start(self, *, serving: bool = True) -> None:
        """Start every part; `serving` is False in a process that only reads and writes."""
        self.loop = asyncio.get_running_loop()
        self.started_at = self.clock.now()
        self.committer.start()
        self.readers.start()
        for resource in self.resources.served():
            self.caches.cacher(resource.storage)
        await self.pump.start()
        if serving:
            await self.registry.bootstrap()
            self.compactor.start()
            self.lifecycle.start()
            self.aggregator.start()
            if self.options.namespace_controller:
                self.namespaces.start()
                self.observers.add(self.keeper)
                self.keeper.start()
        self.ready = True
        if serving:
            self._warming = self.loop.call_later(_WARM_AFTER, warming.warm_in_background)

    async def stop(self) -> None:
        """End all watches, finish what was begun, and stop."""
        self.ready = False
        if self._warming is not None:
            self._warming.cancel()
        await self.namespaces.stop()
        self.observers.remove(self.keeper)
        await self.keeper.stop()
        await self.lifecycle.stop()
        await self.aggregator.stop()
        self.end_streams()
        await self.compactor.stop()
        await self.registry.close()
        await asyncio.to_thread(self.committer.stop)
        await self.pump.stop()
        await asyncio.to_thread(self.readers.stop)
        self.freshness.close()

    def end_streams(self) -> None:
        """End every watch by name, and those of other servers that pass through here."""
        if self.faults is not None:
            self.faults.lift_all()  # or what they hold would hold up the stop
        self.caches.end_watches(EndReason.SERVER_STOPPING)
        self.aggregator.end_streams()

    async def _compact(self) -> str:
        revision = self.caches.progress.applied
        await self.compactor.compact(revision)
        for cacher in self.caches.cachers().values():
            forget_history(cacher)
        return f"compacted up to revision {revision}"

    def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the runtime's loop, for synchronous code in another thread."""
        if self.loop is None:
            raise RuntimeError("the runtime has not been started")
        if threading.current_thread() is threading.main_thread() and self.loop.is_running():
            with contextlib.suppress(RuntimeError):
                if asyncio.get_running_loop() is self.loop:
                    coroutine.close()
                    raise AssertionError("call() would wait for itself: await instead")
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def statistics(self) -> RuntimeStatistics:
        """One look at every part."""
        return RuntimeStatistics(
            started_at=self.started_at,
            head=max(
                self.caches.progress.applied,
                self.committer.statistics().revision,
                self.freshness.seen,  # what another process wrote, and this one has not read
            ),
            applied=self.caches.progress.applied,
            ready=self.ready,
            pump=self.pump.statistics(),
            commits=self.committer.statistics(),
            compaction=self.compactor.statistics(),
            cachers={
                str(group_resource): cacher.statistics()
                for group_resource, cacher in self.caches.cachers().items()
            },
        )

    @classmethod
    @contextlib.contextmanager
    def offline(cls, options: Options) -> Iterator[Runtime]:
        """A runtime in a loop and thread of its own, for shells and commands beside a server."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="listwatch", daemon=True)
        thread.start()

        async def made() -> Runtime:
            runtime = cls(options)
            await runtime.start(serving=False)
            return runtime

        runtime = asyncio.run_coroutine_threadsafe(made(), loop).result()
        try:
            yield runtime
        finally:
            asyncio.run_coroutine_threadsafe(runtime.stop(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


def _cache_options(options: Options) -> CacheOptions:
    return CacheOptions(
        history_window=options.history_window,
        ring_minimum=options.ring_minimum,
        ring_maximum=options.ring_maximum,
        ring_bytes=options.ring_bytes,
        freshness_timeout=options.freshness_timeout,
        bookmark_period=options.bookmark_period,
        flush_interval=options.flush_interval,
        flush_interval_busy=options.flush_interval_busy,
        chunk_bytes=options.chunk_bytes,
        slow_reader_timeout=options.slow_reader_timeout,
    )


def _freshness(readers: Readers) -> Freshness:
    if connection.vendor == "sqlite":
        return SQLiteFreshness(Path(str(connection.settings_dict["NAME"])))
    return QueryFreshness(readers)


def _doorbells(freshness: Freshness, clock: Clock) -> list[Doorbell]:
    if isinstance(freshness, SQLiteFreshness):
        return [DataVersionDoorbell(freshness, clock)]
    return [NotifyDoorbell(_libpq_parameters(), clock)]


def _libpq_parameters() -> dict[str, Any]:  # Any: libpq's options
    # Django adds a cursor class and a context of its own, which only its connections need.
    parameters = dict(connection.get_connection_params())
    for name in ("cursor_factory", "context", "prepare_threshold", "server_side_binding"):
        parameters.pop(name, None)
    return parameters
