"""What selectors make of events that stand in the ring: the truth table, row by row.

Asked through `cacher` by the dashboard, of events that are past: nothing is recorded for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from listwatch.protocol.events import transition
from listwatch.protocol.field_selectors import FieldSelector
from listwatch.protocol.label_selectors import LabelSelector
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.inspection import slot_of
from listwatch.watchcache.requests import scope
from listwatch.watchcache.statistics import Judgement, LaneJudgement, Term, Transition

if TYPE_CHECKING:
    from listwatch.watchcache.cacher import Cacher
    from listwatch.watchcache.statistics import WatcherStatistics


def judge(selector: Selector, namespace: str, name: str, event: Version) -> Judgement:
    """What a selector within a scope makes of an event; only while that stands in the ring."""
    before = _present(event.previous)
    after = _present(event)
    in_scope = namespace in ("", event.namespace) and name in ("", event.name)
    matched = in_scope and before is not None and selector.matches(before)
    matches = in_scope and after is not None and selector.matches(after)
    return Judgement(
        in_scope=in_scope,
        before=matched,
        after=matches,
        hears=transition(matched, matches),
        terms=tuple(_terms(selector, before, after)),
    )


def transitions(
    cacher: Cacher, watcher: WatcherStatistics, first: int | None, limit: int
) -> list[Transition]:
    """Events of the ring from an index on, or the newest, as one watch sees them."""
    ring, now = cacher.ring, cacher.clock.monotonic()
    first = max(ring.end - limit, ring.start) if first is None else first
    namespace, name = scope(watcher.namespace, watcher.name, watcher.selects)
    return [
        Transition(
            slot_of(index, event, time, now=now),
            judge(watcher.selects, namespace, name, event),
            _stands(watcher, event.revision),
        )
        for index, event, time in ring.slots(first, first + limit)
    ]


def lane_judgements(cacher: Cacher, revision: int) -> list[LaneJudgement]:
    """What each open lane makes of an event of the ring; empty if it is not there."""
    event = cacher.ring.find(revision)
    if event is None:
        return []
    asked = cacher.lanes.candidates(event)
    return [
        LaneJudgement(
            lane.statistics(), lane in asked, judge(lane.selector, lane.namespace, lane.name, event)
        )
        for lane in cacher.lanes
    ]


def _stands(
    watcher: WatcherStatistics, revision: int
) -> Literal["before", "delivered", "waiting", "after"]:
    if revision <= watcher.started_from:
        return "before"
    if revision <= watcher.delivered:
        return "delivered"
    return "waiting" if watcher.end_reason is None else "after"


def _present(version: Version | None) -> Version | None:
    return None if version is None or version.deleted else version


def _terms(selector: Selector, before: Version | None, after: Version | None) -> Iterator[Term]:
    for requirement in selector.labels.requirements:
        label = LabelSelector((requirement,))
        yield Term(
            text=str(requirement),
            key=requirement.key,
            kind="label",
            before=_label(before, requirement.key),
            after=_label(after, requirement.key),
            held=before is not None and label.matches(before.labels),
            holds=after is not None and label.matches(after.labels),
        )
    for term in selector.fields.terms:
        field = FieldSelector((term,))
        yield Term(
            text=str(term),
            key=term.key,
            kind="field",
            # A field that an object lacks is '' to a selector.
            before=None if before is None else before.fields.get(term.key, ""),
            after=None if after is None else after.fields.get(term.key, ""),
            held=before is not None and field.matches(before.fields),
            holds=after is not None and field.matches(after.fields),
        )


def _label(version: Version | None, key: str) -> str | None:
    return None if version is None else version.labels.get(key)
