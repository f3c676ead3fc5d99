"""All lanes of one resource: an event comes in once, and stands in the lanes of those it concerns.

Fed by `cacher`. Watchers with the same namespace, name, selector and representation share a `lane`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from listwatch.protocol.clock import Clock
from listwatch.protocol.events import EndReason
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.flushing import Flusher
from listwatch.watchcache.lane import Entry, Lane, LaneKey
from listwatch.watchcache.lane_index import LaneIndex
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.ring import Ring
from listwatch.watchcache.verdicts import Predicate, content

_numbers = itertools.count(1)  # lanes are told apart across resources


class Offer(NamedTuple):
    """What became of an event among the lanes."""

    lanes: Sequence[Lane]  # that it stands in now
    asked: int  # lanes that the index had asked
    open: int  # lanes there were


class Lanes:
    """Offers each event to the lanes it concerns.

    Promises that an event is in every lane whose selector matches it before or after, or in none
    yet: `offer` does not await. Readers see it with the next flush.
    """

    def __init__(self, ring: Ring, clock: Clock, options: CacheOptions) -> None:
        self._ring = ring
        self._options = options
        self._lanes: dict[LaneKey, Lane] = {}
        self._predicates: dict[Selector, Predicate] = {}
        self._index = LaneIndex()
        self._flusher = Flusher(clock, options.flush_interval, options.flush_interval_busy)
        self.hits = 0
        self.spared = 0
        self._evaluations = 0  # of selectors that are gone, and likewise:
        self._encodings = 0
        self._flushes = 0

    def __len__(self) -> int:
        return len(self._lanes)

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    @property
    def selectors(self) -> int:
        """How many distinct selectors there are."""
        return len(self._predicates)

    @property
    def evaluations(self) -> int:
        """Times that a selector was asked about an event."""
        return self._evaluations + sum(p.evaluations for p in self._predicates.values())

    @property
    def encodings(self) -> int:
        """Frames that were made."""
        return self._encodings + sum(lane.encodings for lane in self._lanes.values())

    @property
    def flushes(self) -> int:
        """Times that a lane's watchers were woken."""
        return self._flushes + sum(lane.flushes for lane in self._lanes.values())

    def open(self, key: LaneKey) -> Lane:
        """The lane for that key, made if there is none; stays while it has watchers."""
        lane = self._lanes.get(key)
        if lane is None:
            selector = key[2]
            predicate = self._predicates.get(selector)
            if predicate is None:
                predicate = self._predicates[selector] = Predicate(selector)
            predicate.lanes += 1
            lane = Lane(next(_numbers), key, predicate, self._options.chunk_bytes)
            self._lanes[key] = lane
            self._index.add(lane)
        return lane

    def close_if_empty(self, lane: Lane) -> None:
        """The lane goes if nobody watches it any more."""
        if lane.watchers or self._lanes.get(lane.key) is not lane:
            return
        del self._lanes[lane.key]
        self._index.remove(lane)
        self._encodings += lane.encodings
        self._flushes += lane.flushes
        lane.predicate.lanes -= 1
        if not lane.predicate.lanes:
            self._evaluations += lane.predicate.evaluations
            del self._predicates[lane.selector]

    def offer(self, event: Version) -> Offer:
        """Put the newest event into the lanes that it concerns."""
        asked = self._index.find(event)
        self.hits += len(asked)
        self.spared += len(self._lanes) - len(asked)
        concerned = []
        for lane in asked:
            verdict = lane.predicate.verdict(event)
            if verdict is not None:
                lane.append(Entry(verdict, event, content(verdict, event, event.previous)))
                concerned.append(lane)
        for lane in concerned:
            if lane.end - lane.start > 1:
                self.trim(lane)
            self._flusher.touch(lane)
        return Offer(concerned, len(asked), len(self._lanes))

    def candidates(self, event: Version) -> set[Lane]:
        """The lanes that the index would have asked about an event of the ring."""
        return set(self._index.find(event))

    def trim(self, lane: Lane) -> None:
        """Cut a lane's window where the ring ends; watchers that it has moved past end."""
        for watcher in lane.trim(self._ring.floor):
            watcher.close(EndReason.TOO_SLOW)
