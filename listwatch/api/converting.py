"""A watch of objects that a webhook converts: read as they are kept, and written as asked for.

A lane makes its frames at once, and a webhook takes its time: so the lane gives the objects as they
are kept, and each chunk is converted on its way to the one client that it goes to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import orjson

from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import INITIAL_EVENTS_END, EventType
from listwatch.protocol.objects import encode
from listwatch.protocol.representations import error_frame
from listwatch.protocol.versions import Version

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.representations import Representation
    from listwatch.registry.registry import Registry

Convert = Callable[[bytes], Awaitable[bytes]]


class Converting:
    """Turns the chunks of one watch into those of another version. Belongs to that watch."""

    def __init__(
        self, resource: Resource, representation: Representation, registry: Registry
    ) -> None:
        self._resource = resource
        self._representation = representation
        self._registry = registry
        self._first = True

    async def __call__(self, chunk: bytes) -> bytes:
        """A chunk, converted; where that fails an ERROR, and nothing of it."""
        events = [orjson.loads(line) for line in chunk.splitlines()]
        others = [
            event["object"]
            for event in events
            if event["type"] not in ("BOOKMARK", "ERROR")
            and event["object"]["apiVersion"] != self._resource.api_version
        ]
        if others:
            try:
                made = await self._registry.converter.documents(
                    self._resource, others, self._resource.api_version
                )
            except StatusError as error:
                return error_frame(error.to_dict())
            converted = {id(old): new for old, new in zip(others, made, strict=True)}
        else:
            converted = {}
        frames = []
        for event in events:
            document = event["object"]
            frames.append(self._frame(event["type"], converted.get(id(document), document)))
            self._first = False
        return b"".join(frames)

    def _frame(self, kind: str, document: JSONObject) -> bytes:
        if kind == "ERROR":
            return error_frame(document)
        metadata = document["metadata"]
        revision = int(metadata["resourceVersion"])
        if kind == "BOOKMARK":
            ends = INITIAL_EVENTS_END in (metadata.get("annotations") or {})
            return self._representation.bookmark(
                revision, initial_events_end=ends, first=self._first
            )
        version = Version(
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            uid=metadata.get("uid", ""),
            revision=revision,
            encoded=encode(document),
            labels={},
            fields={},
        )
        return self._representation.frame(EventType(kind), version, revision, first=self._first)
