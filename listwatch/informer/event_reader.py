"""What one event of a watch means for the queue and for the resourceVersion to go on from.

One for each stream, made by `reflector`; objects go into its delta queue.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from listwatch.informer.errors import api_error
from listwatch.informer.list_watch import WatchEvent
from listwatch.informer.objects import JSONObject, resource_version
from listwatch.protocol.events import INITIAL_EVENTS_END, EventType

if TYPE_CHECKING:
    from listwatch.informer.reflector import Reflector

logger = logging.getLogger(__name__)

_TABLES = frozenset({"meta.k8s.io/v1", "meta.k8s.io/v1beta1"})


def is_table(api_version: str, kind: str) -> bool:
    """Whether this is a Table of the two versions there are: rows for people, no objects."""
    return kind == "Table" and api_version in _TABLES


def is_older(one: str, other: str) -> bool:
    """Whether a resourceVersion is certainly older than another of the same resource.

    Only decimals without leading zeros can be compared; of anything else nothing is said.
    """
    if not (_comparable(one) and _comparable(other)):
        return False
    return (len(one), one) < (len(other), other)


def _comparable(version: str) -> bool:
    return version.isascii() and version.isdigit() and not version.startswith("0")


def ends_initial_events(subject: JSONObject) -> bool:
    """Whether a bookmark is the one that ends the state of a streaming list."""
    annotations = subject["metadata"].get("annotations") or {}
    return annotations.get(INITIAL_EVENTS_END) == "true"


class EventReader:
    """Takes the events of one stream. `ordered` off: its first ADDED events come in no order."""

    def __init__(self, reflector: Reflector, kind: str, *, ordered: bool) -> None:
        self._reflector = reflector
        self._kind = kind
        self._ordered = ordered
        self.accepted = 0

    def checked(self, event: WatchEvent) -> JSONObject | None:
        """The object, None for one that cannot be used; raises ApiError for an ERROR event."""
        subject: Any = event.object  # Any: whatever the server sent
        if event.type == EventType.ERROR:
            raise api_error(subject if isinstance(subject, dict) else {"message": str(subject)})
        why = self._fault(subject)
        if why:
            logger.error("%s: unexpected event %s: %s", self._reflector.name, event.type, why)
            self._reflector.counts.skipped_events += 1
            return None
        found: JSONObject = subject
        return found

    def apply(self, event: WatchEvent) -> None:
        """Queue what the event tells, and move the resourceVersion."""
        subject = self.checked(event)
        if subject is None:
            return  # neither counted nor a step forward
        reflector, version = self._reflector, resource_version(subject)
        if event.type != EventType.ADDED:
            self._ordered = True
        if (
            self._ordered
            and reflector.options.drop_stale_events
            and is_older(version, reflector.last_sync_resource_version)
        ):
            # A watch only goes forward: what is older was known already, or has gone since.
            reflector.counts.stale_events += 1
            return
        self._queue(event.type, subject, version)
        self.accepted += 1
        if self._ordered:
            reflector.moved(version)

    def _queue(self, kind: str, subject: JSONObject, version: str) -> None:
        reflector = self._reflector
        store, counts = reflector.store, reflector.counts
        try:
            match kind:
                case EventType.ADDED:
                    store.add(subject)
                case EventType.MODIFIED:
                    store.update(subject)
                case EventType.DELETED:
                    store.delete(subject)
                case EventType.BOOKMARK:
                    store.bookmark(version)
                    counts.bookmarks += 1
                    reflector.freshness.bookmark()
                    return
                case _:
                    logger.error("%s: unknown event type %r", reflector.name, kind)
                    counts.skipped_events += 1
                    return
            counts.events += 1
            reflector.freshness.event()
        except Exception:
            # The store takes no such object; the next list may have another.
            counts.skipped_events += 1
            logger.exception("%s: unable to store an object of %s", reflector.name, kind)

    def _fault(self, subject: Any) -> str:
        if not isinstance(subject, dict) or not isinstance(subject.get("metadata"), dict):
            return "an object without metadata"
        kind = str(subject.get("kind") or "")
        if is_table(str(subject.get("apiVersion") or ""), kind):
            return "a Table"
        if self._kind and kind and kind != self._kind:
            return f"expected {self._kind}, got {kind}"
        return ""
