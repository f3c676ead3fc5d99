"""The journeys of recent events, observed: from the commit to the cache, and on to each watcher.

An EventFlow is added to `runtime.observers` while a page shows it and removed when none does:
nothing is paid for otherwise. `subscriptions` takes what is new.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dashboard.agents import short_agent
from listwatch.watchcache.verdicts import change_type

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.events import EndReason
    from listwatch.protocol.kinds import GroupResource
    from listwatch.protocol.versions import Version
    from listwatch.watchcache.lanes import Offer
    from listwatch.watchcache.watcher import CacheWatcher

HELD = 200  # journeys kept: what a page shows
PER_SECOND = 20  # journeys begun a second at most: more nobody reads; the rest are counted
BURST = 50  # journeys begun at once at most
NAMES = 6  # clients named a journey; the rest are counted


class Journey:
    """One event on its way. Wall times in seconds; `sequence` grows with every change."""

    __slots__ = (
        "committed_at", "first_delivered_at", "group_resource", "key", "lanes", "last_delivered_at",
        "last_name", "names", "offered",
        "reached", "received_at", "revision", "sequence", "type",
    )  # fmt: skip

    def __init__(self, group_resource: GroupResource, event: Version, now: float) -> None:
        self.group_resource = group_resource
        self.revision = event.revision
        self.key = event.key
        self.type = change_type(event)
        self.committed_at = event.committed_at
        self.received_at = now
        self.lanes: set[int] = set()
        self.offered = 0  # watchers in these lanes
        self.reached = 0  # watchers that took it
        self.names: dict[str, int] = {}  # the first of these, and how often each
        self.first_delivered_at: float | None = None
        self.last_delivered_at: float | None = None
        self.last_name = ""
        self.sequence = 0


class EventFlow:
    """An observer that keeps the newest journeys, sampled when there are many.

    Promises bounded memory and, per call, work bounded by the journeys that a chunk can touch.
    `seen` counts every event, so that what sampling left out is known. Called in the event loop.
    """

    def __init__(self, clock: Clock, changed: Callable[[], None]) -> None:
        self._clock = clock
        self._notify = changed
        self._journeys: deque[Journey] = deque(maxlen=HELD)
        self._by_revision: dict[int, Journey] = {}
        self._newest = -1  # revision of the newest journey
        self._allowance = float(BURST)  # journeys that may begin now
        self._allowed_at = clock.monotonic()
        self.sequence = 0  # of the newest change to any journey
        self.seen = 0  # events
        self.left_out = 0  # of these, not followed

    # What the watch cache reports.

    def received(self, group_resource: GroupResource, event: Version) -> None:
        """Begin a journey, unless too many have begun just now."""
        self.seen += 1
        if not self._allows():
            self.left_out += 1
            self._notify()
            return
        if len(self._journeys) == HELD:
            del self._by_revision[self._journeys[0].revision]
        journey = Journey(group_resource, event, self._clock.now())
        self._journeys.append(journey)
        self._by_revision[event.revision] = journey
        self._newest = event.revision
        self._changed(journey)

    def offered(self, group_resource: GroupResource, event: Version, offer: Offer) -> None:
        """Note the lanes that this event stands in."""
        journey = self._by_revision.get(event.revision)
        if journey is not None:
            journey.lanes.update(lane.id for lane in offer.lanes)
            journey.offered = sum(len(lane.watchers) for lane in offer.lanes)

    def delivered(self, watcher: CacheWatcher, after: int, until: int, size: int) -> None:
        """Mark every followed event that this chunk held for this watcher."""
        # Most chunks of a busy server hold no event that is followed: those must cost nothing.
        if after >= self._newest or until < self._journeys[0].revision:
            return
        now = self._clock.now()
        lane = watcher.lane
        if lane is None:
            return
        for journey in self._between(after, until):
            if lane.id in journey.lanes:
                name = short_agent(watcher.request.client.agent)
                if not journey.reached:
                    journey.first_delivered_at = now
                journey.reached += 1
                journey.last_delivered_at, journey.last_name = now, name
                if name in journey.names or len(journey.names) < NAMES:
                    journey.names[name] = journey.names.get(name, 0) + 1
                self._changed(journey)

    def ended(self, watcher: CacheWatcher, reason: EndReason) -> None:
        """Nothing: the watchers tables tell of ends."""

    # What a page takes.

    def since(self, sequence: int) -> list[Journey]:
        """Journeys that changed after this sequence, oldest event first."""
        return [journey for journey in self._journeys if journey.sequence > sequence]

    def _allows(self) -> bool:
        now = self._clock.monotonic()
        grown = (now - self._allowed_at) * PER_SECOND
        self._allowance, self._allowed_at = min(self._allowance + grown, BURST), now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True

    def _between(self, after: int, until: int) -> Iterator[Journey]:
        # From the newest back: a chunk of a watcher that keeps up ends with the newest events.
        for journey in reversed(self._journeys):
            if journey.revision <= after:
                return
            if journey.revision <= until:
                yield journey

    def _changed(self, journey: Journey) -> None:
        self.sequence += 1
        journey.sequence = self.sequence
        self._notify()
