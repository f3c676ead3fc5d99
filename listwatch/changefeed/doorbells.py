"""What wakes the pump when another process has written: hints, never data.

Each runs as a task and calls `ring`; a hint that gets lost costs at most the pump's own slow
timer. The in-process hint is in `signals`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol

from listwatch.changefeed.freshness import SQLiteFreshness
from listwatch.protocol.clock import Clock

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.05  # another process' write shows within 200 ms: four looks
RETRY_SECONDS = 1.0  # between two attempts to listen
CHANNEL = "listwatch_changes"


class Doorbell(Protocol):
    """Calls `ring` when something may have been committed, until it is cancelled."""

    async def run(self, ring: Callable[[], None]) -> None:
        """Run until cancelled."""


class DataVersionDoorbell:
    """SQLite: looks at `PRAGMA data_version` twenty times a second, some microseconds each."""

    def __init__(self, freshness: SQLiteFreshness, clock: Clock) -> None:
        self._freshness = freshness
        self._clock = clock

    async def run(self, ring: Callable[[], None]) -> None:
        """Ring whenever the file was committed to."""
        while True:
            if self._freshness.moved():
                ring()
            await self._clock.sleep(POLL_SECONDS)


class NotifyDoorbell:
    """PostgreSQL: listens for the revision numbers that every commit notifies.

    Holds one connection of its own. When that breaks it rings, since something may have been
    missed, and connects again.
    """

    def __init__(self, parameters: dict[str, Any], clock: Clock) -> None:  # Any: libpq's options
        self._parameters = parameters
        self._clock = clock

    async def run(self, ring: Callable[[], None]) -> None:
        """Ring at every notification."""
        import psycopg

        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(
                    **self._parameters, autocommit=True
                )
                async with connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    ring()
                    async for _ in connection.notifies():
                        ring()
            except (psycopg.Error, OSError) as error:
                logger.warning("listening for changes was interrupted: %s", error)
            ring()
            await self._clock.sleep(RETRY_SECONDS)


async def ring_forever(doorbell: Doorbell, ring: Callable[[], None]) -> None:
    """Run a doorbell; one that fails is reported, and the pump's own timer stands in for it."""
    try:
        await doorbell.run(ring)
    except asyncio.CancelledError:
        raise
    except Exception:
        logger.exception("a doorbell broke; changes of other processes show with a delay")
