"""When to compact, and up to where: bounded by age and by bytes, looked at now and then.

The compactor runs `sweeping` and `heartbeat` in the threads of `readers`; `compact` is for at
once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, replace

from django.db import connection

from listwatch.conf import Options
from listwatch.protocol.clock import Clock, SystemClock
from listwatch.store import reads, sweeping
from listwatch.store.heartbeat import beat
from listwatch.store.readers import Readers
from listwatch.store.rows import CHANGES
from listwatch.store.sweeping import compact

logger = logging.getLogger(__name__)

# Revisions are weighed in portions, so that bytes are given up in portions and not all at once.
_SIZES = f"""
    SELECT max(revision), sum(length(body)) FROM {CHANGES}
    WHERE revision > %s AND revision <= %s GROUP BY revision / 1000 ORDER BY 1
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class CompactionStatistics:
    """What the compactor has done so far."""

    compacted: int = 0  # the oldest revision whose state can be read
    history_bytes: int = 0  # of the changes above it, when last looked at
    runs: int = 0  # looks that found something to compact
    rows: int = 0  # changes taken away
    transactions: int = 0  # in which they were
    heartbeats: int = 0  # writes made because nobody else wrote
    errors: int = 0  # looks that failed
    looked_at: float = 0.0  # wall time of the last look


class Compactor:
    """A task that keeps the log within its age and its bytes.

    Promises that a revision which has been the newest for `compaction_age` seconds can then no
    longer be read, on an idle server too; and that changes younger than half of that can be read,
    unless there are more than `compaction_bytes` of them. Several processes may each have one.
    """

    def __init__(
        self, readers: Readers, options: Options, *, clock: Clock | None = None
    ) -> None:  # fmt: skip
        self._readers = readers
        self._clock: Clock = clock or SystemClock()
        # A revision that has become old is noticed as idle after two looks, and given up after a
        # third: age = keep + three periods, and at least half of the age is kept.
        self.period = min(options.compaction_interval, options.compaction_age / 6)
        self.keep = options.compaction_age - 3 * self.period
        self._bytes = options.compaction_bytes
        self._portions: deque[tuple[int, int]] = deque()  # (newest revision, bytes), oldest first
        self._current = -1  # as the last look saw it
        self._task: asyncio.Task[None] | None = None
        self._statistics = CompactionStatistics()

    def start(self) -> None:
        """Begin to look, in the running event loop."""
        self._task = asyncio.create_task(self._run(), name="compactor")

    async def stop(self) -> None:
        """Stop looking; a batch that is under way is finished by its thread."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def statistics(self) -> CompactionStatistics:
        """What has been done so far."""
        return self._statistics

    async def look(self) -> None:
        """Look once: move an idle Head, compact what is too old or too much."""
        head = await self._readers.run(reads.head)
        if head.current == self._current:
            await self._readers.run(beat, self._clock)
            self._count(heartbeats=1)
            head = await self._readers.run(reads.head)
        self._current = head.current
        old = await self._readers.run(reads.youngest_before, self._clock.now() - self.keep)
        target = max(old, await self._over_bytes(head))
        if target > head.compacted:
            await self._readers.run(sweeping.move, target)
            self._count(runs=1)
        # Also without a move: a process may have died amid its sweeping.
        done = False
        while not done:
            swept = await self._readers.run(sweeping.sweep)
            self._count(rows=swept.rows, transactions=1 if swept.rows else 0)
            done = swept.done
            if not done:
                await self._clock.sleep(sweeping.PAUSE)
        compacted = max(target, head.compacted)
        self._forget(compacted)
        self._statistics = replace(
            self._statistics,
            compacted=compacted,
            history_bytes=sum(size for _, size in self._portions),
            looked_at=self._clock.now(),
        )

    async def compact(self, revision: int) -> None:
        """Compact up to a revision at once, whatever its age."""
        rows = await self._readers.run(compact, revision)
        self._count(runs=1, rows=rows)
        self._forget(revision)
        compacted = max(revision, self._statistics.compacted)
        self._statistics = replace(self._statistics, compacted=compacted)

    async def _over_bytes(self, head: reads.HeadState) -> int:
        """The revision up to which history must go for the rest to be within bounds, or 0."""
        weighed = self._portions[-1][0] if self._portions else head.compacted
        self._portions.extend(await self._readers.run(_sizes, weighed, head.current))
        self._forget(head.compacted)
        total = sum(size for _, size in self._portions)
        over = 0
        for revision, size in self._portions:
            if total <= self._bytes:
                break
            total -= size
            over = revision
        return over

    def _forget(self, compacted: int) -> None:
        while self._portions and self._portions[0][0] <= compacted:
            self._portions.popleft()

    def _count(self, **more: int) -> None:
        counted = {name: getattr(self._statistics, name) + by for name, by in more.items()}
        self._statistics = replace(self._statistics, **counted)

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except Exception:
                self._count(errors=1)
                logger.exception("compaction failed; trying again in %.0f s", self.period)
            await self._clock.sleep(self.period)


def _sizes(after: int, until: int) -> list[tuple[int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(_SIZES, (after, until))
        return [(int(revision), int(size)) for revision, size in cursor.fetchall()]


__all__ = ["CompactionStatistics", "Compactor", "compact"]
