"""The states that lists in pages are working through, so that a page costs no more than its items.

`lists` makes an array for the first page of a revision and finds it again for the later ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from listwatch.protocol.versions import Version


class Pages:
    """Arrays of references by (revision of the state, namespace); the least used go first.

    Bounded by the number of references. An array is dropped as soon as the ring's floor passes
    its revision: until then the ring keeps every version in it alive anyway, so that an array
    costs 8 bytes an object and no body. Later pages then come from the log.
    """

    def __init__(self, references: int) -> None:
        self._references = references
        self._arrays: OrderedDict[tuple[int, str], Sequence[Version]] = OrderedDict()
        self._oldest = 0  # no array has a lower revision
        self.held = 0  # references in all arrays

    def __len__(self) -> int:
        return len(self._arrays)

    def get(self, revision: int, namespace: str) -> Sequence[Version] | None:
        """The array of that state, if it is kept."""
        array = self._arrays.get((revision, namespace))
        if array is not None:
            self._arrays.move_to_end((revision, namespace))
        return array

    def keep(self, revision: int, namespace: str, array: Sequence[Version]) -> None:
        """Keep an array that nobody will change."""
        if not self._arrays or revision < self._oldest:
            self._oldest = revision
        self._arrays[revision, namespace] = array
        self.held += len(array)
        while self.held > self._references and len(self._arrays) > 1:
            self.held -= len(self._arrays.popitem(last=False)[1])

    def drop_below(self, floor: int) -> None:
        """The ring has moved on: states below its floor go."""
        if not self._arrays or self._oldest >= floor:
            return
        for key in [key for key in self._arrays if key[0] < floor]:
            self.held -= len(self._arrays.pop(key))
        self._oldest = min((revision for revision, _ in self._arrays), default=floor)

    def clear(self) -> None:
        """Drop all."""
        self._arrays.clear()
        self.held = 0
