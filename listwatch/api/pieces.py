"""Lists as they were sent before: runs of items, already joined.

Most of a long list is the same from one request to the next, and joining 20 MB takes more time
than all else about it. So a list is cut into runs wherever the keys say (not at every hundredth
item: then one insertion would move all cuts behind it), and each run is joined once, for as long
as it consists of the very same versions. `forms` sends the runs one by one.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.objects import splice_item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from listwatch.protocol.versions import Version

PIECE_BYTES = 128 * 1024  # of a run, about: longer ones are no faster and hold up watches
CACHE_BYTES = 64 * 1024 * 1024  # of all runs: as much as one ring may hold
_LONGEST = 4  # times the usual number of items, where the keys make no cut
_LISTS = 8  # whole lists whose cuts are remembered: the resources that are listed in a loop


@dataclass(frozen=True, slots=True)
class PiecesStatistics:
    """One look at the joined runs."""

    pieces: int  # kept now
    bytes: int  # of them
    found: int  # asked for and kept already, since the start
    made: int  # joined since the start


def _item(version: Version) -> bytes:
    return splice_item(version.encoded, version.revision)


class Pieces:
    """Runs of items by the versions they consist of, the least recently used dropped first.

    Can never be stale: a run is found only by the identity of all its versions, which are
    immutable. Belongs to one event loop.
    """

    def __init__(self, maximum: int = CACHE_BYTES) -> None:
        self._maximum = maximum
        self._kept: OrderedDict[tuple[int, int], tuple[Sequence[Version], bytes]] = OrderedDict()
        self._cut: OrderedDict[int, tuple[Sequence[Version], list[Sequence[Version]]]]
        self._cut = OrderedDict()  # the latest whole lists, by identity: where they were cut
        self._bytes = self._found = self._made = 0

    def of(
        self, versions: Sequence[Version], item: Callable[[Version], bytes] = _item
    ) -> Iterator[bytes]:
        """The items of a list in pieces, each item with a comma before it.

        A version must be written by the same `item` each time.
        """
        usual = _usual(versions)
        if usual >= len(versions):
            yield b",".join((b"", *map(item, versions)))
            return
        for run in self._runs(versions, usual):
            yield self._piece(run, item)

    def statistics(self) -> PiecesStatistics:
        """One look."""
        return PiecesStatistics(len(self._kept), self._bytes, self._found, self._made)

    def _runs(self, versions: Sequence[Version], usual: int) -> Iterable[Sequence[Version]]:
        # Only what cannot change is known again by its identity.
        if not isinstance(versions, tuple):
            return _runs(versions, usual)
        kept = self._cut.get(id(versions))
        if kept is not None:
            self._cut.move_to_end(id(versions))
            return kept[1]
        runs = list(_runs(versions, usual))
        self._cut[id(versions)] = (versions, runs)  # kept alive: no other gets its identity
        if len(self._cut) > _LISTS:
            self._cut.popitem(last=False)
        return runs

    def _piece(self, run: Sequence[Version], item: Callable[[Version], bytes]) -> bytes:
        # The kept versions are alive, so that no other one has their id.
        name = (id(run[0]), id(run[-1]))
        kept = self._kept.get(name)
        if kept is not None and kept[0] == run:
            self._kept.move_to_end(name)
            self._found += 1
            return kept[1]
        piece = b",".join((b"", *map(item, run)))
        self._made += 1
        if kept is not None:
            self._bytes -= len(kept[1])
        self._kept[name] = (run, piece)
        self._kept.move_to_end(name)
        self._bytes += len(piece)
        while self._bytes > self._maximum:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._bytes -= len(dropped)
        return piece


def _runs(versions: Sequence[Version], usual: int) -> Iterator[Sequence[Version]]:
    mask, longest = usual - 1, usual * _LONGEST
    start = 0
    for end, version in enumerate(versions, 1):
        if not hash(version.key) & mask or end - start == longest:
            yield versions[start:end]
            start = end
    if start < len(versions):
        yield versions[start:]


def _usual(versions: Sequence[Version]) -> int:
    """How many items make a piece: a power of two, so that it seldom changes.

    The first few stand for all: the objects of a resource are of about one size.
    """
    sample = versions[:8]
    average = sum(len(version.encoded.body) for version in sample) // max(len(sample), 1)
    return 1 << max(PIECE_BYTES // max(average, 1), 1).bit_length() - 1
