"""The event flow: the newest events of all rings, who got them, how long each stage took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.formats import ms
from dashboard.frames import slot_row
from dashboard.links import event_url, resource_url
from dashboard.machinery.recording import recorder_of
from dashboard.rates import Rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.machinery.recording import Journey
    from listwatch.protocol.clock import Timer
    from listwatch.runtime import Runtime, RuntimeStatistics
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import RingSlot

JSON = dict[str, Any]  # Any: JSON values

EVENTS = 100  # of all rings on the page as it stands
PER_FRAME = 100  # events in one frame at most
CALM = 20.0  # events a second that an eye can follow: above, frames come less often
PACE = 0.3  # seconds between two frames then
FEW_LANES = 20  # up to here, each of these events is asked who took it


def recent_events(runtime: Runtime) -> list[JSON]:
    """The newest events of all rings, newest first, and which open watches have taken them."""
    found: list[tuple[RingSlot, Cacher]] = []
    few = set()
    for cacher in runtime.caches.cachers().values():
        found += [(slot, cacher) for slot in cacher.ring_slots(limit=EVENTS)]
        if cacher.statistics().lanes <= FEW_LANES:
            few.add(cacher)
    found.sort(key=lambda each: each[0].revision, reverse=True)
    recorder = recorder_of(runtime)
    rows = []
    for slot, cacher in found[:EVENTS]:
        followed = recorder.find(slot.revision)
        rows.append(journey_row(followed) if followed else event_row(slot, cacher, cacher in few))
    return rows


def event_row(slot: RingSlot, cacher: Cacher, ask: bool) -> JSON:
    """One event from a ring: when watchers took it was not recorded, so it has one stage."""
    # An event that was read from the log at a start has no time of its own in the cache.
    observed = slot.received_at > slot.committed_at > 0
    stage = (slot.received_at - slot.committed_at) * 1000 if observed else None
    taken = None
    if ask and (journey := cacher.journey(slot.revision)) is not None:
        taken = sum(stop.delivered for stop in journey.stops)
    return {
        **slot_row(slot),
        "resource": str(cacher.group_resource),
        "resource_url": resource_url(cacher.group_resource),
        "reached": taken,
        "names": "",
        "storage_to_cache": None if stage is None else round(stage, 3),
        "cache_to_watcher": None,
        "total": None,
        **journey_bar(stage, None),
    }


def journey_row(journey: Journey) -> JSON:
    """One event with its stage times in ms: to the cache, and on to the last watcher so far."""
    to_cache = max(journey.received_at - journey.committed_at, 0.0) * 1000
    to_watcher = None
    if journey.last_delivered_at is not None:
        to_watcher = max(journey.last_delivered_at - journey.received_at, 0.0) * 1000
    names = [f"{n} \u00d7{times}" if times > 1 else n for n, times in journey.names.items()]
    more = journey.reached - sum(journey.names.values())
    return {
        "id": str(journey.revision),
        "revision": str(journey.revision),
        "url": event_url(journey.revision),
        "type": str(journey.type),
        "key": journey.key,
        "at": journey.received_at,
        "resource": str(journey.group_resource),
        "resource_url": resource_url(journey.group_resource),
        "reached": journey.reached,
        "offered": journey.offered,
        "takers": _takers(journey),
        "names": ", ".join(names) + (f" and {more:,} more" if more > 0 else ""),
        "storage_to_cache": round(to_cache, 3),
        "cache_to_watcher": None if to_watcher is None else round(to_watcher, 3),
        "total": None if to_watcher is None else round(to_cache + to_watcher, 3),
        **journey_bar(to_cache, to_watcher),
    }


def journey_bar(storage_to_cache: float | None, cache_to_watcher: float | None) -> JSON:
    """The two stages as parts of a bar of 100: on a root scale, so that 1 ms shows beside 100."""
    whole = (storage_to_cache or 0.0) + (cache_to_watcher or 0.0)
    length = min(whole / 100, 1.0) ** 0.5 * 100
    first = length * (storage_to_cache or 0.0) / whole if whole else 0.0
    return {"bar_storage": round(first, 1), "bar_watcher": round(length - first, 1)}


def _takers(journey: Journey) -> str:
    if journey.first_delivered_at is None or journey.last_delivered_at is None:
        return ""
    first = max(journey.first_delivered_at - journey.received_at, 0.0) * 1000
    last = max(journey.last_delivered_at - journey.received_at, 0.0) * 1000
    first_name = next(iter(journey.names))
    return f"first {first_name} after {ms(first)}, last {journey.last_name} after {ms(last)}"


class Flow:
    """The channel of the flow: recorded while the page is looked at and at no other time."""

    def __init__(self, runtime: Runtime, argument: str, wake: Callable[[], None]) -> None:
        self._recorder = recorder_of(runtime)
        self._clock = runtime.clock
        self._wake = wake
        self._looking = False
        self._rates = Rates(runtime.clock)
        self._rate: float | None = None
        self._sequence = self._seen_at_pause = self._left_out = 0
        self._paused = False
        self._taken_at = float("-inf")
        self._ripening: Timer | None = None
        self.dirty = False

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Events a second."""
        if not self._looking:
            return None
        before, self._rate = self._rate, self._rates.read({"": self._recorder.seen}).get("")
        return None if before == self._rate else self._numbers()

    def take(self) -> JSON | None:
        """The newest journeys that changed; paused, only how many wait."""
        self.dirty = False
        self._taken_at = self._clock.monotonic()
        if not self._looking:
            return None
        if self._paused:
            return self._numbers()
        journeys = self._recorder.since(self._sequence)
        self._sequence = self._recorder.sequence
        return {"rows": [journey_row(each) for each in journeys[-PER_FRAME:]], **self._numbers()}

    def show(self, visible: bool) -> None:
        """Record while somebody looks."""
        if visible and not self._looking:
            recorder = self._recorder
            self._sequence = recorder.sequence
            self._seen_at_pause = recorder.seen
            self._left_out = recorder.left_out
            self._rates = Rates(self._clock)
            self._looking = True
            recorder.listen(self._happened)
        elif not visible:
            self.close()

    def pause(self, paused: bool) -> None:
        """Freeze the view; recording goes on."""
        self._paused = paused
        self._seen_at_pause = self._recorder.seen
        self._ripe()

    def close(self) -> None:
        """Record no more."""
        self._looking = False
        self._recorder.leave(self._happened)
        if self._ripening is not None:
            self._ripening.cancel()
            self._ripening = None

    def _happened(self) -> None:
        if self.dirty or self._ripening is not None:
            return
        wait = self._taken_at + PACE - self._clock.monotonic()
        if wait > 0 and (self._rate or 0) > CALM:
            self._ripening = self._clock.call_later(wait, self._ripe)
        else:
            self._ripe()

    def _ripe(self) -> None:
        self._ripening = None
        self.dirty = True
        self._wake()

    def _numbers(self) -> JSON:
        left_out = self._recorder.left_out - self._left_out
        waiting = self._recorder.seen - self._seen_at_pause if self._paused else 0
        sampled = f", {left_out:,} not shown" if left_out else ""
        return {"rate": self._rate, "sampled": sampled, "waiting": waiting}
