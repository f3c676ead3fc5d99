"""The newest version of every object, and through `previous` all that the ring still needs.

`cacher` puts each event in; `lists` and the starts of watches take arrays of versions out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.sorted_keys import SortedKeys
from listwatch.watchcache.value_index import ValueIndex


class Versions:
    """All objects of one resource, in key order, now and at any revision the ring reaches.

    A deleted object stays as a tombstone until its deletion leaves the ring. Promises that the
    state at N is exact for every N from the ring's floor on, since a version loses `previous`
    only when its event leaves the ring. Arrays that come out never change; while nothing happens
    `live` gives the same one again, so that what was made of it can be found by its identity.
    """

    __slots__ = ("_keys", "_live", "_newest", "_tombstones", "index")

    def __init__(self, objects: Iterable[Version] = ()) -> None:
        self._newest = {version.key: version for version in objects}
        self._keys = SortedKeys(list(self._newest))
        self._tombstones = sum(version.deleted for version in self._newest.values())
        self.index = ValueIndex()
        self._live: dict[str, tuple[Version, ...]] = {}  # by namespace, since the last event

    def __len__(self) -> int:
        return len(self._newest) - self._tombstones

    @property
    def tombstones(self) -> int:
        """Deleted objects whose deletion is still in the ring."""
        return self._tombstones

    def newest(self, key: str) -> Version | None:
        """The newest version of an object, a tombstone if it was deleted lately."""
        return self._newest.get(key)

    def get(self, key: str) -> Version | None:
        """The object as it is now; None if there is none."""
        version = self._newest.get(key)
        return None if version is None or version.deleted else version

    def put(self, version: Version) -> None:
        """The newest version of its object, linked to the one before."""
        key = version.key
        if self._live:
            self._live.clear()
        previous = self._newest.get(key)
        if previous is None:
            self._keys.add(key)
        version.previous = previous
        self._newest[key] = version
        if previous is not None and previous.deleted:
            self._tombstones -= 1
            previous = None
        if version.deleted:
            self._tombstones += 1
        self.index.move(previous, None if version.deleted else version)

    def forget(self, evicted: Version) -> None:
        """An event has left the ring: if it is a deletion and still the newest, its key goes."""
        if evicted.deleted and self._newest.get(evicted.key) is evicted:
            del self._newest[evicted.key]
            self._keys.remove(evicted.key)
            self._tombstones -= 1

    def all(self) -> Iterator[Version]:
        """Every version that is still held, now and at earlier revisions, in no order."""
        for newest in self._newest.values():
            version: Version | None = newest
            while version is not None:
                yield version
                version = version.previous

    def live(self, namespace: str = "") -> tuple[Version, ...]:
        """The objects as they are now, in key order."""
        live = self._live.get(namespace)
        if live is None:
            live = tuple(map(self._newest.__getitem__, self._range(namespace)))
            if self._tombstones:
                live = tuple(version for version in live if not version.deleted)
            if live:  # a namespace without objects costs nothing, and there may be any number
                self._live[namespace] = live
        return live

    def narrowed(self, namespace: str, selector: Selector) -> Sequence[Version]:
        """As `live`, but it may leave out objects that the selector does not want."""
        keys = self.index.candidates(selector, self.live, len(self) // 4)
        if keys is None:
            return self.live(namespace)
        found = [self._newest[key] for key in sorted(keys)]
        if namespace:
            return [version for version in found if version.namespace == namespace]
        return found

    def at(self, revision: int, namespace: str = "") -> list[Version]:
        """The objects as they stood at a revision from the ring's floor on, in key order."""
        found = []
        for newest in map(self._newest.__getitem__, self._range(namespace)):
            version: Version | None = newest
            while version is not None and version.revision > revision:
                version = version.previous
            if version is not None and not version.deleted:
                found.append(version)
        return found

    def _range(self, namespace: str) -> list[str]:
        # In byte order the slash is followed by 0, so no other namespace lies between.
        return (
            self._keys.range(f"{namespace}/", f"{namespace}0") if namespace else self._keys.range()
        )
