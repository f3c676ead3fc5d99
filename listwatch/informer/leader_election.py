"""One leader among many, by a Lease: who holds it works, the others wait until it is not renewed.

Uses a `client`; a controller runs its workers inside `on_started_leading`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from listwatch.informer.errors import ApiError, TransportError
from listwatch.informer.lease_lock import LeaseLock, LeaseRecord
from listwatch.informer.waiting import deadline
from listwatch.protocol.clock import Clock, SystemClock

if TYPE_CHECKING:
    from listwatch.informer.client import Client

logger = logging.getLogger(__name__)

JITTER = 1.2


@dataclass(frozen=True, slots=True)
class LeaderElectionOptions:
    """Seconds; raises ValueError for what cannot work. The defaults are the core components'."""

    name: str
    identity: str
    namespace: str = "default"
    lease_seconds: float = 15.0  # others take over when it was not renewed for so long
    renew_deadline: float = 10.0  # a leader that cannot renew for so long gives up
    retry_seconds: float = 2.0  # between two tries
    release_on_cancel: bool = False  # let go on the way out, so that others need not wait

    def __post_init__(self) -> None:
        if not self.name or not self.identity:
            raise ValueError("a lease needs a name, and its holder an identity")
        if self.lease_seconds <= self.renew_deadline:
            raise ValueError("lease_seconds must be greater than renew_deadline")
        if self.renew_deadline <= JITTER * self.retry_seconds:
            raise ValueError(f"renew_deadline must be greater than {JITTER} * retry_seconds")
        if self.lease_seconds < 1:
            raise ValueError("lease_seconds must be one or more: a Lease counts whole seconds")
        if self.retry_seconds <= 0:
            raise ValueError("retry_seconds must be greater than zero")


@dataclass(frozen=True, slots=True)
class LeaderElectionStatistics:
    """An elector at one moment."""

    identity: str
    leader: str  # the holder last seen; '' for none
    is_leader: bool
    acquisitions: int  # times that it became leader
    renewals: int  # writes of a lease it held
    failures: int  # tries that failed
    last_renewed: float | None  # seconds since 1970


