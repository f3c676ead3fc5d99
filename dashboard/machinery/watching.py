"""Tables of watches: who watches what, how far behind; those that ended, and why.

What is asked for (`Query`) comes from the query string of a page, so that a link carries it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from django.http import QueryDict

from dashboard.agents import short_agent
from dashboard.links import resource_url, watcher_url
from dashboard.machinery.endings import is_calm
from listwatch.protocol.errors import bad_request

if TYPE_CHECKING:
    from listwatch.runtime import Runtime
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import WatcherStatistics

JSON = dict[str, Any]  # Any: JSON values

WATCHERS = 250  # rows of open watches at most: those that come first, or are furthest behind
AT_ONCE = 50  # watches asked for their statistics in one turn of the loop
ENDED = 50  # rows of ended watches at most: the newest
ENDED_HERE = 8  # of these on the page of one resource
LAG_SECONDS = 1.0  # a watcher that waits longer is marked
HASTY = 10  # watches that one client opens in a minute: more is marked
LONGEST_QUERY = 200

_DOING = {"initial": "reading the state", "log": "reading the log"}  # live needs no word

SORTS: Mapping[str, Any] = {  # Any: a function of statistics to what sorts
    "client": lambda each: (short_agent(each.agent), each.id),
    "user": attrgetter("user", "id"),
    "resource": lambda each: (str(each.group_resource), each.id),
    "since": attrgetter("since_at", "id"),
    "delivered": attrgetter("delivered", "id"),
    "lag": attrgetter("lag_events", "id"),
    "revisions": attrgetter("lag_revisions", "id"),
    "time": attrgetter("lag_seconds", "id"),
    "events": attrgetter("frames", "id"),
    "bytes": attrgetter("bytes", "id"),
}


class Query(NamedTuple):
    """Which watches, and in what order: words that must all be there, and a column."""

    words: tuple[str, ...] = ()
    sort: str = ""  # a key of SORTS; '' is the order in which they came
    descending: bool = False

    @classmethod
    def read(cls, text: str) -> Query:
        """Read a query string (`q=web&sort=-lag`); raises 400 for a column that there is not."""
        values = QueryDict(text)
        sort = values.get("sort") or ""
        descending = sort.startswith("-")
        sort = sort.removeprefix("-")
        if sort and sort not in SORTS:
            raise bad_request(f'sort: there is no column "{sort}": it can be {", ".join(SORTS)}')
        words = (values.get("q") or "")[:LONGEST_QUERY].lower().split()
        return cls(tuple(words), sort, descending)

    def wants(self, watcher: WatcherStatistics) -> bool:
        """Whether every word stands in its row, and none after `not:`; `ns:` is the namespace."""
        if not self.words:
            return True
        text = _text(watcher)
        return all(
            _says(watcher, text, word.removeprefix("not:")) != word.startswith("not:")
            for word in self.words
        )

    def order(self, found: Sequence[WatcherStatistics]) -> list[WatcherStatistics]:
        """The rows to show, at most WATCHERS."""
        if self.sort:
            return sorted(found, key=SORTS[self.sort], reverse=self.descending)[:WATCHERS]
        shown = found
        if len(found) > WATCHERS:
            shown = sorted(found, key=attrgetter("lag_seconds"), reverse=True)[:WATCHERS]
        return sorted(shown, key=attrgetter("id"))


EVERYONE = Query()


async def watchers(runtime: Runtime, query: Query = EVERYONE) -> JSON:
    """The watches of all resources, as they stand."""
    found = await watches(runtime.caches.cachers().values())
    return watcher_tables(found, query, now=runtime.clock.now())


async def watches(cachers: Iterable[Cacher]) -> list[WatcherStatistics]:
    """The open and the remembered ended watches of these caches; others have turns between."""
    found: dict[int, WatcherStatistics] = {}
    for cacher in cachers:
        for number, watcher in enumerate(cacher.watchers(), start=1):
            found[watcher.id] = watcher.statistics()
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
        # Last, since some may have ended meanwhile.
        found |= {ended.id: ended for ended in cacher.ended()}
    return list(found.values())


def watcher_tables(
    statistics: Sequence[WatcherStatistics],
    query: Query = EVERYONE,
    *,
    now: float,
    ended_rows: int = ENDED,
) -> JSON:
    """Rows of open and of ended watches, and how many there are."""
    opened = Counter(_same(each) for each in statistics if each.since_at > now - 60)
    wanted = [each for each in statistics if query.wants(each)]
    open_ = [each for each in wanted if each.end_reason is None]
    ended = [each for each in wanted if each.end_reason is not None]
    shown = query.order(open_)
    ended.sort(key=lambda each: (each.ended_at or 0.0, each.id), reverse=True)
    hidden = len(open_) - len(shown)
    which = f"the first {len(shown)}" if query.sort else f"the {len(shown)} furthest behind"
    return {
        "counts": {
            "watching": len(open_),
            "not_shown": f", {which} shown" if hidden else "",
        },
        "watching": [watcher_row(each, opened[_same(each)]) for each in shown],
        "ended": [ended_row(each) for each in ended[:ended_rows]],
    }


def watcher_row(watcher: WatcherStatistics, opened: int) -> JSON:
    """One open watch; `opened` is how often its client opened it in the last minute."""
    lag = "none"
    if watcher.lag_events:
        lag = "high" if watcher.lag_seconds >= LAG_SECONDS else "some"
    return {
        **identity(watcher),
        "since": watcher.since_at,
        "phase": watcher.phase,
        "doing": _DOING.get(watcher.phase, ""),
        "hasty": f"{opened} connects a minute" if opened > HASTY else "",
        "lag": lag,
        "lag_events": watcher.lag_events,
        "lag_revisions": watcher.lag_revisions,
        "lag_ms": round(watcher.lag_seconds * 1000, 1) if watcher.lag_events else 0,
        "bookmarks": watcher.bookmarks,
        "initial_events": watcher.initial_events,
    }


def ended_row(watcher: WatcherStatistics) -> JSON:
    """One watch that has ended, and why."""
    reason = watcher.end_reason
    return {
        **identity(watcher),
        "ended_at": watcher.ended_at,
        "end_reason": str(reason),
        "end_kind": "calm" if reason is not None and is_calm(reason) else "bad",
    }


def identity(watcher: WatcherStatistics) -> JSON:
    """What tells one watch from another, and what it has taken."""
    return {
        "id": str(watcher.id),
        "url": watcher_url(watcher.id),
        "client": short_agent(watcher.agent),
        "agent": f"{watcher.agent or 'no user agent'}, from {watcher.address or 'this process'}",
        "user": watcher.user,
        "resource": str(watcher.group_resource),
        "resource_url": resource_url(watcher.group_resource),
        "namespace": watcher.namespace,
        "selector": selector_text(watcher),
        "representation": watcher.representation,
        "delivered": str(watcher.delivered),
        "events": watcher.frames,
        "bytes": watcher.bytes,
    }


def selector_text(watcher: WatcherStatistics) -> str:
    """What the watch narrows down to: namespace and labels as kubectl's options, fields bare."""
    return _selector_text(watcher.namespace, watcher.name, watcher.selector)


