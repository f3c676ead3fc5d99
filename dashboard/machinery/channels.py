"""The channels of these pages: what changed since the last frame, for one browser each.

Looked at once a second or so; the flow of events and one event's way also when something happens.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dashboard import frames
from dashboard.channel import Tables, Wake
from dashboard.machinery import ring_page, watcher_page
from dashboard.machinery.recording import recorder_of
from dashboard.machinery.ring_frames import ring
from dashboard.machinery.watching import ENDED_HERE, Query, watcher_tables, watchers, watches
from dashboard.ring_map import RingMap
from dashboard.tabular import TableChanges
from listwatch.protocol.errors import bad_request
from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from listwatch.runtime import Runtime, RuntimeStatistics
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import WatcherStatistics

JSON = dict[str, Any]  # Any: JSON values

SLOTS = 100  # newest slots kept current on a resource's page
JUDGED = 300  # events judged for one watch in one look at most


def _cacher(runtime: Runtime, name: str) -> Cacher:
    cacher = runtime.caches.cachers().get(GroupResource.parse(name))
    if cacher is None:
        raise bad_request(f'there is no resource "{name}"')
    return cacher


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


class Watchers(Tables):
    """The watches that a query wants; the argument is its query string."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._query = Query.read(argument)
        self._watching = _Watching()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Rows that changed."""
        tables = await watchers(self._runtime, self._query)
        changed = self._changed({"counts": tables["counts"]})
        return (changed | self._watching.update(tables)) or None


class ResourceChannel(Tables):
    """One resource: facts, ring, newest slots, watches."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._cacher = _cacher(runtime, argument)
        self._outline = RingMap()
        self._slots = TableChanges()
        self._watching = _Watching()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """What changed in any part of the page."""
        cacher = self._cacher
        watching = await watches([cacher])
        numbers = cacher.statistics()
        self._outline.read(numbers.ring, cacher.ring_outline)
        tables = watcher_tables(watching, now=cacher.clock.now(), ended_rows=ENDED_HERE)
        rate = self._rates.read({"": numbers.received}).get("")
        changed = self._changed({
            "facts": frames.facts(numbers, rate),
            "ring": ring(cacher, numbers, self._outline, watching),
            "counts": tables["counts"],
        })  # fmt: skip
        changed |= self._watching.update(tables)
        newest = cacher.ring_slots(limit=SLOTS)
        rows = [frames.slot_row(slot) for slot in reversed(newest)]
        if (slots := self._slots.update(rows)) is not None:
            changed["slots"] = slots
        return changed or None


class Ring(Tables):
    """The map of one ring."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._cacher = _cacher(runtime, argument)
        self._outline = RingMap()
        self._places = TableChanges()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """What changed in any part of the map."""
        data = await ring_page.ring_map(self._runtime, self._cacher, self._outline)
        places = self._places.update(data.pop("places"))
        changed = self._changed(data)
        if places is not None:
            changed["places"] = places
        return changed or None


class Rings(Tables):
    """All rings."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._outlines: dict[str, RingMap] = {}
        self._table = TableChanges()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Rows that changed."""
        data = await ring_page.all_rings(self._runtime, self._outlines)
        table = self._table.update(data["rings"])
        return None if table is None else {"rings": table}


class Watcher(Tables):
    """One watch: facts, bookmarks, and events as they are judged, each once."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        found = watcher_page.find(runtime, int(argument)) if argument.isdecimal() else None
        if found is None:
            raise bad_request(f'there is no watcher "{argument}"')
        self._number = int(argument)
        self._cacher: Cacher = found[0]
        self._next: int | None = None  # index of the next slot to judge
        self._counts: Counter[str] = Counter()
        self._unread: list[int] = []  # revisions of rows that were sent as waiting

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """What changed, and the events that came."""
        found = watcher_page.find(self._runtime, self._number)
        if found is None:
            return self._changed({"gone": True}) or None
        cacher, watcher = found
        data = watcher_page.facts(cacher, watcher)
        data["reconnect"] = await watcher_page.reconnect(cacher, watcher)
        changed = self._changed(data)
        rows = self._judged(cacher, watcher)
        if rows:
            changed["rows"] = rows
            changed["table"] = {**self._counts, "judged": self._counts.total()}
        return changed or None

    def _judged(self, cacher: Cacher, watcher: WatcherStatistics) -> list[JSON]:
        end = cacher.ring.end
        first = self._next
        if first is None:
            judged = cacher.transitions(watcher, limit=watcher_page.JUDGED)
        else:
            judged = cacher.transitions(watcher, max(first, end - JUDGED), JUDGED)
        self._next = end
        table = watcher_page.truth_table(judged)
        for name in watcher_page.VERDICTS:
            self._counts[name] += table[name]
        rows = [watcher_page.row(each) for each in judged[-watcher_page.ROWS :]]
        taken = [
            {"id": str(revision), "stands": "delivered", "stands_says": "delivered"}
            for revision in self._unread if revision <= watcher.delivered
        ]  # fmt: skip
        waiting = [int(row["id"]) for row in rows if row["stands"] == "waiting"]
        self._unread = [r for r in self._unread if r > watcher.delivered]
        self._unread = (self._unread + waiting)[-watcher_page.ROWS :]
        return taken + rows


class Event:
    """One event's way: says that it went on, so that the page asks anew."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        if not argument.isdecimal():
            raise bad_request(f'there is no event "{argument}"')
        self._revision = int(argument)
        self._recorder = recorder_of(runtime)
        self._wake = wake
        self._sequence = 0
        self.dirty = False

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """At most once a second: whether anything happened to this event."""
        journey = self._recorder.find(self._revision)
        sequence = journey.sequence if journey is not None else 0
        if sequence == self._sequence:
            return None
        self._sequence = sequence
        return {"sequence": sequence}

    def take(self) -> JSON | None:
        """Nothing: looks tell."""
        return None

    def show(self, visible: bool) -> None:
        """Record while somebody looks."""
        if visible:
            self._recorder.listen(self._nothing)
        else:
            self.close()

    def pause(self, paused: bool) -> None:
        """Nothing to freeze."""

    def close(self) -> None:
        """Record no more."""
        self._recorder.leave(self._nothing)

    def _nothing(self) -> None:
        """The next look will see it."""
