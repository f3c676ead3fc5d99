"""The reflector: keeps a queue equal to a server's state, by a list once and a watch ever after.

It asks through `list_watch`, tells `in_order_fifo` or `delta_fifo`, and never gives up. Semantics
are those of client-go's Reflector; where they differ, the reason stands beside it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import Protocol

from listwatch.informer.backoff import Backoff
from listwatch.informer.errors import (
    ApiError,
    ConnectionRefused,
    GoneError,
    InternalError,
    StreamSilentError,
    TooLargeResourceVersionError,
    TooManyRequestsError,
    TransportError,
    VeryShortWatchError,
)
from listwatch.informer.event_reader import EventReader, is_table
from listwatch.informer.failures import Following
from listwatch.informer.freshness import Freshness
from listwatch.informer.list_watch import ListerWatcher, ListQuery, WatchQuery, WatchStream
from listwatch.informer.objects import JSONObject, KeyFunction, object_key
from listwatch.informer.pager import PAGE_SIZE, Listed, list_all
from listwatch.informer.reflector_options import (
    Counts,
    InternalErrorRetry,
    ReflectorOptions,
    ReflectorStatistics,
)
from listwatch.informer.streaming_list import StreamingList, StreamingListError
from listwatch.informer.waiting import watchdog
from listwatch.protocol.clock import Clock, SystemClock

logger = logging.getLogger(__name__)

SHORT_SECONDS = 1.0  # a watch that ends sooner with nothing is the sign of a dying server
# Watches that end long before their time and said nothing, so many in a row: a server that should
# say 410, and does not. Upstream asks it for ever.
EMPTY_SECONDS, EMPTY_WATCHES = 10.0, 3
TURN_EVENTS = 256  # after so many events at a stretch, others get a turn

ErrorHandler = Callable[["Reflector", Exception], None]


class ReflectorStore(Protocol):
    """What a reflector tells: a delta queue, or any store. Calls do not await."""

    def add(self, subject: JSONObject) -> None: ...  # noqa: D102
    def update(self, subject: JSONObject) -> None: ...  # noqa: D102
    def delete(self, subject: JSONObject) -> None: ...  # noqa: D102
    def replace(self, subjects: list[JSONObject], resource_version: str) -> None: ...  # noqa: D102
    def resync(self) -> None: ...  # noqa: D102
    def bookmark(self, resource_version: str) -> None: ...  # noqa: D102
    async def room(self) -> None: ...  # noqa: D102


class Reflector:
    """One kind in one scope, followed for ever.

    Promises: the store hears of everything in the order of the server, or of a whole list after
    which it is equal again; every failure is waited out with growing, jittered delays; a silent
    connection is noticed. To stop it, cancel `run`.
    """

    def __init__(
        self,
        source: ListerWatcher,
        store: ReflectorStore,
        *,
        options: ReflectorOptions | None = None,
        name: str = "reflector",
        kind: str = "",
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self.source = source
        self.store = store
        self.options = options or ReflectorOptions()
        self.name = name
        self.kind = kind  # objects of another kind are refused; '': all are taken
        self.clock = clock or SystemClock()
        self.random = random or Random()  # noqa: S311 -- spreads load, guards nothing
        self.counts = Counts()
        self.freshness = Freshness(self.clock, self.options.idle_seconds)
        self.following = Following(name, self.clock)
        self.key: KeyFunction = object_key
        self.resync_seconds = 0.0
        self.should_resync: Callable[[], bool] | None = None
        self.on_error: ErrorHandler = log_error
        self.last_sync_resource_version = ""
        self.version_unavailable = False  # the server no longer knows what we know: ask for any
        self._fell_back = False  # the last streaming list was given up for a plain one
        self._paginated = False  # it pages even "0": it has no cache, so keep pages small
        # Whether the source says that it cannot stream lists; one that says nothing can.
        self._streaming = self.options.streaming_lists and getattr(
            source, "supports_streaming_lists", True
        )
        self._backoff = Backoff(self.options.backoff, self.clock, self.random)
        self._internal_errors = InternalErrorRetry(self.options.internal_error_seconds)
        self._empty = 0  # watches in a row that ended early, and said nothing
        self._hurried = 0  # watches in a row that the server closed within a second

    async def run(self) -> None:
        """List and watch, again and again, until cancelled."""
        while True:
            failure: Exception | None = None
            try:
                await self.list_and_watch()
            except Exception as error:  # noqa: BLE001 -- whatever it was, a reflector goes on
                failure = error
                self._tell(error)
            await self.pause(failure)

    async def list_and_watch(self) -> None:
        """One list and watches until another list is needed.

        Raises what kept the list or a watch request from being answered; what ends a stream later
        is only logged and counted, as upstream's.
        """
        stream: WatchStream | None = None
        if self._streaming:
            try:
                stream = await StreamingList(self).run()
            except StreamingListError as error:
                # Told once: a server that cannot do it will not learn it.
                level = logging.DEBUG if self._fell_back else logging.WARNING
                text = "%s: no streaming list, a plain one instead: %s"
                logger.log(level, text, self.name, error)
                self.counts.list_fallbacks += 1
            self._fell_back = stream is None
        if stream is None:
            await self._list()
        try:
            if self.resync_seconds <= 0:
                await self._watch(stream)
            else:
                await self._watch_and_resync(stream)
        finally:
            if stream is not None:
                await stream.close()  # also if the watch never came to its first step

    async def pause(self, error: Exception | None = None) -> None:
        """Wait one step of the back-off, and at least as long as the server asked for."""
        at_least = float(error.retry_after) if isinstance(error, ApiError) else 0.0
        delay = self._backoff.next(at_least)
        self.counts.backoffs += 1
        self.counts.backoff_seconds += delay
        await self.clock.sleep(delay)

    async def after_close(self, started: float) -> None:
        """What a stream that told something, and then ended, costs the next one: at first nothing.

        Upstream asks again at once for ever; a server that answers and closes is not spared so.
        """
        if self.clock.monotonic() - started >= SHORT_SECONDS:
            self._hurried = 0
            return
        self._hurried += 1
        if self._hurried > 1:
            await self.pause()

    def moved(self, version: str) -> None:
        """The store has heard of everything up to this resourceVersion."""
        if version:
            self.last_sync_resource_version = version

    def statistics(self) -> ReflectorStatistics:
        """A record of now."""
        state = self.following.state
        return ReflectorStatistics(state, self.last_sync_resource_version, **asdict(self.counts))

    # Plain list

    async def _list(self) -> None:
        version = "" if self.version_unavailable else self.last_sync_resource_version or "0"
        try:
            listed = await self._list_at(ListQuery(version, self._limit(version)))
        except (GoneError, TooLargeResourceVersionError):
            # Once more, at once, for whatever the server has.
            self.counts.expirations += 1
            self.version_unavailable = True
            listed = await self._list_at(ListQuery("", self._limit("")))
        if version == "0" and listed.pages > 1:
            self._paginated = True
        self.replace(listed.items, listed.resource_version)

    async def _list_at(self, query: ListQuery) -> Listed:
        listed = await list_all(self.source.list, query)
        if is_table(listed.api_version, listed.kind):
            raise ValueError("got a Table where a list of objects was asked for")
        return listed

    def _limit(self, version: str) -> int:
        if self.options.page_size:
            return self.options.page_size
        if self._paginated:
            return PAGE_SIZE
        # Without pages a cache may answer from that version on.
        return PAGE_SIZE if version in ("", "0") else 0

    def replace(self, items: list[JSONObject], version: str) -> None:
        """The store gets a whole list; only if it takes it, the version moves."""
        self.store.replace(items, version)
        self.version_unavailable = False
        self.last_sync_resource_version = version
        self.counts.lists += 1
        self.freshness.listed()
        self.following.succeeded()

    # Watch

    async def _watch(self, stream: WatchStream | None) -> None:
        while True:
            started = self.clock.monotonic()  # before the request: a proxy may hold headers back
            try:
                if stream is None and (stream := await self._open()) is None:
                    continue
                going_on = await self._follow(stream, started)
            finally:
                if stream is not None:
                    self.freshness.connected = False
                    await stream.close()
                    stream = None
            if not going_on:
                return
            await self.after_close(started)

    async def _open(self) -> WatchStream | None:
        """A stream, or None after a wait for the next try; raises what only a list can mend."""
        query = WatchQuery(
            self.last_sync_resource_version,
            self.options.watch_timeout(self.random),
            bookmarks=self.options.bookmarks,
        )
        try:
            async with watchdog(self.clock, self.options.idle_seconds):
                stream = await self.source.watch(query)
        except TimeoutError:
            self.counts.silences += 1
            await self.pause()
            return None
        except TooManyRequestsError as error:
            await self.throttled(error)
            return None
        except ConnectionRefused as error:
            await self.refused(error)
            return None
        except TransportError as error:
            # Nothing was answered, so nothing is known to be lost: no list, unlike upstream.
            self._tell(error)
            await self.pause(error)
            return None
        except GoneError:
            self.counts.expirations += 1
            raise
        self.connected()
        self.following.succeeded()
        return stream

    async def throttled(self, error: TooManyRequestsError) -> None:
        """The server wants to be asked later: wait, and tell nobody but those who look."""
        self.counts.throttlings += 1
        self.following.failed(error)
        await self.pause(error)

    async def refused(self, error: ConnectionRefused) -> None:
        """Nobody listens: the same."""
        self.counts.refused_connections += 1
        self.following.failed(error)
        await self.pause(error)

    def connected(self) -> None:
        """A stream is open."""
        self.counts.watches += 1
        self.freshness.connected = True
        self.freshness.heard()

    async def _follow(self, stream: WatchStream, started: float) -> bool:
        """Read a stream to its end; whether another watch may go on without a list."""
        ordered = self.last_sync_resource_version not in ("", "0")
        reader = EventReader(self, self.kind, ordered=ordered)
        try:
            await self._read(stream, reader)
            lived = self.clock.monotonic() - started
            self._empty = 0 if reader.accepted or lived >= EMPTY_SECONDS else self._empty + 1
            short = lived < SHORT_SECONDS and not reader.accepted
            if short or self._empty >= EMPTY_WATCHES:
                watches, self._empty = (1 if short else self._empty), 0
                raise VeryShortWatchError(self.name, watches)
        except TransportError as error:
            return self._after_cut(error, started, reader)
        except TooManyRequestsError as error:
            await self.throttled(error)
        except GoneError as error:
            self.counts.expirations += 1
            self.following.failed(error)
            logger.info("%s: watch closed: %s", self.name, error)
            return False
        except InternalError as error:
            logger.warning("%s: watch ended: %s", self.name, error)
            return self._internal_errors.should_retry(self.clock.monotonic())
        except (ApiError, VeryShortWatchError) as error:
            if isinstance(error, VeryShortWatchError):
                self.counts.short_watches += 1
            logger.warning("%s: watch ended: %s", self.name, error)
            return False
        return True

    def _after_cut(self, error: TransportError, started: float, reader: EventReader) -> bool:
        if isinstance(error, StreamSilentError):
            self.counts.silences += 1
        else:
            self.counts.cuts += 1
        logger.info("%s: watch cut: %s", self.name, error)
        short = self.clock.monotonic() - started < SHORT_SECONDS and not reader.accepted
        self.counts.short_watches += short
        return not short

    async def _read(self, stream: WatchStream, reader: EventReader) -> None:
        turn = 0
        try:
            async with watchdog(self.clock, self.options.idle_seconds) as dog:
                async for event in stream:
                    dog.heard()
                    reader.apply(event)
                    turn += 1
                    if turn % TURN_EVENTS == 0:
                        await asyncio.sleep(0)
                    await self.store.room()
                    dog.heard()
        except TimeoutError:
            seconds = self.options.idle_seconds
            raise StreamSilentError(f"nothing came for {seconds:g} seconds") from None

    # Resync

    async def _watch_and_resync(self, stream: WatchStream | None) -> None:
        watching = asyncio.create_task(self._watch(stream), name=f"{self.name} watch")
        ticking = asyncio.create_task(self._tick(), name=f"{self.name} resync")
        try:
            await asyncio.wait({watching, ticking}, return_when=asyncio.FIRST_COMPLETED)
            if ticking.done() and not ticking.cancelled():
                logger.warning("%s: resync failed: %s", self.name, ticking.exception())
                return
            await watching
        finally:
            for task in (watching, ticking):
                task.cancel()
            await asyncio.gather(watching, ticking, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            await self.clock.sleep(self.resync_seconds)
            if self.should_resync is None or self.should_resync():
                self.store.resync()

    def _tell(self, error: Exception) -> None:
        self.counts.errors += 1
        self.following.failed(error)
        try:
            self.on_error(self, error)
        except Exception:
            logger.exception("%s: the error handler failed", self.name)


def log_error(reflector: Reflector, error: Exception) -> None:
    """What is done with an error unless told otherwise: logged when it begins, not each time."""
    reflector.following.tell(error)
