"""The channels of the socket: each knows what one browser has, and says what is new to it.

`session` asks each for its part of the next frame. Those with statistics are asked once a second
or so (`look`); the flow whenever something happened (`dirty`, `take`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dashboard import frames
from dashboard.formats import ms
from dashboard.rates import Rates
from dashboard.ring_map import RingMap
from dashboard.sampling import EventFlow, Journey
from dashboard.tabular import TableChanges
from listwatch.protocol.errors import bad_request
from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from listwatch.runtime import Runtime, RuntimeStatistics

JSON = dict[str, Any]  # Any: JSON values
Wake = Callable[[], None]

SLOTS = 100  # newest slots kept current on a resource's page
PER_FRAME = 100  # events of the flow in one frame at most


class Subscription(Protocol):
    """One channel, for one browser."""

    dirty: bool

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """What changed in the statistics; None if nothing did."""

    def take(self) -> JSON | None:
        """What happened since; called when `dirty`."""

    def show(self, visible: bool) -> None:
        """Whether the page is looked at."""

    def pause(self, paused: bool) -> None:
        """Freeze or unfreeze the view."""

    def close(self) -> None:
        """The browser has it no longer."""


class _Tables:
    """What channels of statistics have in common: they change only when looked at."""

    dirty = False

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        self._runtime = runtime
        self._rates = Rates(runtime.clock)
        self._parts: JSON = {}

    def take(self) -> JSON | None:
        """Nothing: only looks bring something."""
        return None

    def show(self, visible: bool) -> None:
        """Begin rates anew: what happened while hidden is not of this second."""
        self._rates = Rates(self._runtime.clock)

    def pause(self, paused: bool) -> None:
        """Nothing to freeze."""

    def close(self) -> None:
        """Nothing to let go."""

    def _changed(self, parts: JSON) -> JSON:
        """The parts that are not as they were sent last."""
        changed = {name: part for name, part in parts.items() if self._parts.get(name) != part}
        self._parts |= changed
        return changed


class Overview(_Tables):
    """Figures and the table of resources."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._table = TableChanges()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Figures come with every look, since the sparkline takes a bar from each."""
        received = {name: each.received for name, each in statistics.cachers.items()}
        rates = self._rates.read(received)
        rows = frames.overview(self._runtime, statistics)["resources"]
        for row in rows:
            row["rate"] = rates.get(row["id"])
        total = sum(rates.values()) if rates else None
        changed = self._changed({"figures": frames.figures(statistics, total)})
        if total:  # a second with events is a bar of its own, even if it equals the last
            changed["figures"] = self._parts["figures"]
        if (table := self._table.update(rows)) is not None:
            changed["table"] = table
        return changed or None


class _Watching:
    """The two tables of watches."""

    def __init__(self) -> None:
        self._watching = TableChanges()
        self._ended = TableChanges()

    def update(self, tables: JSON) -> JSON:
        """What changed in them."""
        changes: JSON = {}
        for name, table in (("watching", self._watching), ("ended", self._ended)):
            if (change := table.update(tables[name])) is not None:
                changes[name] = change
        return changes


class Watchers(_Tables):
    """All watches."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._watching = _Watching()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Rows that changed."""
        tables = await frames.watchers(self._runtime)
        changed = self._changed({"counts": tables["counts"]})
        return (changed | self._watching.update(tables)) or None


