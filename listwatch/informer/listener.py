"""One handler with its queue and its task: slow or failing, it is nobody's trouble but its own.

Filled by `processor`; users hold its `Registration`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from listwatch.informer.handlers import HandlerOptions, ResourceEventHandler
from listwatch.informer.notifications import Added, Notification, Removed, Updated, coalesced
from listwatch.informer.sync_tracker import SyncTracker
from listwatch.protocol.clock import Clock

logger = logging.getLogger(__name__)

TURN_CALLS = 64  # after so many calls at a stretch, others get a turn


@dataclass(frozen=True, slots=True)
class HandlerStatistics:
    """A handler at one moment; counts since it was added."""

    name: str
    pending: int  # notifications that wait
    peak: int  # the most that ever waited
    delivered: int  # calls that returned or raised
    errors: int  # calls that raised
    coalesced: int  # notifications that went into another
    dropped: int  # that waited when the handler was removed or the informer stopped
    synced: bool  # has heard of all of the first list
    last_seconds: float  # of the last call


class Listener:
    """Calls one handler, one call at a time, in the order of notification."""

    def __init__(
        self,
        handler: ResourceEventHandler,
        options: HandlerOptions,
        clock: Clock,
        upstream_synced: Callable[[], bool],
    ) -> None:
        self.handler = handler
        self.options = options
        self.name = options.name or _name_of(handler)
        self.tracker = SyncTracker(upstream_synced)
        self.resync_seconds = 0.0  # 0: never; set by the processor
        self.next_resync = 0.0
        self.due = False  # hears of the resync that is going on
        self.removed = False
        self._clock = clock
        self._coalesces = options.policy == "coalesce"
        self._pending: deque[_Cell] = deque()
        self._newest: dict[str, _Cell] = {}  # the last that waits for each key, if coalescing
        self._arrived = asyncio.Event()
        self._shorter = asyncio.Event()
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._delivered = self._errors = self._coalesced = self._dropped = self._peak = 0
        self._last_seconds = 0.0

    @property
    def pending(self) -> int:
        """Notifications that wait."""
        return len(self._pending)

    @property
    def wants_syncs(self) -> bool:
        """Whether it asked to hear of objects that did not change."""
        return self.resync_seconds > 0

    def notify(self, notification: Notification) -> None:
        """Queue a notification; never waits."""
        if self._closing:
            return
        if isinstance(notification, Added) and notification.initial:
            self.tracker.start()
        pending, cell = self._pending, _Cell(notification)
        if self._coalesces:
            if self._merge(notification):
                return
            self._newest[notification.key] = cell
        pending.append(cell)
        if len(pending) > self._peak:
            self._peak = len(pending)
        if not self._arrived.is_set():
            self._arrived.set()

    async def room(self) -> None:
        """Wait until a blocking handler has caught up; return at once for any other."""
        while (
            self.options.policy == "block"
            and len(self._pending) >= self.options.limit
            and not self._closing
        ):
            self._shorter.clear()
            await self._shorter.wait()

    def start(self) -> None:
        """Begin to call; once."""
        if self._task is None and not self._closing:
            self._task = asyncio.create_task(self._run(), name=f"handler {self.name}")

    def close(self, *, drain: bool = False) -> None:
        """Call no more: what waits is dropped, or told first with `drain`; a running call ends."""
        self._closing = True
        if not drain or self._task is None:
            self._dropped += len(self._pending)
            self._pending.clear()
        self._arrived.set()
        self._shorter.set()
        if self._task is None:
            self._ended.set()

    @property
    def is_calling(self) -> bool:
        """Whether this is asked from within a call of its handler."""
        return self._task is not None and asyncio.current_task() is self._task

    async def wait_ended(self) -> None:
        """Wait until the last call has returned; returns at once within a call of its own."""
        if self._task is None or self.is_calling:
            return
        await self._ended.wait()

    def statistics(self) -> HandlerStatistics:
        """A record of now."""
        return HandlerStatistics(
            self.name, len(self._pending), self._peak, self._delivered, self._errors,
            self._coalesced, self._dropped, self.tracker.has_synced, self._last_seconds,
        )  # fmt: skip

    def _merge(self, new: Notification) -> bool:
        cell = self._newest.get(new.key)
        if cell is None or cell.notification is None:
            return False
        merged = coalesced(cell.notification, new)
        if len(merged) == 2:
            return False
        # One that came to nothing stays as an empty cell: taking it out would search the queue.
        cell.notification = merged[0] if merged else None
        self._coalesced += 1
        return True

    def _next(self) -> Notification | None:
        cell = self._pending.popleft()
        if not self._coalesces:
            return cell.notification
        found, cell.notification = cell.notification, None
        if found is not None and self._newest.get(found.key) is cell:
            del self._newest[found.key]
        return found

    async def _run(self) -> None:
        blocks = self.options.policy == "block"
        try:
            turn = 0
            while True:
                while self._pending:
                    notification = self._next()
                    if notification is not None:
                        going_on = self._tell(notification)
                        if going_on is not None:
                            await going_on
                    if blocks and len(self._pending) < self.options.limit:
                        self._shorter.set()
                    turn += 1
                    if turn % TURN_CALLS == 0:
                        await asyncio.sleep(0)
                if self._closing:
                    return
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            self._closing = True
            self._ended.set()

    def _tell(self, notification: Notification) -> Awaitable[None] | None:
        """Call; what is left to wait for, None after a plain handler, which most are."""
        started = self._clock.monotonic()
        try:
            match notification:
                case Updated(_, old, new):
                    result = self.handler.on_update(old, new)
                case Added(_, subject, initial):
                    result = self.handler.on_add(subject, initial)
                case Removed(_, gone):
                    result = self.handler.on_delete(gone)
        except Exception as error:  # noqa: BLE001 -- logged there
            return self._failed(notification, started, error)
        if result is not None and inspect.isawaitable(result):
            return self._wait(notification, started, result)
        self._told(notification, started)
        return None

    async def _wait(
        self, notification: Notification, started: float, result: Awaitable[None]
    ) -> None:
        try:
            await result
        except Exception as error:  # noqa: BLE001 -- logged there
            await self._failed(notification, started, error)
        except BaseException:
            self._told(notification, started)
            raise
        else:
            self._told(notification, started)

    async def _failed(self, notification: Notification, started: float, error: Exception) -> None:
        # A handler that fails has still been told.
        self._errors += 1
        logger.error("Handler %s failed on %s", self.name, notification.key, exc_info=error)
        self._told(notification, started)
        if self.options.error_pause:
            await self._clock.sleep(self.options.error_pause)

    def _told(self, notification: Notification, started: float) -> None:
        self._delivered += 1
        self._last_seconds = self._clock.monotonic() - started
        if isinstance(notification, Added) and notification.initial:
            self.tracker.finish()


class _Cell:
    """A place in the queue, whose content may still change."""

    __slots__ = ("notification",)

    def __init__(self, notification: Notification | None) -> None:
        self.notification = notification


class Registration:
    """A handler's place at an informer: what `add_handler` returns."""

    def __init__(self, listener: Listener, remove: Callable[[Registration], None]) -> None:
        self.listener = listener  # for the informer
        self._remove = remove

    @property
    def name(self) -> str:
        """The handler's name, in logs and statistics."""
        return self.listener.name

    @property
    def has_synced(self) -> bool:
        """Whether the handler has been told of all that was there when it was added.

        A call that raised counts as told. Once true it stays so.
        """
        return self.listener.tracker.has_synced

    async def wait_synced(self) -> None:
        """Return when it has."""
        await self.listener.tracker.wait()

    @property
    def pending(self) -> int:
        """Notifications that wait for the handler."""
        return self.listener.pending

    @property
    def active(self) -> bool:
        """Whether it was not removed."""
        return not self.listener.removed

    async def remove(self, *, wait: bool = False) -> None:
        """Call the handler no more; may be called again, and from the handler itself.

        A running call goes on, what waits is dropped. `wait` returns when that call has ended.
        """
        self.remove_now()
        if wait:
            await self.listener.wait_ended()

    def remove_now(self) -> None:
        """The same, without waiting."""
        self._remove(self)

    def statistics(self) -> HandlerStatistics:
        """A record of now."""
        return self.listener.statistics()


def _name_of(handler: ResourceEventHandler) -> str:
    for function in (getattr(handler, name, None) for name in ("add", "update", "delete")):
        name = getattr(function, "__qualname__", "")
        if name:
            return str(name)
    return type(handler).__qualname__
