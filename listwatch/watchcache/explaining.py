"""The arithmetic of 410: what would become of a watch from some revision, without opening one.

Asked through `cacher` by the dashboard; decides as `Cacher.watch` does, and changes nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from listwatch.protocol.errors import too_old_resource_version
from listwatch.protocol.events import EventType
from listwatch.protocol.selectors import EVERYTHING, Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.backlog import in_scope
from listwatch.watchcache.history import HistoryLost
from listwatch.watchcache.requests import scope
from listwatch.watchcache.statistics import Explanation
from listwatch.watchcache.verdicts import verdict

if TYPE_CHECKING:
    from listwatch.watchcache.cacher import Cacher

MOST_FROM_LOG = 5_000  # events of the log read for one answer
_PIECE = 1_000  # events asked of in one turn of the loop: about a millisecond


async def explain(
    cacher: Cacher,
    revision: int,
    *,
    namespace: str = "",
    selector: Selector = EVERYTHING,
) -> Explanation:
    """Who would serve a watch with this selector from `revision`, and what it would begin with.

    Promises the same answer as a watch opened in the same step: 410 exactly if that is refused,
    else the events it is sent before it waits for the first. Reads at most MOST_FROM_LOG events
    of the log; what is beyond is not counted, and said to be there.
    """
    oldest = max(await cacher.history.compacted(), cacher.oldest)
    # From here to the end of the captures no await: floor, ring and applied belong together.
    applied, floor = cacher.progress.applied, cacher.floor
    source = _source(revision, applied=applied, floor=floor, oldest=oldest)
    wanted = scope(namespace, "", selector)
    events: Sequence[Version] = ()
    if source in ("ring", "log"):
        events = in_scope(cacher.ring.after(max(revision, floor)), *wanted)
    before = [event.previous for event in events]
    by_type, counted = await _heard(events, before, selector), True
    if source == "log":
        try:
            older, counted = await _older(cacher, revision, floor, (*wanted, selector))
            by_type += older
        except HistoryLost as lost:
            source, oldest, by_type = "refused", lost.oldest, Counter()
    replayed = sum(by_type.values())
    return Explanation(
        revision=revision,
        source=source,
        oldest_in_ring=floor,
        oldest_in_log=min(oldest, floor),
        applied=applied,
        replayed=replayed,
        by_type=dict(by_type),
        counted=counted,
        message=_message(source, revision, min(oldest, floor), replayed),
    )


def _source(
    revision: int, *, applied: int, floor: int, oldest: int
) -> Literal["ring", "log", "refused", "future"]:
    if revision > applied:
        return "future"
    if revision >= floor:
        return "ring"
    return "log" if revision >= oldest else "refused"


def _message(source: str, revision: int, oldest: int, replayed: int) -> str:
    match source:
        case "future":
            return f"accepted, and silent until a revision exceeds {revision}"
        case "ring":
            return f"begins with {replayed} events of the ring"
        case "log":
            return f"begins with {replayed} events of the log and the ring"
        case _:
            return too_old_resource_version(revision, oldest).message


async def _heard(
    events: Sequence[Version], before: Sequence[Version | None], selector: Selector
) -> Counter[EventType]:
    found: Counter[EventType] = Counter()
    for number, (event, replaced) in enumerate(zip(events, before, strict=True), start=1):
        heard = verdict(selector, event, replaced)
        if heard is not None:
            found[heard] += 1
        if number % _PIECE == 0:
            await asyncio.sleep(0)
    return found


async def _older(
    cacher: Cacher, revision: int, floor: int, wanted: tuple[str, str, Selector]
) -> tuple[Counter[EventType], bool]:
    # What the log holds in (revision, floor], in the batches a watch would read.
    namespace, name, selector = wanted
    found: Counter[EventType] = Counter()
    limit, position, seen = cacher.options.log_batch, revision, 0
    while position < floor:
        if seen >= MOST_FROM_LOG:
            return found, False
        rows = await cacher.history.changes(cacher.group_resource, position, floor, limit)
        events = in_scope(rows, namespace, name)
        found += await _heard(events, [event.previous for event in events], selector)
        seen += len(rows)
        position = floor if len(rows) < limit else rows[-1].revision
    return found, True
