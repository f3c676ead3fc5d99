"""The journeys of recent events, recorded as they happen: commit, cache, lanes, each watcher.

One Recorder a server, shared by all open pages. It observes while a page shows journeys and at no
other time; what it recorded stays a while after the last page closed, so that a reload or the page
of one event still finds it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from dashboard.agents import short_agent
from listwatch.watchcache.verdicts import change_type

if TYPE_CHECKING:
    from listwatch.changefeed.pump import PumpStatistics
    from listwatch.protocol.clock import Clock, Timer
    from listwatch.protocol.events import EndReason
    from listwatch.protocol.kinds import GroupResource
    from listwatch.protocol.versions import Version
    from listwatch.runtime import Runtime
    from listwatch.watchcache.lanes import Offer
    from listwatch.watchcache.observer import Observers
    from listwatch.watchcache.requests import ClientInfo
    from listwatch.watchcache.watcher import CacheWatcher

HELD = 200  # journeys kept: what the flow page shows
PER_SECOND = 20  # journeys begun a second at most: more nobody reads; the rest are counted
BURST = 50  # journeys begun at once at most
NAMES = 6  # clients named a journey; the rest are counted
STOPS = 100  # watchers of a journey whose time is kept; of the rest only the last
COSTLY = 250  # watchers that are to hear of an event count as much as another journey
KEPT_SECONDS = 300.0  # journeys outlive the last page that showed some

Listener = Callable[[], None]


class Applied(NamedTuple):
    """An informer has the event in its indexer."""

    name: str
    at: float


class Journey:
    """One event on its way. Wall times in seconds; `sequence` grows with every change."""

    __slots__ = (
        "applied", "asked", "committed_at", "first_delivered_at", "group_resource", "key",
        "last_client", "last_delivered_at", "names", "offered", "offered_at", "open_lanes",
        "reached", "received_at", "revision", "sequence", "stops", "type", "via", "waiting",
        "waiting_in",
    )  # fmt: skip

    def __init__(self, group_resource: GroupResource, event: Version, via: str) -> None:
        self.group_resource = group_resource
        self.revision = event.revision
        self.key = event.key
        self.type = change_type(event)
        self.committed_at = event.committed_at
        self.received_at = event.received_at
        self.via = via  # how it came to the cache: by the signal, or read from the log
        self.offered_at: float | None = None
        self.open_lanes = 0  # lanes there were
        self.asked = 0  # of these, asked by the index
        self.waiting_in: tuple[int, ...] = ()  # ids of the lanes that it stands in
        self.offered = 0  # watchers in these lanes
        self.waiting = 0  # of these, those that have not taken it
        self.reached = 0  # watchers that took it
        self.stops: dict[int, float] = {}  # when each of the first took it, by the watcher's id
        self.names: dict[str, int] = {}  # the first clients that took it, and how often each
        self.first_delivered_at: float | None = None
        self.last_delivered_at: float | None = None
        self.last_client: ClientInfo | None = None
        self.applied: dict[int, Applied] = {}  # informers that have it, by their watcher's id
        self.sequence = 0

    @property
    def last_name(self) -> str:
        """The client that took it last."""
        return short_agent(self.last_client.agent) if self.last_client is not None else ""


class Recorder:
    """An observer that keeps the newest journeys, sampled when there are many.

    Promises bounded memory; that an event nobody follows costs a comparison; and that a chunk
    costs one look-up unless its lane holds an event that is followed. `seen` counts every event,
    so that what sampling left out is known. Called in the event loop.
    """

    def __init__(
        self, observers: Observers, clock: Clock, pump: Callable[[], PumpStatistics]
    ) -> None:
        self._observers = observers
        self._clock = clock
        self._pump = pump
        self._listeners: dict[Listener, None] = {}
        self._forgetting: Timer | None = None
        self._journeys: dict[int, Journey] = {}  # by revision, oldest first
        self._in_lanes: dict[int, deque[Journey]] = {}  # by lane: those not taken by all of it
        self._allowance = float(BURST)  # journeys that may begin now
        self._allowed_at = clock.monotonic()
        self.sequence = 0  # of the newest change to any journey
        self.seen = 0  # events
        self.left_out = 0  # of these, not followed

    # For the pages.

    def listen(self, listener: Listener) -> None:
        """Record, and call back at every change, until `leave`."""
        if not self._listeners:
            self._observers.add(self)
            if self._forgetting is not None:
                self._forgetting.cancel()
                self._forgetting = None
        self._listeners[listener] = None

    def leave(self, listener: Listener) -> None:
        """Call back no more; the last one stops the recording."""
        if listener not in self._listeners:
            return
        del self._listeners[listener]
        if self._listeners:
            return
        self._observers.remove(self)
        self._in_lanes.clear()
        self._forgetting = self._clock.call_later(KEPT_SECONDS, self._forget)

    @property
    def recording(self) -> bool:
        """Whether any page looks on."""
        return bool(self._listeners)

    def since(self, sequence: int) -> list[Journey]:
        """Journeys that changed after this sequence, oldest event first."""
        return [journey for journey in self._journeys.values() if journey.sequence > sequence]

    def find(self, revision: int) -> Journey | None:
        """The journey of one event, if it was followed."""
        return self._journeys.get(revision)

    # What the watch cache reports.

    def received(self, group_resource: GroupResource, event: Version) -> None:
        """Begin a journey, unless too many have begun just now."""
        self.seen += 1
        if self._allows():
            if len(self._journeys) >= HELD:
                self._drop_oldest()
            journey = Journey(group_resource, event, self._pump().newest_via)
            self._journeys[event.revision] = journey
            self._changed(journey)
        else:
            self.left_out += 1
            if self.left_out % PER_SECOND == 1:
                self._notify()

    def offered(self, group_resource: GroupResource, event: Version, offer: Offer) -> None:
        """Note the lanes that this event stands in."""
        journey = self._journeys.get(event.revision)
        if journey is None:
            return
        journey.offered_at = self._clock.now()
        journey.open_lanes, journey.asked = offer.open, offer.asked
        journey.waiting_in = tuple(lane.id for lane in offer.lanes)
        journey.offered = journey.waiting = sum(len(lane.watchers) for lane in offer.lanes)
        self._allowance -= journey.offered / COSTLY
        for lane in journey.waiting_in:
            self._in_lanes.setdefault(lane, deque()).append(journey)
        self._changed(journey)

    def delivered(self, watcher: CacheWatcher, after: int, until: int, size: int) -> None:
        """Mark every followed event that this chunk held for this watcher."""
        lane = watcher.lane
        followed = self._in_lanes.get(lane.id) if lane is not None else None
        if followed is None:
            return
        for journey in reversed(followed):  # who keeps up takes the newest
            if journey.revision <= after:
                break
            # A state that a watch begins with holds the object, but it is not the event.
            if journey.revision <= until and journey.revision > watcher.started_from:
                self._taken(journey, watcher)
        while followed and not followed[0].waiting:
            followed.popleft()
        if not followed and lane is not None:
            del self._in_lanes[lane.id]

    def ended(self, watcher: CacheWatcher, reason: EndReason) -> None:
        """Nothing: the watchers tables tell of ends."""

    def applied(self, watcher: int, revision: int, name: str) -> None:
        """An informer that is fed by this watcher has the event in its indexer."""
        journey = self._journeys.get(revision)
        if journey is not None and len(journey.applied) < STOPS:
            journey.applied[watcher] = Applied(name, self._clock.now())
            self._changed(journey)

    def _taken(self, journey: Journey, watcher: CacheWatcher) -> None:
        now = self._clock.now()
        journey.reached += 1
        journey.waiting = max(journey.waiting - 1, 0)
        journey.last_delivered_at, journey.last_client = now, watcher.request.client
        if journey.reached <= STOPS:
            name = short_agent(watcher.request.client.agent)
            if journey.reached == 1:
                journey.first_delivered_at = now
            journey.stops[watcher.id] = now
            if name in journey.names or len(journey.names) < NAMES:
                journey.names[name] = journey.names.get(name, 0) + 1
        elif journey.waiting and journey.reached % STOPS:
            return  # of very many, pages are told now and then
        self._changed(journey)

    def _allows(self) -> bool:
        now = self._clock.monotonic()
        grown = (now - self._allowed_at) * PER_SECOND
        self._allowance, self._allowed_at = min(self._allowance + grown, BURST), now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True

    def _drop_oldest(self) -> None:
        journey = self._journeys.pop(next(iter(self._journeys)))
        for lane in journey.waiting_in:
            followed = self._in_lanes.get(lane)
            if followed and followed[0] is journey:
                followed.popleft()
                if not followed:
                    del self._in_lanes[lane]

    def _forget(self) -> None:
        self._forgetting = None
        self._journeys.clear()

    def _changed(self, journey: Journey) -> None:
        self.sequence += 1
        journey.sequence = self.sequence
        self._notify()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()


_recorders: WeakKeyDictionary[Runtime, Recorder] = WeakKeyDictionary()


def recorder_of(runtime: Runtime) -> Recorder:
    """The one Recorder of this server, made when the first page asks for it."""
    recorder = _recorders.get(runtime)
    if recorder is None:
        recorder = _recorders[runtime] = Recorder(
            runtime.observers, runtime.clock, runtime.pump.statistics
        )
    return recorder
