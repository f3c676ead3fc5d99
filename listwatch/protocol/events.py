"""Watch events: their types, and what a write looks like through a selector."""

from __future__ import annotations

from enum import StrEnum


class EventType(StrEnum):
    """The `type` of a watch frame."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"
    ERROR = "ERROR"


INITIAL_EVENTS_END = "k8s.io/initial-events-end"  # the annotation that ends a streaming list


def transition(before: bool, after: bool) -> EventType | None:
    """What a watcher hears of a write, by whether the selector matched before and matches after.

    A create has no before, a delete no after (pass False). DELETED carries the content of the
    version before under the revision of the write; None: this watcher hears nothing.
    """
    if after:
        return EventType.MODIFIED if before else EventType.ADDED
    return EventType.DELETED if before else None


class EndReason(StrEnum):
    """Why a watch ended, named by who ended it."""

    CLIENT_LEFT = "client left"
    DEADLINE_REACHED = "deadline reached"
    TOO_SLOW = "too slow"  # the ring has moved past it, or it did not read for the set time
    HISTORY_LOST = "history lost"  # it asked for a revision that nothing holds any more
    NOT_REACHED = "revision not reached"  # it asked for one that did not come in time
    DEFINITION_CHANGED = "definition changed"
    SERVER_STOPPING = "server stopping"
    FAULT_INJECTED = "fault injected"
    DETACHED = "detached"  # by a person at the dashboard
    FAILED = "failed"  # an error of our own; the log has it
