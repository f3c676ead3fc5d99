"""Sorted keys in chunks: in order for lists, cheap to insert anywhere.

`list.insert` moves everything behind it: in the middle of 100,000 keys that is 15 us and grows
with their number, against about 1 us here (tests/benchmarks/bench_watchcache_keys.py).
`versions` keeps the keys of its objects in this.
"""

from __future__ import annotations

from bisect import bisect_left, insort

_LOAD = 1000  # a chunk is split when it has twice as many


class SortedKeys:
    """Distinct strings in the order of their code points, which is the byte order of UTF-8."""

    __slots__ = ("_chunks", "_lasts", "_length")

    def __init__(self, keys: list[str] | None = None) -> None:
        ordered = sorted(keys or ())
        self._chunks = [ordered[i : i + _LOAD] for i in range(0, len(ordered), _LOAD)]
        self._lasts = [chunk[-1] for chunk in self._chunks]
        self._length = len(ordered)

    def __len__(self) -> int:
        return self._length

    def add(self, key: str) -> None:
        """Put in a key that is not there yet."""
        self._length += 1
        if not self._chunks:
            self._chunks.append([key])
            self._lasts.append(key)
            return
        at = min(bisect_left(self._lasts, key), len(self._chunks) - 1)
        chunk = self._chunks[at]
        insort(chunk, key)
        if len(chunk) >= 2 * _LOAD:
            self._chunks.insert(at + 1, chunk[_LOAD:])
            self._lasts.insert(at + 1, chunk[-1])
            del chunk[_LOAD:]
        self._lasts[at] = chunk[-1]

    def remove(self, key: str) -> None:
        """Take out a key that is there."""
        at = bisect_left(self._lasts, key)
        chunk = self._chunks[at]
        del chunk[bisect_left(chunk, key)]
        self._length -= 1
        if chunk:
            self._lasts[at] = chunk[-1]
        else:
            del self._chunks[at], self._lasts[at]

    def range(self, low: str = "", high: str = "") -> list[str]:
        """A new list of the keys with low <= key < high; '' is no bound."""
        chunks = self._chunks
        first = bisect_left(self._lasts, low) if low else 0
        last = bisect_left(self._lasts, high) if high else len(chunks)
        found: list[str] = []
        for chunk in chunks[first : last + 1]:
            found += chunk
        end = bisect_left(found, high) if high else len(found)
        return found[bisect_left(found, low) if low else 0 : end]
