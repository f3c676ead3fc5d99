"""How a version is written on the wire: as it is, as a Table row, as metadata alone.

A lane makes each frame once for all its watchers, so a representation is a hashable value and
its methods depend on nothing but their arguments. The plain JSON one is here, the others
in `api` (`tables`, `partial`, `converted`); `api.watch` chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import orjson

from listwatch.protocol.events import INITIAL_EVENTS_END, EventType
from listwatch.protocol.objects import JSONObject, header, splice_as
from listwatch.protocol.versions import Version


@runtime_checkable
class Representation(Protocol):
    """Writes frames; equal representations write equal frames."""

    @property
    def name(self) -> str:
        """What it is called in statistics: `json`, `table`, `partial`."""

    @property
    def first_frame_differs(self) -> bool:
        """Whether the first frame of a stream is another (a Table's carries the columns)."""

    def frame(
        self, event_type: EventType, version: Version, revision: int, *, first: bool = False
    ) -> bytes:
        """One event, newline included; `revision` stands in for the version's own."""

    def bookmark(self, revision: int, *, initial_events_end: bool, first: bool = False) -> bytes:
        """One bookmark, newline included."""


def error_frame(status: JSONObject) -> bytes:
    """The ERROR frame that carries a Status: never transformed, whatever the representation."""
    return b'{"type":"ERROR","object":%b}\n' % orjson.dumps(status)


@dataclass(frozen=True, slots=True)
class JSONRepresentation:
    """Objects as they are, under the served kind and apiVersion."""

    kind: str
    api_version: str
    name: str = "json"
    first_frame_differs: bool = False

    def frame(
        self, event_type: EventType, version: Version, revision: int, *, first: bool = False
    ) -> bytes:
        """`{"type":...,"object":{...}}` and a newline."""
        start = b'{"type":"%b","object":%b' % (
            event_type.encode(),
            header(self.kind, self.api_version),
        )
        return splice_as(version.encoded, revision, start) + b"}\n"

    def bookmark(self, revision: int, *, initial_events_end: bool, first: bool = False) -> bytes:
        """A bookmark holds kind, apiVersion and the revision, and nothing that could be null."""
        metadata: JSONObject = {"resourceVersion": str(revision)}
        if initial_events_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        return (
            orjson.dumps(
                {
                    "type": "BOOKMARK",
                    "object": {
                        "kind": self.kind,
                        "apiVersion": self.api_version,
                        "metadata": metadata,
                    },
                }
            )
            + b"\n"
        )
