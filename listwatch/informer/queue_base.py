"""What both delta queues share: waiting, closing, counting, and when the first list is through.

Subclassed by `in_order_fifo` and `delta_fifo`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from listwatch.informer.deltas import DeltaType, QueueStatistics
from listwatch.informer.objects import (
    JSONObject,
    KeyFunction,
    Tombstone,
    Transform,
    object_key,
)

SOFT_LIMIT = 10_000  # queued deltas above which the reflector stops reading its stream


class QueueBase:
    """Not a queue by itself. Owned by one event loop."""

    def __init__(
        self,
        *,
        key: KeyFunction = object_key,
        transform: Transform | None = None,
        soft_limit: int = SOFT_LIMIT,
    ) -> None:
        self._key = key
        self._transform = transform
        self._soft_limit = soft_limit
        self.on_synced: Callable[[], None] = _nothing  # called once, when `has_synced` turns true
        self._told_synced = False
        self._closed = False
        self._populated = False
        self._initial = 0  # of the first list, not popped yet
        self._arrived = asyncio.Event()
        self._shorter = asyncio.Event()
        self._shorter.set()
        self._received = 0
        self._popped = 0
        self._peak = 0

    @property
    def has_synced(self) -> bool:
        """Whether the first list was consumed; at once if something else came before any list."""
        return self._populated and self._initial == 0

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def close(self) -> None:
        """Release those who wait. What is queued is still popped; what comes is still taken."""
        self._closed = True
        self._arrived.set()
        self._shorter.set()

    async def room(self) -> None:
        """Wait until fewer than the soft limit are queued, or the queue is closed."""
        while len(self) >= self._soft_limit and not self._closed:
            self._shorter.clear()
            await self._shorter.wait()

    def key_of(self, subject: JSONObject | Tombstone) -> str:
        """The key of an object, or the one a tombstone carries."""
        return subject.key if isinstance(subject, Tombstone) else self._key(subject)

    def statistics(self) -> QueueStatistics:
        """A record of now."""
        return QueueStatistics(len(self), self._peak, self._received, self._popped, self.has_synced)

    def __len__(self) -> int:
        raise NotImplementedError

    def _transformed(
        self, kind: DeltaType, subject: JSONObject | Tombstone
    ) -> JSONObject | Tombstone:
        if self._transform is None or isinstance(subject, Tombstone) or kind is DeltaType.SYNC:
            return subject
        return self._transform(subject)

    def _look_synced(self) -> None:
        # An empty first list is synced although nothing is popped of it.
        if not self._told_synced and self.has_synced:
            self._told_synced = True
            self.on_synced()

    def _grown(self) -> None:
        self._peak = max(self._peak, len(self))
        self._arrived.set()
        self._look_synced()

    def _shrunk(self, deltas: int) -> None:
        self._popped += deltas
        if len(self) < self._soft_limit:
            self._shorter.set()

    async def _wait_for_some(self) -> bool:
        """Wait until something is queued; False if the queue was closed and is empty."""
        while not len(self):
            if self._closed:
                return False
            self._arrived.clear()
            await self._arrived.wait()
        return True


def _nothing() -> None:
    return
