"""A server in the same process that does wrong on command: the model behind `test_machine`.

It holds a true log. What it sends may be cut, late, twice, refused or expired, but never untrue.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Self

from listwatch.informer.errors import ConnectionRefused, StreamCutError, api_error
from listwatch.informer.list_watch import ListPage, ListQuery, WatchEvent, WatchQuery
from listwatch.informer.objects import JSONObject
from listwatch.protocol.errors import (
    expired,
    internal_error,
    too_large_resource_version,
    too_many_requests,
)
from tests.informer.kit import END, bookmark, error_event, thing


class FaultyServer:
    """Objects, their log, and faults that wait for the next requests and streams."""

    def __init__(self, *, streaming: bool = True, page_limit: int = 0) -> None:
        self.version = 100
        self.objects: dict[str, JSONObject] = {}
        self.log: list[WatchEvent] = []
        self.compacted = 100
        self.refusals: deque[str] = deque()  # what befalls the next requests
        self.streaming = streaming
        self.page_limit = page_limit
        self.streams: list[ServerStream] = []
        self.requests: list[str] = []
        self._snapshots: dict[str, tuple[list[JSONObject], int]] = {}

    # What the test does

    def write(self, name: str) -> None:
        self.version += 1
        kind = "MODIFIED" if name in self.objects else "ADDED"
        self.objects[name] = thing(name, self.version)
        self._happened(WatchEvent(kind, self.objects[name]))

    def delete(self, name: str) -> None:
        if name in self.objects:
            self.version += 1
            del self.objects[name]
            self._happened(WatchEvent("DELETED", thing(name, self.version)))

    def compact(self) -> None:
        """Forget all history: whoever is behind must list."""
        self.compacted = self.version
        self._snapshots.clear()

    def restore(self, back: int) -> None:
        """From a backup, as etcd does it: an older state, under versions that nobody was given."""
        self.cut()
        self.log = self.log[: max(len(self.log) - back, 0)]
        self.objects = {}
        for event in self.log:
            name = event.object["metadata"]["name"]
            if event.type == "DELETED":
                self.objects.pop(name, None)
            else:
                self.objects[name] = event.object
        self.version += 1000
        self.compact()

    def cut(self, error: BaseException | None = None) -> None:
        """End all streams, well or in the middle of a line."""
        for stream in self.streams:
            stream.give(error)
        self.streams = []

    def expire_streams(self) -> None:
        for stream in self.streams:
            stream.give(error_event(expired("too old")))
        self.cut()

    def repeat(self) -> None:
        """Send the newest events once more, and an old one late."""
        for stream in self.streams:
            if stream.live:
                for event in [*self.log[-2:], *self.log[:1]]:
                    if _version(event) >= stream.began:
                        stream.give(event)

    def mark(self) -> None:
        for stream in self.streams:
            if stream.live:
                stream.give(bookmark(self.version))

    # What the informer asks

    async def list(self, query: ListQuery) -> ListPage:
        self.requests.append("list")
        await asyncio.sleep(0)
        self._refuse()
        if query.continue_token:
            if query.continue_token not in self._snapshots:
                raise api_error(expired("token").to_dict())
            items, version = self._snapshots[query.continue_token]
        else:
            self._check_reached(query.resource_version)
            items, version = sorted(self.objects.values(), key=str), self.version
        limit = self.page_limit and min(query.limit or len(items), self.page_limit)
        if limit and len(items) > limit and (query.limit or query.continue_token):
            token = f"t{len(self._snapshots)}-{version}"
            self._snapshots[token] = (items[limit:], version)
            return ListPage(items[:limit], str(version), token, "ThingList", "v1")
        return ListPage(items, str(version), "", "ThingList", "v1")

    async def watch(self, query: WatchQuery) -> ServerStream:
        self.requests.append("watch")
        await asyncio.sleep(0)
        self._refuse()
        stream = ServerStream()
        if query.initial_events:
            if not self.streaming:
                raise api_error({"reason": "Invalid", "code": 422})
            self._check_reached(query.resource_version)
            for subject in self.objects.values():
                stream.give(WatchEvent("ADDED", subject))
            stream.give(bookmark(self.version, END))
            stream.began = self.version + 1
        else:
            self._check_reached(query.resource_version)
            since = int(query.resource_version or 0)
            if since < self.compacted:
                stream.give(error_event(expired("too old")))
                stream.give(None)
                return stream
            for event in self.log:
                if _version(event) > since:
                    stream.give(event)
            stream.began = since + 1
        self.streams.append(stream)
        return stream

    def _check_reached(self, version: str) -> None:
        if int(version or 0) > self.version:
            error = too_large_resource_version(int(version), self.version)
            raise api_error(error.to_dict())

    def _refuse(self) -> None:
        match self.refusals.popleft() if self.refusals else "":
            case "refused":
                raise ConnectionRefused("nobody")
            case "busy":
                raise api_error(too_many_requests("busy", 1).to_dict())
            case "internal":
                raise api_error(internal_error("x").to_dict())
            case "expired":
                raise api_error(expired("x").to_dict())

    def _happened(self, event: WatchEvent) -> None:
        self.log.append(event)
        for stream in self.streams:
            stream.give(event)


class ServerStream:
    """One open watch."""

    def __init__(self) -> None:
        self._waiting: deque[Any] = deque()
        self._arrived = asyncio.Event()
        self.began = 0  # the first version that belongs into it
        self.live = True

    def give(self, what: Any) -> None:
        """An event, an error, or None for its end."""
        self._waiting.append(what)
        self._arrived.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent:
        while not self._waiting:
            if not self.live:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        found = self._waiting.popleft()
        if found is None:
            self.live = False
            raise StopAsyncIteration
        if isinstance(found, BaseException):
            self.live = False
            raise found
        event: WatchEvent = found
        return event

    async def close(self) -> None:
        self.live = False
        self._arrived.set()


def _version(event: WatchEvent) -> int:
    return int(event.object["metadata"]["resourceVersion"])


CUT = StreamCutError("in the middle of a line")