def selectors_of(text: str) -> tuple[str, str]:
    """Labels and fields of what its statistics say: `labels:app=web fields:spec.nodeName=a`."""
    labels, _, fields = text.partition("fields:")
    return labels.removeprefix("labels:").strip(), fields.strip()


@lru_cache(maxsize=4096)
def _selector_text(namespace: str, name: str, selector: str) -> str:
    parts = [f"-n {namespace}"] if namespace else []
    if name:
        parts.append(name)
    labels, fields = selectors_of(selector)
    if labels:
        parts.append(f"-l {labels}")
    if fields and fields != f"metadata.name={name}":
        parts.append(fields)  # bare: the long option would leave no room for what it says
    return " ".join(parts)


def _says(watcher: WatcherStatistics, text: str, word: str) -> bool:
    return watcher.namespace == word[3:] if word.startswith("ns:") else word in text


def _same(watcher: WatcherStatistics) -> tuple[object, ...]:
    """The same for the watches that a client has opened again and again."""
    return (
        watcher.agent, watcher.user, watcher.group_resource, watcher.namespace, watcher.name,
        watcher.selector,
    )  # fmt: skip


def _text(watcher: WatcherStatistics) -> str:
    reason = str(watcher.end_reason or "")
    return " ".join((
        short_agent(watcher.agent), watcher.user, str(watcher.group_resource),
        selector_text(watcher), reason,
    )).lower()  # fmt: skip
