"""The cache of an informer: objects by key and by custom indexes, read from any thread.

Written by `delta_consumer` before anybody is notified; read by `lister` and by controllers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from listwatch.informer.deltas import DeltaType
from listwatch.informer.indices import IndexFunction, Indices
from listwatch.informer.objects import (
    JSONObject,
    JSONObjects,
    KeyFunction,
    Tombstone,
    object_key,
    resource_version,
)

Strings = list[str]  # in the class below `list` is a method


@dataclass(frozen=True, slots=True)
class Operation:
    """One write of a transaction: ADDED and UPDATED put the object, DELETED takes it away."""

    type: DeltaType
    object: JSONObject | Tombstone


class TransactionError(Exception):
    """Some operations failed; `successful` are the indexes of those that are in the store."""

    def __init__(self, successful: Sequence[int], errors: Sequence[Exception]) -> None:
        super().__init__(f"{len(errors)} operations failed, the first by {errors[0]}")
        self.successful = tuple(successful)
        self.errors = tuple(errors)


@dataclass(frozen=True, slots=True)
class IndexerStatistics:
    """An indexer at one moment."""

    objects: int  # stored
    writes: int  # adds, updates, deletes and replaces so far
    index_values: dict[str, int]  # distinct values of each index
    index_faults: int  # times that an index function raised
    resource_version: str  # of the last write, replace or bookmark


class Indexer:
    """Objects by key. Every call is one consistent snapshot; two calls are not.

    What it returns are the stored objects: nobody may change them. `resource_version` is that of
    the last write, not the greatest; the same resource of one server only moves forward anyway.
    """

    def __init__(
        self,
        indexers: Mapping[str, IndexFunction] | None = None,
        *,
        key: KeyFunction = object_key,
    ) -> None:
        self._key = key
        self._lock = threading.RLock()
        self._objects: dict[str, JSONObject] = {}
        self._indices = Indices()
        self._indices.add_functions(indexers or {}, {})
        self._resource_version = ""
        self._writes = 0

    def key_of(self, subject: JSONObject | Tombstone) -> str:
        """The key of an object, or the one a tombstone carries."""
        return subject.key if isinstance(subject, Tombstone) else self._key(subject)

    # Writing

    def add(self, subject: JSONObject) -> None:
        """Store an object in place of whatever has its key."""
        key = self._key(subject)
        with self._lock:
            self._put(key, subject)

    update = add

    def delete(self, subject: JSONObject | Tombstone) -> None:
        """Forget what has the key of this object; nothing if there is none."""
        key = self.key_of(subject)
        with self._lock:
            self._remove(key, subject)

    def replace(self, subjects: Iterable[JSONObject], resource_version: str) -> None:
        """Store these objects and no others."""
        fresh = {self._key(subject): subject for subject in subjects}
        with self._lock:
            for key in self._objects.keys() - fresh.keys():
                self._indices.remove(key)
            self._objects = fresh
            for key, subject in fresh.items():
                self._indices.put(key, subject)
            self._resource_version = resource_version
            self._writes += 1

    def bookmark(self, resource_version: str) -> None:
        """The objects are those of this resourceVersion, too."""
        with self._lock:
            self._resource_version = resource_version

    def transaction(self, operations: Sequence[Operation]) -> None:
        """Do all of these under one lock; raises TransactionError, which says what was done."""
        done: list[int] = []
        errors: list[Exception] = []
        with self._lock:
            for index, operation in enumerate(operations):
                subject = operation.object
                try:
                    key = self.key_of(subject)
                except ValueError as error:
                    errors.append(error)
                    continue
                if operation.type is DeltaType.DELETED or isinstance(subject, Tombstone):
                    self._remove(key, subject)
                else:
                    self._put(key, subject)
                done.append(index)
        if errors:
            raise TransactionError(done, errors)

    def add_indexers(self, indexers: Mapping[str, IndexFunction]) -> None:
        """Add indexes, filled at once; raises ValueError for a name that is taken."""
        with self._lock:
            self._indices.add_functions(indexers, self._objects)

    # Reading

    @property
    def resource_version(self) -> str:
        """How new the store is: '' before its first write."""
        return self._resource_version

    @property
    def indexers(self) -> dict[str, IndexFunction]:
        """The index functions by their names."""
        with self._lock:
            return dict(self._indices.functions)

    def get(self, subject: JSONObject) -> JSONObject | None:
        """The stored object that has the key of this one."""
        return self.get_by_key(self._key(subject))

    def get_by_key(self, key: str) -> JSONObject | None:
        """The stored object, None if there is none."""
        return self._objects.get(key)  # one look into a dict is one step for all threads

    def list(self) -> JSONObjects:
        """All objects, in no order that counts."""
        with self._lock:
            return list(self._objects.values())

    def keys(self) -> Strings:
        """The keys of all objects."""
        with self._lock:
            return list(self._objects)

    def index(self, name: str, subject: JSONObject) -> JSONObjects:
        """The objects that share a value with this one; raises UnknownIndexError."""
        with self._lock:
            return [self._objects[key] for key in self._indices.keys_like(name, subject)]

    def by_index(self, name: str, value: str) -> JSONObjects:
        """The objects with this value; raises UnknownIndexError."""
        with self._lock:
            return [self._objects[key] for key in self._indices.keys(name, value)]

    def index_keys(self, name: str, value: str) -> Strings:
        """The keys with this value, sorted; raises UnknownIndexError."""
        with self._lock:
            return sorted(self._indices.keys(name, value))

    def index_values(self, name: str) -> Strings:
        """The values that an index has now; none for an index nobody added."""
        with self._lock:
            return self._indices.values(name)

    def statistics(self) -> IndexerStatistics:
        """A record of now."""
        with self._lock:
            return IndexerStatistics(
                len(self._objects),
                self._writes,
                self._indices.sizes(),
                self._indices.faults,
                self._resource_version,
            )

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, key: str) -> bool:
        return key in self._objects

    def _put(self, key: str, subject: JSONObject) -> None:
        self._objects[key] = subject
        self._indices.put(key, subject)
        self._moved(subject)

    def _remove(self, key: str, subject: JSONObject | Tombstone) -> None:
        if self._objects.pop(key, None) is not None:
            self._indices.remove(key)
        self._moved(subject)

    def _moved(self, subject: JSONObject | Tombstone) -> None:
        self._writes += 1
        # A tombstone's object is of some earlier time: it says nothing on how new the store is.
        version = "" if isinstance(subject, Tombstone) else resource_version(subject)
        if version:
            self._resource_version = version
