"""A watch of objects that are kept in another form than they are served in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.objects import splice
from listwatch.protocol.representations import JSONRepresentation
from listwatch.registry.conversions import served

if TYPE_CHECKING:
    from listwatch.protocol.events import EventType
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.versions import Version


@dataclass(frozen=True, slots=True)
class ConvertedRepresentation:
    """Objects as this resource serves them."""

    resource: Resource
    name: str = "json"
    first_frame_differs: bool = False

    def frame(
        self, event_type: EventType, version: Version, revision: int, *, first: bool = False
    ) -> bytes:
        """One event, newline included."""
        body = splice(served(self.resource, version.encoded), revision)
        return b'{"type":"%b","object":%b}\n' % (event_type.encode(), body)

    def bookmark(self, revision: int, *, initial_events_end: bool, first: bool = False) -> bytes:
        """One bookmark, newline included."""
        plain = JSONRepresentation(self.resource.kind, self.resource.api_version)
        return plain.bookmark(revision, initial_events_end=initial_events_end, first=first)
