"""All Cachers of a process, and how far they have come together.

Fed by `changefeed.pump` alone; `registry` asks for the Cacher of a resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from listwatch.protocol.clock import Clock
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.versions import Version
from listwatch.watchcache.cacher import Cacher
from listwatch.watchcache.history import HistoryReader
from listwatch.watchcache.observer import NullObserver, Observer
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.statistics import CacherStatistics
from listwatch.watchcache.timers import TimerWheel

Filling = tuple[Sequence[Version], Sequence[Version]]  # objects now, and the events since floor


class Caches:
    """One Cacher a resource, made on demand, all at the same revision.

    Promises that whatever is seen in one event-loop step is the state of all resources at
    `progress.applied`: `apply` and `advance` are called together, without an await between.
    """

    def __init__(
        self,
        progress: Progress,
        *,
        history: HistoryReader,
        clock: Clock,
        options: CacheOptions | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.progress = progress
        self._history = history
        self._clock = clock
        self._options = options or CacheOptions()
        self._observer: Observer = observer or NullObserver()
        self._wheel = TimerWheel(clock)  # one for the watches of all resources
        self._cachers: dict[GroupResource, Cacher] = {}
        self._floor: int | None = None

    def cacher(self, group_resource: GroupResource) -> Cacher:
        """The Cacher of a resource; one that nothing was ever written to has an empty one."""
        cacher = self._cachers.get(group_resource)
        if cacher is None:
            cacher = self._cachers[group_resource] = Cacher(
                group_resource,
                self.progress,
                history=self._history,
                clock=self._clock,
                options=self._options,
                observer=self._observer,
                wheel=self._wheel,
            )
            if self._floor is not None:
                cacher.fill((), (), self._floor)
        return cacher

    def cachers(self) -> dict[GroupResource, Cacher]:
        """All that there are, by resource."""
        return dict(self._cachers)

    def fill(self, revision: int, floor: int, fillings: Mapping[GroupResource, Filling]) -> None:
        """Begin, or begin anew, at a revision; the rings go back to `floor`.

        A resource that is not among `fillings` has no objects and no events since the floor.
        Watches that are still open end as `history lost`.
        """
        self._floor = floor
        for group_resource in {**self._cachers, **fillings}:
            versions, history = fillings.get(group_resource, ((), ()))
            self.cacher(group_resource).fill(versions, history, floor)
        self.progress.advance(revision)

    def apply(self, group_resource: GroupResource, event: Version) -> None:
        """The next event; `advance` to its revision must follow in the same step."""
        self.cacher(group_resource).apply(event)

    def advance(self, revision: int) -> None:
        """Everything up to this revision is applied."""
        self.progress.advance(revision)

    def end_watches(self, reason: EndReason) -> None:
        """End all watches of all resources at once."""
        for cacher in self._cachers.values():
            cacher.end_watches(reason)

    def statistics(self) -> dict[GroupResource, CacherStatistics]:
        """All caches as they are now."""
        return {key: cacher.statistics() for key, cacher in self._cachers.items()}
