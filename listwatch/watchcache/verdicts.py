"""What a write is to a selector: the one place where two versions become an event.

Asked once an event by each distinct selector of the `lanes`, and by `backlog` for a single watch.
"""

from __future__ import annotations

from listwatch.protocol.events import EventType, transition
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import ChangeType, Version


def verdict(selector: Selector, event: Version, before: Version | None) -> EventType | None:
    """What a watcher with this selector hears of a write; `before` is the version it replaced."""
    matched = before is not None and not before.deleted and selector.matches(before)
    return transition(matched, not event.deleted and selector.matches(event))


def content(verdict: EventType, event: Version, before: Version | None) -> Version:
    """The version whose content is sent, under the revision of the event.

    An object that has left the selector is shown as the watcher knew it: never how it looks now,
    which it did not ask to see.
    """
    if verdict is EventType.DELETED and not event.deleted and before is not None:
        return before
    return event


def change_type(event: Version) -> ChangeType:
    """What a write did to its object; only while the event stands in the ring."""
    if event.deleted:
        return ChangeType.DELETED
    if event.previous is None or event.previous.deleted:
        return ChangeType.ADDED
    return ChangeType.MODIFIED


class Predicate:
    """One distinct selector and its verdict on the newest event.

    Promises that the selector is asked once an event, however many lanes want to know.
    """

    __slots__ = ("_everything", "_revision", "_verdict", "evaluations", "lanes", "selector")

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.evaluations = 0
        self.lanes = 0  # that share it
        self._everything = selector.empty
        self._revision = 0
        self._verdict: EventType | None = None

    def verdict(self, event: Version) -> EventType | None:
        """What watchers with this selector hear of the newest event."""
        if event.revision != self._revision:
            self._revision = event.revision
            self.evaluations += 1
            if self._everything:
                self._verdict = EventType(change_type(event).value)
            else:
                self._verdict = verdict(self.selector, event, event.previous)
        return self._verdict