class LeaderElector:
    """Takes part in one election. Promises not mutual exclusion, but what a Lease can give.

    Whether a lease has run out is judged by this clock since the lease was last seen to change,
    never by the times written in it: clocks may differ, if they only run equally fast.
    """

    def __init__(
        self,
        client: Client,
        options: LeaderElectionOptions,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        on_new_leader: Callable[[str], None] | None = None,
    ) -> None:
        self.options = options
        self.clock = clock or SystemClock()
        self._random = random or Random()  # noqa: S311 -- spreads load, guards nothing
        self._lock = LeaseLock(client, options.namespace, options.name)
        self._on_new_leader = on_new_leader
        self._observed: LeaseRecord | None = None
        self._observed_at = 0.0
        self._reported = ""
        self._leading = False
        self._acquisitions = self._renewals = self._failures = 0
        self._last_renewed: float | None = None

    @property
    def leader(self) -> str:
        """The holder last seen; '' for none."""
        return self._observed.holder if self._observed else ""

    @property
    def is_leader(self) -> bool:
        """Whether this one leads, as far as it knows."""
        return self._leading

    def is_healthy(self, tolerance: float = 0.0) -> bool:
        """False for a leader that has not renewed for longer than its lease and a tolerance."""
        if not self._leading:
            return True
        age = self.clock.monotonic() - self._observed_at
        return age <= self.options.lease_seconds + tolerance

    async def run(
        self,
        on_started_leading: Callable[[], Awaitable[None]],
        on_stopped_leading: Callable[[], None] = lambda: None,
    ) -> None:
        """Wait for the lease, work while it can be renewed, and return when it is lost.

        The work is cancelled, and has ended, before `on_stopped_leading` is called; that is called
        on every way out, also if this never led.
        """
        work: asyncio.Task[None] | None = None
        try:
            await self._acquire()
            work = asyncio.ensure_future(_run(on_started_leading))
            await self._renew_while(work)
        finally:
            if work is not None:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            was_leading, self._leading = self._leading, False
            try:
                if was_leading and self.options.release_on_cancel:
                    await self._release()
            finally:
                on_stopped_leading()

    def statistics(self) -> LeaderElectionStatistics:
        """A record of now."""
        return LeaderElectionStatistics(
            self.options.identity, self.leader, self._leading, self._acquisitions, self._renewals,
            self._failures, self._last_renewed,
        )  # fmt: skip

    async def _acquire(self) -> None:
        while not await self._try():
            jitter = 1 + (JITTER - 1) * self._random.random()
            await self.clock.sleep(self.options.retry_seconds * jitter)
        self._leading = True
        self._acquisitions += 1
        logger.info("%s: became leader", self.options.identity)

    async def _renew_while(self, work: asyncio.Task[None]) -> None:
        while not work.done():
            waiting = asyncio.ensure_future(self.clock.sleep(self.options.retry_seconds))
            try:
                await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting.cancel()
            if work.done():
                break
            try:
                async with deadline(self.clock, self.options.renew_deadline):
                    while not await self._try():
                        await self.clock.sleep(self.options.retry_seconds)
            except TimeoutError:
                logger.error("%s: lost the lease: it was not renewed", self.options.identity)
                self._leading = False
                return
        work.result()

    async def _try(self) -> bool:
        """Take or renew the lease; whether this one holds it now."""
        try:
            held = await self._take_or_renew()
        except (ApiError, TransportError) as error:
            self._failures += 1
            logger.info("%s: lease not written: %s", self.options.identity, error)
            return False
        finally:
            self._report()
        return held

    async def _take_or_renew(self) -> bool:
        options, now = self.options, self.clock.now()
        mine = LeaseRecord(options.identity, int(options.lease_seconds), now, now)
        if self._observed and self._observed.holder == options.identity and self._unexpired():
            # Nobody else may write it now: no need to look first.
            try:
                await self._write(mine.renewing(self._observed))
            except ApiError as error:
                logger.info("%s: quick renewal failed: %s", options.identity, error)
            else:
                return True
        found = await self._lock.get()
        if found is None:
            self._see(await self._lock.create(mine))
            self._count_renewal()
            return True
        if self._observed is None or found.raw != self._observed.raw:
            self._see(found)
        if found.holder and found.holder != options.identity and self._unexpired():
            return False
        if found.holder == options.identity:
            await self._write(mine.renewing(found))
        else:
            await self._write(mine.succeeding(found))
        return True

    def _unexpired(self) -> bool:
        assert self._observed is not None
        return self._observed_at + self._observed.lease_seconds > self.clock.monotonic()

    async def _write(self, record: LeaseRecord) -> None:
        self._see(await self._lock.update(record))
        self._count_renewal()

    def _count_renewal(self) -> None:
        self._renewals += 1
        self._last_renewed = self.clock.now()

    def _see(self, record: LeaseRecord) -> None:
        self._observed = record
        self._observed_at = self.clock.monotonic()

    def _report(self) -> None:
        if self.leader != self._reported:
            self._reported = self.leader
            if self._on_new_leader is not None:
                asyncio.get_running_loop().call_soon(self._on_new_leader, self._reported)

    async def _release(self) -> None:
        """Let others have it at once; bounded by the renew deadline, tried again on a conflict."""
        options = self.options
        try:
            async with deadline(self.clock, options.renew_deadline):
                while True:
                    found = await self._lock.get()
                    if found is None or found.holder != options.identity:
                        return
                    try:
                        await self._write(found.released(self.clock.now()))
                    except ApiError as error:
                        if error.reason != "Conflict":
                            raise
                        await self.clock.sleep(0)
                    else:
                        return
        except (ApiError, TransportError, TimeoutError) as error:
            logger.warning("%s: lease not released: %s", options.identity, error)


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    await work()
