"""One resource's cache: fed event by event, asked for objects, lists and watches.

Fed by `changefeed` through `caches`. What it answers goes to `registry`; what a watch sends, from
its `watcher` to `api.watch`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

from listwatch.protocol.clock import Clock
from listwatch.protocol.errors import (
    StatusError,
    too_many_requests,
    too_old_resource_version,
)
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import key_of
from listwatch.protocol.selectors import EVERYTHING, Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache import explaining, inspection
from listwatch.watchcache import transitions as judging
from listwatch.watchcache.backlog import in_scope, of_events, of_state
from listwatch.watchcache.history import HistoryReader
from listwatch.watchcache.lanes import Lanes
from listwatch.watchcache.lists import Lists
from listwatch.watchcache.observer import NullObserver, Observer
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import ListRequest, ListResult, WatchRequest, scope
from listwatch.watchcache.ring import Ring
from listwatch.watchcache.statistics import (
    CacherStatistics,
    Explanation,
    Journey,
    LaneJudgement,
    LaneStatistics,
    RingMark,
    RingSlot,
    Transition,
    WatcherStatistics,
)
from listwatch.watchcache.timers import TimerWheel
from listwatch.watchcache.versions import Versions
from listwatch.watchcache.watcher import CacheWatcher


class Cacher:
    """All objects of one resource, its recent history, and the watches that follow it.

    Promises, for a watch from revision R and a list at R: the list and the events behind R in
    their order make the state at every later revision that the watch has reached; what cannot be
    served whole is refused or ended by name. Holds as long as `apply` is called for every event of
    the resource in revision order, and `progress` advances in the same step. Owned by one loop.
    """

    def __init__(
        self,
        group_resource: GroupResource,
        progress: Progress,
        *,
        history: HistoryReader,
        clock: Clock,
        options: CacheOptions | None = None,
        observer: Observer | None = None,
        wheel: TimerWheel | None = None,
    ) -> None:
        self.group_resource = group_resource
        self.progress = progress
        self.history = history
        self.clock = clock
        self.options = options or CacheOptions()
        self.observer: Observer = observer or NullObserver()
        self.ready = False
        self.oldest = 0  # what happened before was under another definition
        self.received = 0
        self.counts: Counter[str] = Counter()
        self.ends: Counter[EndReason] = Counter()
        self._wheel = wheel or TimerWheel(clock)
        self._watchers: dict[CacheWatcher, None] = {}
        self._ended: deque[WatcherStatistics] = deque(maxlen=self.options.ended_watches)
        self._reset((), 0)

    def _reset(self, objects: Iterable[Version], floor: int) -> None:
        self.versions = Versions(objects)
        self.ring = Ring(self.options, floor)
        self.lanes = Lanes(self.ring, self.clock, self.options)
        self.lists = Lists(
            self.group_resource,
            self.versions,
            self.ring,
            self.history,
            self.clock,
            self.options,
        )

    @property
    def floor(self) -> int:
        """The oldest revision from which a watch, and at which a list, needs no log."""
        return self.ring.floor

    def fill(self, versions: Iterable[Version], history: Sequence[Version], floor: int) -> None:
        """Begin with these objects, and with the events that led to them in the ring.

        `history` is every event of the resource with revision > `floor`, in order, each with its
        `previous`. Watches that are still open end as `history lost`. Called by `caches` alone.
        """
        self.end_watches(EndReason.HISTORY_LOST)
        first: dict[str, Version | None] = {}
        for event in history:
            first.setdefault(event.key, event.previous)
        # Go back to the floor, then let every event happen again.
        objects = [version for version in versions if version.key not in first]
        objects += [version for version in first.values() if version is not None]
        for version in objects:
            version.previous = None
        self._reset((version for version in objects if not version.deleted), floor)
        now, wall = self.clock.monotonic(), self.clock.now()
        for event in history:
            event.received_at = event.committed_at
            self._take(event, now - max(wall - event.committed_at, 0.0))
        self.ready = True

    def redefine(self, renew: Callable[[Version], Version], *, anew: bool = False) -> None:
        """The objects are another kind from now on: `renew` makes each of them what it is now.

        Ends all watches as `definition changed`. Where an object has changed by it, or with
        `anew`, nobody can follow from before: that is answered with 410. Never awaits.
        """
        for watcher in self.watchers():
            watcher.finish(EndReason.DEFINITION_CHANGED)
        if not self.ready:
            return
        objects = self.versions.live()
        renewed = [renew(version) for version in objects]
        if anew or any(new is not old for new, old in zip(renewed, objects, strict=True)):
            for version in renewed:
                version.previous = None
            self._reset(renewed, self.progress.applied)
            self.oldest = self.progress.applied

    def apply(self, event: Version) -> None:
        """Take the next event of this resource; `previous` is set here. Never awaits.

        Its revision becomes visible with `progress.advance`, in the same step of the loop.
        """
        newest = self.ring.newest
        if event.revision <= max(self.progress.applied, newest.revision if newest else 0):
            raise ValueError(f"{event} comes too late for the cache of {self.group_resource}")
        event.received_at = self.clock.now()
        self._take(event, self.clock.monotonic())
        self.received += 1
        self.lists.pages.drop_below(self.floor)
        self.observer.received(self.group_resource, event)
        self.observer.offered(self.group_resource, event, self.lanes.offer(event))

    def get(self, namespace: str, name: str) -> Version | None:
        """The object as it is now."""
        self._require_ready()
        return self.versions.get(key_of(namespace, name))

    def list(self, request: ListRequest) -> ListResult:
        """The objects as they are now, under the revision that all caches are at."""
        self._require_ready()
        return self.lists.now(request, self.progress.applied)

    async def list_at(self, revision: int, request: ListRequest) -> ListResult:
        """The objects as they stood at a revision, from ring or log.

        Waits for one yet to come; raises 504 if it does not, 410 if nothing holds it any more.
        """
        self._require_ready()
        await self.progress.wait_until(revision, self.options.freshness_timeout)
        return await self.lists.at(request, revision, self.progress.applied)

    async def watch(self, request: WatchRequest) -> CacheWatcher:
        """Open a watch; it begins exactly where it was asked to.

        A start that cannot be served gives a watch whose only frame is the ERROR. Raises 429
        while the cache is not filled. The caller closes it when the client leaves.
        """
        self._require_ready()
        watcher = CacheWatcher(request, self)
        revision = request.revision
        if request.timeout is not None and request.timeout <= 0:
            watcher.close(EndReason.DEADLINE_REACHED)
        elif request.initial_events:
            try:
                await self.progress.wait_until(revision or 0, self.options.freshness_timeout)
            except StatusError as too_large:
                watcher.refuse(too_large, EndReason.NOT_REACHED)
            else:
                self._begin_with_state(watcher)
        elif revision is None:
            self.join(watcher, self.progress.applied)
        elif revision >= self.floor:
            self.join(watcher, revision)
        else:
            oldest = max(await self.history.compacted(), self.oldest)
            if revision < oldest and revision < self.floor:
                self.counts["too_old"] += 1
                error = too_old_resource_version(revision, min(oldest, self.floor))
                watcher.refuse(error, EndReason.HISTORY_LOST)
            else:
                self.counts["watches_from_log"] += 1
                watcher.start_from_log(revision)
        if watcher.end_reason is None:
            self._watchers[watcher] = None
            self.schedule(watcher)
        return watcher

    def _begin_with_state(self, watcher: CacheWatcher) -> None:
        # No await in here: the state at A and the events behind A must meet.
        request, applied = watcher.request, self.progress.applied
        namespace, name = scope(request.namespace, request.name, request.selector)
        objects = self.lists.narrowed(namespace, name, request.selector)
        watcher.start_from_state(applied, of_state(objects, request.selector))
        self.join(watcher, applied)

    def join(self, watcher: CacheWatcher, after: int) -> None:
        """Let a watch go live behind a revision not below `floor`. Never awaits."""
        request = watcher.request
        namespace, name = scope(request.namespace, request.name, request.selector)
        events = in_scope(self.ring.after(after), namespace, name)
        before = [event.previous for event in events]
        backlog = of_events(events, before, request.selector) if events else None
        lane = self.lanes.open((namespace, name, request.selector, request.representation))
        watcher.start_live(lane, after, backlog)

    def schedule(self, watcher: CacheWatcher) -> None:
        """Let the timer wheel call a watch when it is next due."""
        soon = self.clock.monotonic() + self.options.slow_reader_timeout / 4
        watcher.tick = self._wheel.add(min(watcher.schedule.next, soon), watcher)

    def left(self, watcher: CacheWatcher) -> None:
        """A watch has ended; it tells so itself."""
        reason = watcher.end_reason
        assert reason is not None
        self._wheel.remove(watcher.tick, watcher)
        self._watchers.pop(watcher, None)
        self.ends[reason] += 1
        self.counts["frames"] += watcher.frames
        self.counts["bytes"] += watcher.bytes
        self._ended.append(watcher.statistics())
        if watcher.lane is not None:
            watcher.lane.leave(watcher, watcher.cursor)
            self.lanes.close_if_empty(watcher.lane)
        self.observer.ended(watcher, reason)

    def end_watches(self, reason: EndReason) -> None:
        """End all watches at once; each is told so."""
        for watcher in self.watchers():
            watcher.close(reason)

    def watchers(self) -> Sequence[CacheWatcher]:
        """The open watches, oldest first."""
        return tuple(self._watchers)

    def ended(self) -> Sequence[WatcherStatistics]:
        """The watches that have ended lately, oldest first."""
        return tuple(self._ended)

    def lane_statistics(self) -> Sequence[LaneStatistics]:
        """The lanes as they are now."""
        return tuple(lane.statistics() for lane in self.lanes)

    def statistics(self) -> CacherStatistics:
        """The cache as it is now."""
        return inspection.statistics(self)

    def ring_slots(self, first: int | None = None, limit: int = 200) -> Sequence[RingSlot]:
        """Up to `limit` events of the ring from index `first` on; by default the newest ones."""
        return inspection.ring_slots(self, first, limit)

    def ring_outline(self, first: int, limit: int) -> Sequence[RingMark]:
        """Up to `limit` events of the ring from index `first` on, in outline."""
        return inspection.ring_outline(self, first, limit)

    async def explain(
        self, revision: int, *, namespace: str = "", selector: Selector = EVERYTHING
    ) -> Explanation:
        """What would become of a watch from this revision, and why."""
        return await explaining.explain(self, revision, namespace=namespace, selector=selector)

    def journey(self, revision: int) -> Journey | None:
        """Where an event has gone; None if it is not in the ring."""
        return inspection.journey(self, revision)

    def judgements(self, revision: int) -> Sequence[LaneJudgement]:
        """What each open lane makes of an event of the ring."""
        return judging.lane_judgements(self, revision)

    def transitions(
        self, watcher: WatcherStatistics, first: int | None = None, limit: int = 100
    ) -> Sequence[Transition]:
        """Up to `limit` events of the ring as a watch sees them: from an index on or the newest."""
        return judging.transitions(self, watcher, first, limit)

    def _take(self, event: Version, now: float) -> None:
        self.versions.put(event)
        for evicted in self.ring.append(event, now):
            self.versions.forget(evicted)

    def _require_ready(self) -> None:
        if not self.ready:
            raise too_many_requests("storage is (re)initializing", 1)
