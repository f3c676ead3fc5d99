"""Deltas: what happened to one object or to all, on their way from a reflector to a cache.

Both queues (`in_order_fifo`, `delta_fifo`) hold them; `delta_consumer` applies them to the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from listwatch.informer.objects import JSONObject, Tombstone


class DeltaType(StrEnum):
    """What a delta tells. Whether it is an add or an update is for the store to say."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"  # one object of a list: whether it changed is unknown
    SYNC = "Sync"  # the stored object once more
    REPLACED_ALL = "ReplacedAll"  # a whole list and its resourceVersion
    SYNC_ALL = "SyncAll"  # all stored objects once more
    BOOKMARK = "Bookmark"  # the resourceVersion has moved, nothing else


UNBATCHABLE = frozenset({DeltaType.REPLACED_ALL, DeltaType.SYNC_ALL, DeltaType.BOOKMARK})


class Delta(NamedTuple):
    """One of them; `objects` and `resource_version` are for those that concern the whole store."""

    type: DeltaType
    key: str = ""
    object: JSONObject | Tombstone | None = None
    objects: tuple[JSONObject, ...] = ()
    resource_version: str = ""


Process = Callable[[Sequence[Delta], bool], None]
"""Takes popped deltas, and whether they belong to the first list; does not await."""


class KnownObjects(Protocol):
    """What a queue asks of the store behind it to find deletions."""

    def keys(self) -> list[str]:
        """The keys of all stored objects."""

    def get_by_key(self, key: str) -> JSONObject | None:
        """The stored object."""


class DeltaQueue(Protocol):
    """What a reflector fills and one consumer empties; all in one event loop.

    Filling never awaits and never blocks. A key or a transform that fails raises, and stores
    nothing of that call.
    """

    @property
    def has_synced(self) -> bool:
        """Whether all of the first list was popped and processed; once true it stays so."""

    def add(self, subject: JSONObject) -> None:
        """An object appeared."""

    def update(self, subject: JSONObject) -> None:
        """An object changed."""

    def delete(self, subject: JSONObject | Tombstone) -> None:
        """An object is gone; the last state carries the resourceVersion of its deletion."""

    def replace(self, subjects: Sequence[JSONObject], resource_version: str) -> None:
        """These are all objects that there are; what else was known is gone."""

    def resync(self) -> None:
        """Tell of everything stored once more."""

    def bookmark(self, resource_version: str) -> None:
        """Nothing changed up to this resourceVersion."""

    def close(self) -> None:
        """Release those who pop; what is queued is still popped first."""

    async def pop(self, process: Process) -> None:
        """Wait for what is next and process it; raises QueueClosedError when closed and empty."""

    async def room(self) -> None:
        """Wait until the queue is short enough to read on from the stream."""

    def __len__(self) -> int:
        """What waits: keys or deltas, depending on the queue."""

    def statistics(self) -> QueueStatistics:
        """A record of now."""


class QueueClosedError(Exception):
    """The queue was closed, and nothing is left in it."""


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    """A delta queue at one moment."""

    queued: int  # deltas, or keys, that wait
    peak: int  # the most that ever waited
    received: int  # calls of add, update, delete, replace, resync and bookmark
    popped: int  # deltas given to the consumer
    synced: bool  # the first list was processed
