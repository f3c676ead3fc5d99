"""The faults that are on: put in, lifted, and over by themselves.

Told by `api.faults` and the dashboard's page; asked by `api.watch` before each watch and by
`watches` for each chunk. Made by `runtime`.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.faults.clients import ClientKey
from listwatch.faults.kinds import FACTS, FaultType
from listwatch.faults.records import GVK, Fault, FaultSpec
from listwatch.faults.watches import FaultyWatch
from listwatch.protocol.errors import (
    Cause,
    StatusError,
    invalid,
    too_many_requests,
    too_old_resource_version,
)

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.watchcache.caches import Caches
    from listwatch.watchcache.watcher import CacheWatcher

logger = logging.getLogger(__name__)

AT_ONCE = 16  # faults that may be on together
KEPT = 50  # of those that are over

_LIFTED = "lifted"
_TIME_IS_UP = "time is up"


@dataclass(frozen=True, slots=True)
class FaultsStatistics:
    """What faults have done so far."""

    active: int  # faults that are on
    injected: int  # faults since the start
    hits: int  # requests and chunks that one befell
    held: int  # requests that wait because of one


class Faults:
    """Which faults are on. Owned by one event loop.

    Promises that each is over after its time, whatever happens to who asked for it; that then
    everything that waited goes on; and that no event is lost by any: a client that was cut, refused
    or told 410 finds all of it again.
    """

    def __init__(
        self,
        caches: Caches,
        clock: Clock,
        *,
        hold_pump: Callable[[bool], None],
        compact: Callable[[], Awaitable[str]],
    ) -> None:
        self.clock = clock
        self.on_change: list[Callable[[], None]] = []  # called when one begins or ends
        self._caches = caches
        self._hold_pump = hold_pump
        self._compact = compact
        self._numbers = itertools.count(1)
        self._active: dict[int, Fault] = {}
        self._over: deque[Fault] = deque(maxlen=KEPT)
        self._watches: dict[FaultyWatch, None] = {}
        self._changed = asyncio.Event()
        self._injected = self._hits = self._held = 0

    # What people do.

    async def inject(self, spec: FaultSpec, *, by: str = "") -> Fault:
        """Begin a fault; returns when it is on, or done. Raises 422, or 429 for too many."""
        if len(self._active) >= AT_ONCE:
            raise too_many_requests(f"at most {AT_ONCE} faults are on at once", 5)
        now = self.clock.now()
        fault = Fault(0, spec, by, now, now + spec.seconds, self._client(spec))
        fault.number = next(self._numbers)
        self._injected += 1
        logger.warning("fault %d by %s: %s on %s", fault.number, by, spec.type, spec.reach)
        if FACTS[spec.type].at_once:
            fault.outcome = await self._compact()
            fault.until = now
            fault.hits = 1
            self._close(fault, "done")
            return fault
        self._active[fault.number] = fault
        fault.timer = self.clock.call_later(spec.seconds, lambda: self._end(fault, _TIME_IS_UP))
        if spec.type is FaultType.STOP_PUMP:
            self._hold_pump(True)
        struck = [watch for watch in self._watches if fault.concerns(watch.client)]
        fault.shares.update(watch.client for watch in struck)
        for watch in struck:
            watch.strike(fault)
        self._tell()
        return fault

    def lift(self, number: int) -> Fault:
        """End a fault before its time; raises 404 if it is not on."""
        fault = self._active.get(number)
        if fault is None:
            message = f'faults.{GVK.group} "{number}" not found'
            details = {"name": str(number), "group": GVK.group, "kind": "faults"}
            raise StatusError(404, "NotFound", message, details=details)
        self._end(fault, _LIFTED)
        return fault

    def lift_all(self) -> None:
        """End all of them."""
        for fault in tuple(self._active.values()):
            self._end(fault, _LIFTED)

    # What the way of a watch asks.

    async def before(self, client: ClientKey, resource_version: str) -> None:
        """A watch is about to be opened: wait, or raise 410 or 429, as a fault has it."""
        if not self._active:
            return
        if (fault := self.on(FaultType.HOLD, client)) is not None:
            fault.hit(client)
            await self._until_over(fault)
        while (fault := self.on(FaultType.BLACK_HOLE, client)) is not None:
            fault.hit(client)
            await self._until_over(fault)
        if (fault := self.on(FaultType.TOO_MANY_REQUESTS, client)) is not None:
            fault.hit(client)
            raise too_many_requests(
                "too many requests, please try again later (fault injected)",
                fault.spec.retry_after_seconds,
            )
        resumes = resource_version.isdigit() and int(resource_version) > 0
        if resumes and (fault := self._expiring("http", client)) is not None:
            fault.hit(client)
            raise too_old_resource_version(int(resource_version), self.applied + 1)

    def follow(self, watcher: CacheWatcher, client: ClientKey) -> FaultyWatch:
        """The opened watch, with whatever befalls it from now on."""
        watch = FaultyWatch(watcher, self, client)
        if not watcher.ended:
            self._watches[watch] = None
            for fault in (self.on(FaultType.CUT, client), self._expiring("event", client)):
                if fault is not None:
                    watch.strike(fault)
        return watch

    def forget(self, watch: FaultyWatch) -> None:
        """It is closed."""
        self._watches.pop(watch, None)

    @property
    def any_on(self) -> bool:
        """Whether anything is on."""
        return bool(self._active)

    @property
    def applied(self) -> int:
        """The revision that the caches are at."""
        return self._caches.progress.applied

    def on(self, kind: FaultType, client: ClientKey) -> Fault | None:
        """A fault of this type that is on and may hit this client."""
        for fault in self._active.values():
            if fault.spec.type is kind and fault.concerns(client) and fault.may_hit(client):
                return fault
        return None

    # What is shown.

    def active(self) -> list[Fault]:
        """Those that are on, oldest first."""
        return list(self._active.values())

    def over(self) -> list[Fault]:
        """Those that ended lately, newest first."""
        return list(reversed(self._over))

    def find(self, number: int) -> Fault | None:
        """One of either."""
        return next((f for f in (*self._active.values(), *self._over) if f.number == number), None)

    def statistics(self) -> FaultsStatistics:
        """What they have done so far."""
        hits = self._hits + sum(fault.hits for fault in self._active.values())
        return FaultsStatistics(len(self._active), self._injected, hits, self._held)

    def _client(self, spec: FaultSpec) -> ClientKey | None:
        if spec.resource and spec.resource not in {str(each) for each in self._caches.cachers()}:
            why = f'Invalid value: "{spec.resource}": no such resource is served'
            raise invalid(GVK, "", (Cause("FieldValueInvalid", why, "spec.resource"),))
        if not spec.watcher:
            return None
        for cacher in self._caches.cachers().values():
            for watcher in cacher.watchers():
                if watcher.id == spec.watcher:
                    return ClientKey.of_watcher(watcher)
        why = f"Invalid value: {spec.watcher}: no such watch is open"
        raise invalid(GVK, "", (Cause("FieldValueInvalid", why, "spec.watcher"),))

    def _expiring(self, form: str, client: ClientKey) -> Fault | None:
        fault = self.on(FaultType.EXPIRED, client)
        return fault if fault is not None and fault.spec.form == form else None

    async def _until_over(self, fault: Fault) -> None:
        self._held += 1
        try:
            while fault.ended_at is None:
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._held -= 1

    def _end(self, fault: Fault, why: str) -> None:
        if self._active.pop(fault.number, None) is None:
            return
        if fault.timer is not None:
            fault.timer.cancel()
        still = any(f.spec.type is FaultType.STOP_PUMP for f in self._active.values())
        if fault.spec.type is FaultType.STOP_PUMP and not still:
            self._hold_pump(False)
        logger.warning("fault %d is over: %s", fault.number, why)
        self._close(fault, why)

    def _close(self, fault: Fault, why: str) -> None:
        fault.ended_at, fault.ended_by = self.clock.now(), why
        fault.hits_by_client = {}
        self._hits += fault.hits
        self._over.append(fault)
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        for watch in tuple(self._watches):
            watch.changed()
        for call in tuple(self.on_change):
            call()
