"""The queue that gathers what happened to each object (upstream: DeltaFIFO).

Filled by `reflector`, emptied by `delta_consumer`; `in_order_fifo` is the default instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from listwatch.informer.deltas import (
    Delta,
    DeltaType,
    KnownObjects,
    Process,
    QueueClosedError,
)
from listwatch.informer.objects import JSONObject, Tombstone
from listwatch.informer.queue_base import QueueBase


class DeltaFIFO(QueueBase):
    """Pops all that happened to one object at once, keys in the order of their first delta.

    Promises no order across objects. Drops the deletion of what nobody knows; with `replaced` off,
    objects of a list are told as Sync, as old consumers expect it.
    """

    def __init__(
        self,
        known: KnownObjects | None = None,
        *,
        replaced: bool = True,
        **options: Any,  # Any: handed on to QueueBase
    ) -> None:
        super().__init__(**options)
        self._known = known
        self._list_type = DeltaType.REPLACED if replaced else DeltaType.SYNC
        self._deltas: dict[str, list[Delta]] = {}
        self._order: deque[str] = deque()

    def add(self, subject: JSONObject) -> None:
        """An object appeared."""
        self._received += 1
        self._queue(DeltaType.ADDED, subject)
        self._populated = True

    def update(self, subject: JSONObject) -> None:
        """An object changed."""
        self._received += 1
        self._queue(DeltaType.UPDATED, subject)
        self._populated = True

    def delete(self, subject: JSONObject | Tombstone) -> None:
        """An object is gone; dropped if neither the queue nor the store behind it knows it."""
        self._received += 1
        key = self.key_of(subject)
        self._populated = True
        stored = self._known is not None and self._known.get_by_key(key) is not None
        if key in self._deltas or stored:
            self._queue(DeltaType.DELETED, subject)

    def replace(self, subjects: Sequence[JSONObject], resource_version: str) -> None:
        """These are all objects that there are; a key that fails aborts midway."""
        del resource_version  # this queue does not carry it; the reflector keeps it
        self._received += 1
        kept: set[str] = set()
        for subject in subjects:
            kept.add(self.key_of(subject))
            self._queue(self._list_type, subject, DeltaType.REPLACED)
        tombstones = 0
        for key, last in self._gone(kept).items():
            self._queue(DeltaType.DELETED, Tombstone(key, last))
            tombstones += 1
        if not self._populated:
            self._populated = True
            self._initial = len(kept) + tombstones
        self._look_synced()

    def resync(self) -> None:
        """Tell of everything stored once more, but for what has deltas queued."""
        self._received += 1
        if self._known is None:
            return
        for key in self._known.keys():  # noqa: SIM118 -- not a dict
            stored = self._known.get_by_key(key)
            if key not in self._deltas and stored is not None:
                self._queue(DeltaType.SYNC, stored)

    def bookmark(self, resource_version: str) -> None:
        """Not carried by this queue."""

    async def pop(self, process: Process) -> None:
        """Process all deltas of the next key; it counts as popped before it is processed."""
        if not await self._wait_for_some():
            raise QueueClosedError
        initial = not self.has_synced
        deltas = self._deltas.pop(self._order.popleft())
        if self._initial:
            self._initial -= 1
        self._shrunk(len(deltas))
        try:
            process(deltas, initial)
        finally:
            self._look_synced()

    def __len__(self) -> int:
        return len(self._order)

    def _queue(
        self, kind: DeltaType, subject: JSONObject | Tombstone, internal: DeltaType | None = None
    ) -> None:
        # `internal` decides on the transform: objects of a list have it whatever they are told as.
        key = self.key_of(subject)
        changed = self._transformed(internal or kind, subject)
        if key not in self._deltas:
            self._deltas[key] = []
            self._order.append(key)
        deltas = self._deltas[key]
        deltas.append(Delta(kind, key, changed))
        _collapse(deltas)
        self._grown()

    def _gone(self, kept: set[str]) -> dict[str, JSONObject | None]:
        gone: dict[str, JSONObject | None] = {}
        for key, deltas in self._deltas.items():
            if key not in kept:
                last = deltas[-1].object
                gone[key] = last.object if isinstance(last, Tombstone) else last
        if self._known is not None:
            for key in self._known.keys():  # noqa: SIM118 -- not a dict
                if key not in kept and key not in self._deltas:
                    gone[key] = self._known.get_by_key(key)
        return gone


def _collapse(deltas: list[Delta]) -> None:
    """Two deletions in a row become the one that knows more; nothing else is dropped."""
    if len(deltas) < 2:
        return
    older, newer = deltas[-2], deltas[-1]
    if older.type is DeltaType.DELETED and newer.type is DeltaType.DELETED:
        deltas[-2:] = [newer if isinstance(older.object, Tombstone) else older]
