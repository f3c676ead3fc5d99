"""One watch: where it stands, the truth table of its selector, its bookmarks, and its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dashboard.formats import age, counted, ms
from dashboard.frames import slot_row
from dashboard.links import ring_url
from dashboard.machinery.endings import ENDINGS, is_calm
from dashboard.machinery.horizon import Horizon
from dashboard.machinery.ring_frames import left_text
from dashboard.machinery.watching import identity
from dashboard.ring_map import RingMap

if TYPE_CHECKING:
    from listwatch.runtime import Runtime
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import Judgement, Transition, WatcherStatistics

JSON = dict[str, Any]  # Any: JSON values

ROWS = 60  # events in the table at most
JUDGED = 1_000  # newest events of the ring that are judged for a page as it stands
NOTHING = "nothing"
VERDICTS = (NOTHING, "ADDED", "DELETED", "MODIFIED")

_STANDS = {
    "before": "before it began",
    "delivered": "delivered",
    "waiting": "waits",
    "after": "after its end",
}


def find(runtime: Runtime, number: int) -> tuple[Cacher, WatcherStatistics] | None:
    """A watch by its number, open or remembered."""
    for cacher in runtime.caches.cachers().values():
        for watcher in cacher.watchers():
            if watcher.id == number:
                return cacher, watcher.statistics()
        for ended in cacher.ended():
            if ended.id == number:
                return cacher, ended
    return None


async def watcher(
    cacher: Cacher, statistics: WatcherStatistics, *, heard_only: bool = False
) -> JSON:
    """The page as it stands."""
    judged = cacher.transitions(statistics, limit=JUDGED)
    return {
        **facts(cacher, statistics),
        "reconnect": await reconnect(cacher, statistics),
        "table": truth_table(judged),
        "rows": rows(reversed(judged), heard_only=heard_only),
    }


def facts(cacher: Cacher, statistics: WatcherStatistics) -> JSON:
    """Who it is, where it stands, what is due."""
    reason, now = statistics.end_reason, cacher.clock.now()
    lag = "none"
    if statistics.lag_events:
        lag = "high" if statistics.lag_seconds >= 1 else "some"
    return {
        "watcher": {
            **identity(statistics),
            "address": statistics.address,
            "state": "ended" if reason is not None else statistics.phase,
            "since": statistics.since_at,
            "started_from": str(statistics.started_from),
            "lag": lag,
            "lag_events": statistics.lag_events,
            "lag_revisions": statistics.lag_revisions,
            "lag_says": _lag_says(statistics),
            "chunks": statistics.chunks,
            "bookmarks": statistics.bookmarks,
            "initial_events": statistics.initial_events,
            "accepted_at": statistics.accepted_at,
            "sending": "" if statistics.reading or reason else "a chunk is on its way",
        },
        "bookmark": bookmark(statistics, now),
        "end": None if reason is None else {
            "reason": str(reason),
            "is": "calm" if is_calm(reason) else "bad",
            "at": statistics.ended_at,
            "means": ENDINGS[reason].means,
            "next": ENDINGS[reason].next,
        },
    }  # fmt: skip


def bookmark(statistics: WatcherStatistics, now: float) -> JSON:
    """When the next bookmark is due, why, and what it would bring."""
    if statistics.end_reason is not None:
        return {"due": "none", "due_at": None, "why": "The watch has ended.", "gains": ""}
    deadline = ""
    if statistics.deadline_at is not None:
        deadline = f" It ends in {age(max(statistics.deadline_at - now, 0))} at its deadline."
    if statistics.bookmark_at is None and not statistics.bookmark_waits:
        return {
            "due": "none", "due_at": None, "gains": "",
            "why": f"It did not ask for any (allowWatchBookmarks), or had its last.{deadline}",
        }  # fmt: skip
    gains = ""
    if statistics.lag_revisions and not statistics.lag_events:
        gains = (
            f"It would move it on from {statistics.delivered}, past"
            f" {counted(statistics.lag_revisions, 'revision')} not meant for it."
        )
    if statistics.bookmark_waits:
        why = "It was due, and is sent once the watch has taken all that is for it."
        return {"due": "due", "due_at": None, "why": why + deadline, "gains": gains}
    at = statistics.bookmark_at
    why = "One each period, so that an idle watch does not grow old."
    if statistics.bookmark_why == "closing":
        why = "The last one, shortly before its deadline, so that the next watch begins there."
    return {"due": "in", "due_at": at, "why": why + deadline, "gains": gains}


async def reconnect(cacher: Cacher, statistics: WatcherStatistics) -> JSON:
    """What would become of the client if it had to begin again where it is."""
    numbers = cacher.statistics().ring
    outline = RingMap()
    outline.read(numbers, cacher.ring_outline)
    left = Horizon(cacher, numbers, outline).of(statistics.delivered)
    told = await cacher.explain(
        statistics.delivered, namespace=statistics.namespace, selector=statistics.selects
    )
    verdicts = {
        "ring": "It would go on from the ring.",
        "log": "It would go on from the log.",
        "refused": "It would be told 410 Expired, and have to list again.",
        "future": "It would wait for that revision.",
    }
    events = ""
    if told.source in ("ring", "log"):
        events = (
            f"{counted(told.replayed, 'event')} to catch up on."
            if told.replayed
            else ("Nothing that it would have missed.")
        )
    return {
        "source": told.source,
        "says": verdicts[told.source],
        "events": events,
        "left": left.seconds,
        "left_is": left.kind,
        "left_says": left_text(left.seconds, left.kind),
        "url": f"{ring_url(statistics.group_resource)}?from={statistics.delivered}",
    }


def truth_table(judged: Iterable[Transition]) -> JSON:
    """How often the selector said what: the four fields of before and after."""
    counts = Counter(_hears(each.judgement) for each in judged)
    return {**{name: counts[name] for name in VERDICTS}, "judged": counts.total()}


def rows(judged: Iterable[Transition], *, heard_only: bool = False) -> list[JSON]:
    """The newest of these events as rows."""
    found = []
    for each in judged:
        if heard_only and each.judgement.hears is None:
            continue
        found.append(row(each))
        if len(found) == ROWS:
            break
    return found


def row(each: Transition) -> JSON:
    """One event as this watch sees it."""
    judgement = each.judgement
    before, after = ("yes" if value else "no" for value in (judgement.before, judgement.after))
    slot = slot_row(each.slot)
    return {
        **slot,
        "write": slot["type"],
        "before": before,
        "after": after,
        "hears": _hears(judgement),
        "because": because(judgement),
        "stands": each.stands if judgement.hears is not None else "",
        "stands_says": _STANDS[each.stands] if judgement.hears is not None else "",
        "took": ms(max(each.slot.received_at - each.slot.committed_at, 0) * 1000),
    }


def because(judgement: Judgement) -> str:
    """The terms that decided, with the values before and after."""
    if not judgement.in_scope:
        return "another namespace or name"
    parts = [
        f"{term.key}: {_change(term.before, term.after)}"
        for term in judgement.terms
        if term.held != term.holds or not term.holds
    ]
    return ", ".join(parts[:3])


def _change(before: str | None, after: str | None) -> str:
    if before == after:
        return _value(before)
    return f"{_value(before)} \u2192 {_value(after)}"


def _lag_says(statistics: WatcherStatistics) -> str:
    if not statistics.lag_events:
        return "nothing is due to it"
    return f"events are due, the oldest for {ms(statistics.lag_seconds * 1000)}"


def _value(value: str | None) -> str:
    return "none" if value is None else value or '""'


def _hears(judgement: Judgement) -> str:
    return NOTHING if judgement.hears is None else judgement.hears.value
