"""The pump: changes to the cache, strictly in revision order.

What this process committed comes with the signal and is applied if it is next; everything else,
and every gap, is read from the log.
Each change goes on to `watchcache.caches` and its Cacher; then `applied` moves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from listwatch.changefeed.doorbells import Doorbell, ring_forever
from listwatch.changefeed.encoding import version_of
from listwatch.changefeed.history import FillAll, Resources, read_fill
from listwatch.changefeed.signals import SignalDoorbell
from listwatch.protocol.clock import Clock
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.versions import Change, Version
from listwatch.store import reads
from listwatch.store.readers import Readers
from listwatch.watchcache.caches import Caches

logger = logging.getLogger(__name__)

BATCH = 500  # rows of the log read at a time
NET_SECONDS = 1.0  # looks at the log this often, whatever the doorbells say
RETRY_SECONDS = 0.5  # after a failed reading
INTERNAL_GROUP = "listwatch.internal"  # the store's own rows, of which no cache is kept


@dataclass(frozen=True, slots=True)
class PumpStatistics:
    """What the pump has done so far."""

    applied: int  # the revision that the caches are at
    received: int  # changes taken in
    direct: int  # of these, handed over by the signal and found to be next
    from_log: int  # of these, read from the log
    duplicates: int  # handed over again after they were applied
    rings: int  # wake-ups by a doorbell
    timer_wakes: int  # wake-ups by the slow timer
    gaps: int  # times that the signal ran ahead, and the log was read instead
    refills: int  # times that the log no longer had what came next
    errors: int  # readings that failed
    newest_via: Literal["", "signal", "log"]  # how the change that was applied last came
    behind_since: float | None  # monotonic time of the oldest hint not yet followed, or None
    stopped: bool  # held by a fault rule


class Follower(Protocol):
    """Who must know of every change of a resource before the next change is applied."""

    def filled(self) -> None:
        """The caches were filled, or filled anew."""

    def changed(self, version: Version) -> None:
        """A change was applied; must not await."""


class Pump:
    """Feeds the caches; nothing else may.

    Promises: every change is applied exactly once, in revision order, without an await between
    its Cacher, its lanes and `applied`; a change that is in the log is applied whether or not any
    signal told of it. Does not promise when. Owned by one event loop; `offer` and `ring` are
    called in it.
    """

    def __init__(
        self,
        caches: Caches,
        readers: Readers,
        resources: Resources,
        *,
        clock: Clock,
        doorbells: Sequence[Doorbell] = (),
        history_window: float = 75.0,
        fill_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        self._caches = caches
        self._readers = readers
        self._resources = resources
        self._clock = clock
        self._doorbells = doorbells
        self._history_window = history_window
        self._fill_bytes = fill_bytes
        self._signal = SignalDoorbell(self.offer)
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._followers: dict[GroupResource, Follower] = {}
        self._held = False
        self._hinted: float | None = None
        self._via: Literal["", "signal", "log"] = ""
        self._count = dict.fromkeys(
            ("direct", "from_log", "duplicates", "rings", "timer_wakes", "gaps", "refills",
             "errors"), 0,
        )  # fmt: skip

    @property
    def applied(self) -> int:
        """The revision that the caches are at."""
        return self._caches.progress.applied

    def follow(self, group_resource: GroupResource, follower: Follower) -> None:
        """Tell this one of every change of that resource, in its order; before `start`."""
        self._followers[group_resource] = follower

    async def start(self) -> None:
        """Fill the caches and begin to follow; returns when lists and watches can be served."""
        self._signal.connect()
        await self._fill()
        self._tasks = [asyncio.create_task(self._run(), name="pump")]
        self._tasks += [
            asyncio.create_task(ring_forever(doorbell, self.ring), name="doorbell")
            for doorbell in self._doorbells
        ]

    async def stop(self) -> None:
        """Stop following; the caches stay as they are."""
        self._signal.disconnect()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    def ring(self) -> None:
        """Something may have been committed."""
        self._count["rings"] += 1
        self._hint()

    def offer(self, changes: Sequence[Change]) -> None:
        """Changes that were just committed, in revision order: applied now if they are next."""
        if self._held:
            self._hint()
            return
        for change in changes:
            following = self.applied + 1
            if change.revision == following:
                self._via = "signal"
                self._apply(change)
                self._count["direct"] += 1
            elif change.revision < following:
                self._count["duplicates"] += 1
            else:
                self._count["gaps"] += 1
                self._hint()
                return

    def hold(self, held: bool) -> None:
        """Stop or go on applying: a fault rule, and the tests' way to look between two steps."""
        self._held = held
        if not held:
            self._hint()

    def statistics(self) -> PumpStatistics:
        """What the pump has done so far."""
        return PumpStatistics(
            applied=self.applied,
            received=self._count["direct"] + self._count["from_log"],
            behind_since=self._hinted,
            stopped=self._held,
            newest_via=self._via,
            **self._count,
        )

    async def catch_up(self) -> None:
        """Apply all that the log holds by now."""
        while not self._held:
            try:
                rows = await self._readers.run(reads.changes, self.applied, BATCH)
            except reads.Compacted:
                await self._refill()
                continue
            self._apply_next(rows)
            if len(rows) < BATCH:
                return

    def _hint(self) -> None:
        if self._hinted is None:
            self._hinted = self._clock.monotonic()
        self._wake.set()

    def _apply_next(self, rows: Sequence[Change]) -> None:
        for row in rows:
            # The signal may have brought some of these while the reading went on.
            if row.revision == self.applied + 1 and not self._held:
                self._via = "log"
                self._apply(row)
                self._count["from_log"] += 1

    def _apply(self, change: Change) -> None:
        group_resource = change.group_resource
        if group_resource.group != INTERNAL_GROUP:
            version = version_of(change, self._resources(group_resource))
            self._caches.apply(group_resource, version)
        self._caches.advance(change.revision)
        follower = self._followers.get(group_resource)
        if follower is not None:
            follower.changed(version)

    async def _run(self) -> None:
        net: Callable[[], None] = self._net
        timer = self._clock.call_later(NET_SECONDS, net)
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                self._hinted = None
                try:
                    await self.catch_up()
                except Exception:
                    self._count["errors"] += 1
                    logger.exception("the log could not be read; trying again")
                    await self._clock.sleep(RETRY_SECONDS)
                    self._hint()
                timer.cancel()
                timer = self._clock.call_later(NET_SECONDS, net)
        finally:
            timer.cancel()

    def _net(self) -> None:
        self._count["timer_wakes"] += 1
        self._wake.set()

    async def _fill(self) -> None:
        since = self._clock.now() - self._history_window
        filled: FillAll = await self._readers.run(
            read_fill, self._resources, since, self._fill_bytes
        )
        self._caches.fill(
            filled.revision,
            filled.floor,
            {
                group_resource: (list(fill.objects.values()), fill.history)
                for group_resource, fill in filled.fills.items()
                if group_resource.group != INTERNAL_GROUP
            },
        )
        for follower in self._followers.values():
            follower.filled()

    async def _refill(self) -> None:
        # Compaction has removed changes that were never applied (this process stood still for
        # longer than the log is kept): the watches cannot be served whole, so they end.
        self._count["refills"] += 1
        logger.warning("the log no longer holds revision %d; reading anew", self.applied + 1)
        self._caches.end_watches(EndReason.HISTORY_LOST)
        await self._fill()
