"""The metadata of an object alone: the kind PartialObjectMetadata, in answers and in watches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from listwatch.api.negotiation import META, PARTIAL
from listwatch.protocol.events import INITIAL_EVENTS_END
from listwatch.protocol.objects import header

if TYPE_CHECKING:
    from listwatch.protocol.events import EventType
    from listwatch.protocol.objects import Encoded, JSONObject
    from listwatch.protocol.versions import Version

_CACHED = "partial"


def partial_object(
    encoded: Encoded, revision: int, api_version: str, version: Version | None = None
) -> bytes:
    """The metadata of an object; `version` keeps what had to be parsed for the next time.

    Its keys are those of the object, the resourceVersion first.
    """
    rest = version.cached.get(_CACHED) if version is not None and version.cached else None
    if rest is None:
        rest = orjson.dumps(orjson.loads(encoded.body)["metadata"])[1:]
        if version is not None:
            version.cached = {**(version.cached or {}), _CACHED: rest}
    start = header(PARTIAL, api_version)
    if not revision:
        return b'%b"metadata":{%b}' % (start, rest)
    return b'%b"metadata":{"resourceVersion":"%d",%b}' % (start, revision, rest)


def bookmark_metadata(revision: int, *, initial_events_end: bool) -> JSONObject:
    """The metadata of a bookmark."""
    metadata: JSONObject = {"resourceVersion": str(revision)}
    if initial_events_end:
        metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
    return metadata


@dataclass(frozen=True, slots=True)
class PartialRepresentation:
    """A watch of metadata alone; `version` is that of meta.k8s.io."""

    version: str = "v1"
    name: str = "partial"
    first_frame_differs: bool = False

    def frame(
        self, event_type: EventType, version: Version, revision: int, *, first: bool = False
    ) -> bytes:
        """One event, newline included."""
        body = partial_object(version.encoded, revision, f"{META}/{self.version}", version)
        return b'{"type":"%b","object":%b}\n' % (event_type.encode(), body)

    def bookmark(self, revision: int, *, initial_events_end: bool, first: bool = False) -> bytes:
        """One bookmark, newline included."""
        metadata = bookmark_metadata(revision, initial_events_end=initial_events_end)
        body = {"kind": PARTIAL, "apiVersion": f"{META}/{self.version}", "metadata": metadata}
        return b'{"type":"BOOKMARK","object":%b}\n' % orjson.dumps(body)
