"""The state of a server by a watch that begins with it (upstream: WatchList).

Done by `reflector` in place of a list; the same stream then goes on as its watch.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from listwatch.informer.errors import (
    ApiError,
    ConnectionRefused,
    GoneError,
    StreamCutError,
    StreamSilentError,
    TooLargeResourceVersionError,
    TooManyRequestsError,
    TransportError,
)
from listwatch.informer.event_reader import EventReader, ends_initial_events
from listwatch.informer.list_watch import WatchQuery, WatchStream
from listwatch.informer.objects import JSONObject, resource_version
from listwatch.informer.waiting import watchdog
from listwatch.protocol.clock import Timer
from listwatch.protocol.events import EventType

if TYPE_CHECKING:
    from listwatch.informer.reflector import Reflector

logger = logging.getLogger(__name__)

WARN_SECONDS = 10.0
SHORT_SECONDS = 1.0
TURN_EVENTS = 256


class StreamingListError(Exception):
    """The state cannot be had this way now; `__cause__` is why."""


class StreamingList:
    """One state, by as many attempts as it takes.

    Objects are gathered apart: the store sees a whole state or none. Transforms run when they go
    into the queue, once, where upstream runs them twice.
    """

    def __init__(self, reflector: Reflector) -> None:
        self._reflector = reflector
        self._objects: dict[str, JSONObject] = {}
        self._last_heard: float | None = None
        self._started = 0.0

    async def run(self) -> WatchStream:
        """The open stream, when the store has the state; raises StreamingListError to fall back."""
        reflector = self._reflector
        while True:
            self._started = reflector.clock.monotonic()
            version = "" if reflector.version_unavailable else reflector.last_sync_resource_version
            try:
                stream = await self._attempt(version)
                if stream is not None:
                    return stream
                await reflector.after_close(self._started)
            except TooManyRequestsError as error:
                await reflector.throttled(error)
            except ConnectionRefused as error:
                await reflector.refused(error)
            except (GoneError, TooLargeResourceVersionError) as error:
                reflector.counts.expirations += 1
                if not version:
                    raise StreamingListError(str(error)) from error  # "any" cannot be too old
                reflector.version_unavailable = True
            except (ApiError, TransportError) as error:
                raise StreamingListError(str(error)) from error

    async def _attempt(self, version: str) -> WatchStream | None:
        """The stream behind a state that the store has; None if it ended and may be asked again."""
        reflector = self._reflector
        query = WatchQuery(
            version, reflector.options.watch_timeout(reflector.random), initial_events=True
        )
        stream: WatchStream | None = None
        complete, kept = "", False
        self._objects, self._last_heard = {}, None
        warning = _Warning(self)
        seconds = reflector.options.initial_idle_seconds
        reader = EventReader(reflector, reflector.kind, ordered=False)
        try:
            async with watchdog(reflector.clock, seconds) as dog:
                stream = await reflector.source.watch(query)
                reflector.connected()
                turn = 0
                async for event in stream:
                    dog.heard()
                    reflector.freshness.heard()
                    self._last_heard = reflector.clock.monotonic()
                    subject = reader.checked(event)
                    if subject is not None:
                        reader.accepted += 1
                        if self._gather(event.type, subject):
                            complete = resource_version(subject)
                            break
                    turn += 1
                    if turn % TURN_EVENTS == 0:
                        await asyncio.sleep(0)
            if complete:
                reflector.replace(list(self._objects.values()), complete)
                reflector.counts.streaming_lists += 1
                kept = True
                return stream
        except TimeoutError:
            reflector.counts.silences += 1
            why = f"the state did not come to its end for {seconds:g} seconds"
            raise StreamSilentError(why) from None
        except StreamCutError:
            reflector.counts.cuts += 1
        finally:
            warning.stop()
            if stream is not None and not kept:
                reflector.freshness.connected = False
                await stream.close()
        lived = reflector.clock.monotonic() - self._started
        if not reader.accepted and lived < SHORT_SECONDS:
            reflector.counts.short_watches += 1
            raise StreamCutError("the stream of the state ended at once")
        return None

    def _gather(self, kind: str, subject: JSONObject) -> bool:
        """Take one object; whether it was the bookmark that ends the state."""
        if kind == EventType.BOOKMARK:
            return ends_initial_events(subject)
        try:
            key = self._reflector.key(subject)
        except ValueError as error:
            logger.error("%s: unable to store an object: %s", self._reflector.name, error)
            return False
        if kind in (EventType.ADDED, EventType.MODIFIED):
            self._objects[key] = subject
        elif kind == EventType.DELETED:
            self._objects.pop(key, None)
        return False

    def describe_silence(self) -> str:
        """What is missing, for the log."""
        now = self._reflector.clock.monotonic()
        if self._last_heard is None:
            waited = now - self._started
            return f"no event received after {waited:g} s, and no bookmark that ends the state"
        return (
            f"no bookmark that ends the state yet, last event received "
            f"{now - self._last_heard:g} s ago"
        )


class _Warning:
    def __init__(self, owner: StreamingList) -> None:
        self._owner = owner
        self._clock = owner._reflector.clock  # noqa: SLF001 -- of one piece with it
        self._timer: Timer = self._clock.call_later(WARN_SECONDS, self._fire)

    def _fire(self) -> None:
        name = self._owner._reflector.name  # noqa: SLF001
        logger.warning("%s: %s", name, self._owner.describe_silence())
        self._timer = self._clock.call_later(WARN_SECONDS, self._fire)

    def stop(self) -> None:
        self._timer.cancel()
