"""A watch that faults may befall: the watcher of `watchcache`, and what comes between.

Made by `faults` for each watch while faults are enabled; read by `api.watch` and by the
dashboard's attached watchers as they would read the watcher itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from listwatch.faults.clients import ClientKey
from listwatch.faults.kinds import FaultType
from listwatch.protocol.errors import too_old_resource_version
from listwatch.protocol.events import EndReason

if TYPE_CHECKING:
    from listwatch.faults.faults import Faults
    from listwatch.faults.records import Fault
    from listwatch.protocol.errors import StatusError
    from listwatch.watchcache.watcher import CacheWatcher


class CutError(Exception):
    """The stream breaks off here: what carries it must not end it well."""


class FaultyWatch:
    """A CacheWatcher's chunks, as faults let them through.

    Promises that without a fault for it every chunk passes unchanged; that a chunk which was
    swallowed is followed by nothing but a cut, so that its client comes back for it; and that
    everything that waits here goes on when faults end, or the watch does.
    """

    def __init__(self, watcher: CacheWatcher, faults: Faults, client: ClientKey) -> None:
        self.watcher = watcher
        self.client = client
        self._faults = faults
        self._changed = asyncio.Event()
        self._cut = False  # break off now
        self._torn = False  # half a line is out, so nothing may follow
        self._hole: Fault | None = None  # where a chunk has gone

    @property
    def id(self) -> int:
        """The watcher's number."""
        return self.watcher.id

    @property
    def end_reason(self) -> EndReason | None:
        """Why it ended."""
        return self.watcher.end_reason

    @property
    def on_end(self) -> Callable[[], None] | None:
        """Called when it ends while a reader is busy sending."""
        return self.watcher.on_end

    @on_end.setter
    def on_end(self, call: Callable[[], None] | None) -> None:
        self.watcher.on_end = call

    def refuse(self, error: StatusError, reason: EndReason) -> None:
        """End it with one ERROR frame."""
        self.watcher.refuse(error, reason)

    def close(self, reason: EndReason) -> None:
        """End it, and let go of it."""
        self.watcher.close(reason)
        self._faults.forget(self)

    async def next_chunk(self) -> bytes | None:
        """As the watcher's; raises CutError where the connection shall break."""
        while True:
            if self._torn:
                raise CutError
            chunk = None if self._cut else await self.watcher.next_chunk()
            if self._faults.any_on and not self._cut:
                chunk = await self._through(chunk)
            if self._cut:
                raise CutError
            if chunk is None and not self.watcher.ended:
                continue  # swallowed
            return chunk

    # What `faults` says.

    def strike(self, fault: Fault) -> None:
        """Do at once what this fault does to an open watch; nothing for those that only change."""
        match fault.spec.type:
            case FaultType.EXPIRED if fault.spec.form == "event":
                oldest = max(self.watcher.revision, self._faults.applied) + 1
                error = too_old_resource_version(self.watcher.revision, oldest)
                self.watcher.refuse(error, EndReason.FAULT_INJECTED)
            case FaultType.EXPIRED:
                self.watcher.close(EndReason.FAULT_INJECTED)
                return  # the hit is the answer to its next request
            case FaultType.CUT:
                self._break_off()
            case _:
                return
        fault.hit(self.client)

    def changed(self) -> None:
        """Faults have come or gone."""
        self._changed.set()
        if self._hole is not None and self._hole.ended_at is not None:
            self._break_off()

    def _break_off(self) -> None:
        self._cut = True
        self._changed.set()
        self.watcher.close(EndReason.FAULT_INJECTED)

    def _on(self, kind: FaultType) -> Fault | None:
        return self._faults.on(kind, self.client)

    async def _through(self, chunk: bytes | None) -> bytes | None:
        if (hole := self._hole or self._on(FaultType.BLACK_HOLE)) is not None:
            await self._swallow(hole, chunk)
            return None
        if chunk is None:
            return None
        if (fault := self._on(FaultType.FREEZE)) is not None:
            fault.hit(self.client)
            await self._freeze(fault)
        if (fault := self._on(FaultType.DELAY)) is not None:
            fault.hit(self.client)
            await self._delay(fault)
        # While it waited, others may have been told.
        if not self._cut and (fault := self._on(FaultType.CUT_MID_LINE)) is not None:
            fault.hit(self.client)
            self.watcher.close(EndReason.FAULT_INJECTED)
            self._torn = True
            return _half_of_last_line(chunk)
        return chunk

    async def _swallow(self, hole: Fault, chunk: bytes | None) -> None:
        self._hole = hole
        if chunk is not None:
            hole.hit(self.client)
        if self.watcher.ended:  # which does not come through either
            await self._until(lambda: hole.ended_at is not None)
            self._cut = True

    async def _freeze(self, fault: Fault) -> None:
        self.watcher.on_end = self._changed.set
        await self._until(lambda: fault.ended_at is not None or self.watcher.ended)
        self.watcher.on_end = None
        if self.watcher.end_reason is EndReason.TOO_SLOW:
            self._cut = True

    async def _delay(self, fault: Fault) -> None:
        clock, seconds = self._faults.clock, fault.spec.delay_milliseconds / 1000
        due = clock.monotonic() + seconds
        timer = clock.call_later(seconds, self._changed.set)
        try:
            await self._until(lambda: fault.ended_at is not None or clock.monotonic() >= due)
        finally:
            timer.cancel()

    async def _until(self, true: Callable[[], bool]) -> None:
        while not (self._cut or true()):
            self._changed.clear()
            await self._changed.wait()


def _half_of_last_line(chunk: bytes) -> bytes:
    """The chunk up to the middle of its last line: whole events before it are not lost."""
    start = chunk.rfind(b"\n", 0, len(chunk) - 1) + 1
    return chunk[: start + max((len(chunk) - start) // 2, 1)]