class ResourceChannel(_Tables):
    """One resource: facts, ring, newest slots, watches."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._group_resource = GroupResource.parse(argument)
        if self._group_resource not in runtime.caches.cachers():
            raise bad_request(f'there is no resource "{argument}"')
        self._ring_map = RingMap()
        self._slots = TableChanges()
        self._watching = _Watching()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """What changed in any part of the page."""
        cacher = self._runtime.caches.cacher(self._group_resource)
        numbers = cacher.statistics()
        self._ring_map.read(numbers.ring, cacher.ring_slots)
        watching = await frames.watches([cacher])
        tables = frames.watcher_tables(watching, ended_rows=frames.ENDED_HERE)
        rate = self._rates.read({"": numbers.received}).get("")
        changed = self._changed({
            "facts": frames.facts(numbers, rate),
            "ring": frames.ring(cacher, numbers, self._ring_map, watching),
            "counts": tables["counts"],
        })  # fmt: skip
        changed |= self._watching.update(tables)
        newest = cacher.ring_slots(limit=SLOTS)
        rows = [frames.slot_row(slot) for slot in reversed(newest)]
        if (slots := self._slots.update(rows)) is not None:
            changed["slots"] = slots
        return changed or None


class Flow:
    """The event flow, observed while the page is looked at and at no other time."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        self._runtime = runtime
        self._wake = wake
        self._flow: EventFlow | None = None
        self._rates = Rates(runtime.clock)
        self._sequence = 0
        self._rate: float | None = None
        self._paused = False
        self._seen_at_pause = 0
        self.dirty = False

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Events a second."""
        if self._flow is None:
            return None
        before, self._rate = self._rate, self._rates.read({"": self._flow.seen}).get("")
        return None if before == self._rate else self._numbers()

    def take(self) -> JSON | None:
        """The newest journeys that changed; paused, only how many wait."""
        self.dirty = False
        if self._flow is None:
            return None
        if self._paused:
            return self._numbers()
        journeys = self._flow.since(self._sequence)
        self._sequence = self._flow.sequence
        return {"rows": [journey_row(each) for each in journeys[-PER_FRAME:]], **self._numbers()}

    def show(self, visible: bool) -> None:
        """Observe while somebody looks."""
        if visible and self._flow is None:
            self._flow = EventFlow(self._runtime.clock, self._happened)
            self._sequence = self._seen_at_pause = 0
            self._rates = Rates(self._runtime.clock)
            self._runtime.observers.add(self._flow)
        elif not visible:
            self.close()

    def pause(self, paused: bool) -> None:
        """Freeze the view; observing goes on."""
        self._paused = paused
        self._seen_at_pause = self._flow.seen if self._flow is not None else 0
        self._happened()

    def close(self) -> None:
        """Observe no more."""
        if self._flow is not None:
            self._runtime.observers.remove(self._flow)
            self._flow = None

    def _happened(self) -> None:
        self.dirty = True
        self._wake()

    def _numbers(self) -> JSON:
        flow = self._flow
        if flow is None:
            return {}
        left_out = f", {flow.left_out:,} not shown" if flow.left_out else ""
        waiting = flow.seen - self._seen_at_pause if self._paused else 0
        return {"rate": self._rate, "sampled": left_out, "waiting": waiting}


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
        "type": str(journey.type),
        "key": journey.key,
        "at": journey.received_at,
        "resource": str(journey.group_resource),
        "resource_url": frames.resource_url(journey.group_resource),
        "reached": journey.reached,
        "offered": journey.offered,
        "takers": _takers(journey),
        "names": ", ".join(names) + (f" and {more:,} more" if more else ""),
        "storage_to_cache": round(to_cache, 3),
        "cache_to_watcher": None if to_watcher is None else round(to_watcher, 3),
        "total": None if to_watcher is None else round(to_cache + to_watcher, 3),
        **frames.journey_bar(to_cache, to_watcher),
    }


def _takers(journey: Journey) -> str:
    if journey.first_delivered_at is None or journey.last_delivered_at is None:
        return ""
    first = max(journey.first_delivered_at - journey.received_at, 0.0) * 1000
    last = max(journey.last_delivered_at - journey.received_at, 0.0) * 1000
    first_name = next(iter(journey.names))
    return f"first {first_name} after {ms(first)}, last {journey.last_name} after {ms(last)}"


Maker = Callable[["Runtime", str, Wake], Subscription]

CHANNELS: dict[str, Maker] = {
    "overview": Overview,
    "resource": ResourceChannel,
    "watchers": Watchers,
    "flow": Flow,
}
