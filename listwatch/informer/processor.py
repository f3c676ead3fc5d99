"""All handlers of one informer: who hears of what, and when a resync is due.

Told by `delta_consumer`, passes on to each `listener`.
"""

from __future__ import annotations

import asyncio
import logging

from listwatch.informer.listener import Listener
from listwatch.informer.notifications import Notification
from listwatch.protocol.clock import Clock

logger = logging.getLogger(__name__)

LEAST_RESYNC_SECONDS = 1.0


class Processor:
    """The handlers. Distribution never waits, so a newcomer neither misses nor repeats anything."""

    def __init__(self, clock: Clock, default_resync: float) -> None:
        self._clock = clock
        self.default_resync = default_resync  # what handlers get that ask for nothing
        # How often it is looked who is due; the smallest of what was asked for before the start.
        self.check_seconds = default_resync
        self.listeners: list[Listener] = []
        self._started = False

    def add(self, listener: Listener) -> None:
        """Serve one more handler."""
        self._plan_resync(listener)
        self.listeners.append(listener)
        if self._started:
            listener.start()

    def remove(self, listener: Listener) -> None:
        """Serve it no more; nothing for one that is not served."""
        if listener in self.listeners:
            self.listeners.remove(listener)
            listener.removed = True
            listener.close()

    def start(self) -> None:
        """Begin to call."""
        self._started = True
        for listener in self.listeners:
            listener.start()

    async def stop(self, *, drain: bool) -> None:
        """Call no more, and wait for calls that run, but for one that asks for this itself."""
        listeners = list(self.listeners)
        for listener in listeners:
            listener.close(drain=drain)
        await asyncio.gather(*(listener.wait_ended() for listener in listeners))

    def distribute(self, notification: Notification, *, sync: bool, tick: bool) -> None:
        """Tell every handler; `sync`: nothing changed, `tick`: because a resync is due."""
        for listener in self.listeners:
            if sync and not (listener.due if tick else listener.wants_syncs):
                continue
            listener.notify(notification)

    async def room(self) -> None:
        """Wait for handlers that the informer shall wait for."""
        for listener in tuple(self.listeners):
            await listener.room()

    def is_calling(self) -> bool:
        """Whether this is asked from within a call of a handler."""
        return any(listener.is_calling for listener in self.listeners)

    def should_resync(self) -> bool:
        """Whether anybody is due now; marks who is."""
        now = self._clock.monotonic()
        for listener in self.listeners:
            listener.due = listener.resync_seconds > 0 and now >= listener.next_resync
            if listener.due:
                listener.next_resync = now + listener.resync_seconds
        return any(listener.due for listener in self.listeners)

    def upstream_synced(self) -> None:
        """The informer has its first list."""
        for listener in self.listeners:
            listener.tracker.look()

    def _plan_resync(self, listener: Listener) -> None:
        asked = listener.options.resync_seconds
        period = self.default_resync if asked is None else asked
        if 0 < period < LEAST_RESYNC_SECONDS:
            logger.warning("%s: resync raised to %g s", listener.name, LEAST_RESYNC_SECONDS)
            period = LEAST_RESYNC_SECONDS
        if period and not self.check_seconds:
            logger.warning("%s: no resync, as the informer does none", listener.name)
            period = 0.0
        elif 0 < period < self.check_seconds:
            if self._started:
                logger.warning("%s: resync raised to %g s", listener.name, self.check_seconds)
                period = self.check_seconds
            else:
                self.check_seconds = period
        listener.resync_seconds = period
        listener.next_resync = self._clock.monotonic() + period
