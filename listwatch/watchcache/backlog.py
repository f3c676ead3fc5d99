"""What a watch has to hear before it goes live: a state, or events that are already history.

Made by `cacher` from arrays of references taken in one step, so that nothing is walked later that
may have changed; emptied by `watcher` at its reader's pace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from listwatch.protocol.events import EventType
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.lane import Entry
from listwatch.watchcache.verdicts import content, verdict

Backlog = Iterator[Entry | None]  # None: much was looked at in vain, others may have a turn

_IN_VAIN = 500  # versions; a few hundred microseconds


def of_state(versions: Sequence[Version], selector: Selector) -> Backlog:
    """ADDED for each object that the selector wants, in the order given."""
    in_vain = 0
    for version in versions:
        if selector.matches(version):
            in_vain = 0
            yield Entry(EventType.ADDED, version, version)
        else:
            in_vain += 1
            if in_vain % _IN_VAIN == 0:
                yield None


def of_events(
    events: Sequence[Version], before: Sequence[Version | None], selector: Selector
) -> Backlog:
    """What the selector makes of events; `before` holds the version that each replaced.

    That is apart because the ring takes `previous` from an event that leaves it meanwhile.
    """
    in_vain = 0
    for event, replaced in zip(events, before, strict=True):
        heard = verdict(selector, event, replaced)
        if heard is not None:
            in_vain = 0
            yield Entry(heard, event, content(heard, event, replaced))
        else:
            in_vain += 1
            if in_vain % _IN_VAIN == 0:
                yield None


def in_scope(versions: Sequence[Version], namespace: str, name: str) -> Sequence[Version]:
    """The versions with that namespace and name; '' is any."""
    if not namespace and not name:
        return versions
    return [
        version
        for version in versions
        if (not namespace or version.namespace == namespace) and (not name or version.name == name)
    ]
