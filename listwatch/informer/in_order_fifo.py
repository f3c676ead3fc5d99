"""The queue that keeps the order of events across all objects (upstream: RealFIFO); the default.

Filled by `reflector`, emptied by `delta_consumer`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from listwatch.informer.deltas import (
    UNBATCHABLE,
    Delta,
    DeltaType,
    KnownObjects,
    Process,
    QueueClosedError,
)
from listwatch.informer.objects import InvalidObjectError, JSONObject, Tombstone
from listwatch.informer.queue_base import QueueBase

BATCH = 1000  # the most deltas in one batch


class InOrderFIFO(QueueBase):
    """Every delta as it came, none dropped and none collapsed.

    Without `known` (the default) it is atomic: a list, a resync and a bookmark are one delta each,
    in order with all others, and deletions are computed where they are exact, in the store. With
    `known` a list becomes a delta for each object, tombstones first.
    """

    def __init__(
        self,
        known: KnownObjects | None = None,
        *,
        batch: int = BATCH,
        **options: Any,  # Any: handed on to QueueBase
    ) -> None:
        super().__init__(**options)
        self._known = known
        self._batch = batch
        self._items: deque[Delta] = deque()

    @property
    def atomic(self) -> bool:
        """Whether lists, resyncs and bookmarks are one delta each."""
        return self._known is None

    def add(self, subject: JSONObject) -> None:
        """An object appeared."""
        self._append(DeltaType.ADDED, subject)

    def update(self, subject: JSONObject) -> None:
        """An object changed."""
        self._append(DeltaType.UPDATED, subject)

    def delete(self, subject: JSONObject | Tombstone) -> None:
        """An object is gone; queued and delivered even if nobody has heard of it."""
        self._append(DeltaType.DELETED, subject)

    def replace(self, subjects: Sequence[JSONObject], resource_version: str) -> None:
        """These are all objects that there are."""
        self._received += 1
        if self._known is None:
            listed = tuple(self._replaced(subject) for subject in subjects)
            whole = Delta(DeltaType.REPLACED_ALL, objects=listed, resource_version=resource_version)
            self._items.append(whole)
        else:
            self._replace_each(self._known, subjects)
        if not self._populated:
            self._populated = True
            self._initial = len(self._items)
        self._grown()

    def resync(self) -> None:
        """Tell of everything stored once more; without `atomic` not of what has deltas queued."""
        self._received += 1
        if self._known is None:
            self._items.append(Delta(DeltaType.SYNC_ALL))
        else:
            queued = {delta.key for delta in self._items}
            for key in self._known.keys():  # noqa: SIM118 -- not a dict
                stored = self._known.get_by_key(key)
                if key not in queued and stored is not None:
                    self._items.append(Delta(DeltaType.SYNC, key, stored))
        self._grown()

    def bookmark(self, resource_version: str) -> None:
        """Nothing changed up to this resourceVersion; kept only if atomic."""
        self._received += 1
        if self._known is None:
            self._items.append(Delta(DeltaType.BOOKMARK, resource_version=resource_version))
            self._grown()

    async def pop(self, process: Process) -> None:
        """Process exactly one delta, which is still queued as far as `has_synced` is concerned."""
        if not await self._wait_for_some():
            raise QueueClosedError
        self._process([self._items.popleft()], process)

    async def pop_batch(self, process: Process) -> None:
        """Process consecutive deltas of distinct keys, or one that concerns the whole store."""
        if not await self._wait_for_some():
            raise QueueClosedError
        self._process(self._take_batch(), process)

    def __len__(self) -> int:
        return len(self._items)

    def _append(self, kind: DeltaType, subject: JSONObject | Tombstone) -> None:
        self._received += 1
        key = self.key_of(subject)
        self._items.append(Delta(kind, key, self._transformed(kind, subject)))
        self._populated = True
        self._grown()

    def _replaced(self, subject: JSONObject) -> JSONObject:
        self.key_of(subject)  # refuses what has no key before anything is queued
        changed = self._transformed(DeltaType.REPLACED, subject)
        assert not isinstance(changed, Tombstone)
        return changed

    def _replace_each(self, known: KnownObjects, subjects: Sequence[JSONObject]) -> None:
        listed = [(self.key_of(subject), self._replaced(subject)) for subject in subjects]
        kept = {key for key, _ in listed}
        newest = {delta.key: delta for delta in self._items}
        gone: dict[str, JSONObject | None] = {}
        for key, delta in newest.items():
            if key not in kept and delta.type is not DeltaType.DELETED:
                last = delta.object
                gone[key] = last.object if isinstance(last, Tombstone) else last
        for key in known.keys():  # noqa: SIM118 -- not a dict
            if key not in kept and key not in newest:
                gone[key] = known.get_by_key(key)
        for key, last_state in gone.items():
            self._items.append(Delta(DeltaType.DELETED, key, Tombstone(key, last_state)))
        self._items.extend(Delta(DeltaType.REPLACED, key, subject) for key, subject in listed)

    def _take_batch(self) -> list[Delta]:
        initial = not self.has_synced
        most = min(self._batch, self._initial) if initial else self._batch
        batch: list[Delta] = []
        keys: set[str] = set()
        while self._items and len(batch) < most:
            delta = self._items[0]
            if delta.type in UNBATCHABLE:
                if not batch:
                    batch.append(self._items.popleft())
                break
            if delta.key in keys:
                break
            batch.append(self._items.popleft())
            keys.add(delta.key)
            if not self._has_key(delta):
                break  # it is taken out, or it would block the queue for ever
        return batch

    def _has_key(self, delta: Delta) -> bool:
        # A transform may have taken the metadata away, from which the store computes the key.
        if delta.object is None:
            return False
        try:
            self.key_of(delta.object)
        except InvalidObjectError:
            return False
        return True

    def _process(self, batch: list[Delta], process: Process) -> None:
        initial = not self.has_synced
        try:
            process(batch, initial)
        finally:
            if self._initial:
                self._initial -= len(batch)
            self._shrunk(len(batch))
            self._look_synced()
