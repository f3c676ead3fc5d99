"""List and watch in the server's own process, for informers that a page attaches.

Fills the informer's `ListerWatcher` from the registry: the same answers that HTTP gives, behind
the same faults, without a socket. `trace` hears of everything that is asked and answered.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import orjson

from listwatch.api.watch import open_watch
from listwatch.faults import CutError
from listwatch.informer.errors import StreamCutError, api_error
from listwatch.informer.list_watch import ListPage, ListQuery, WatchEvent, WatchQuery
from listwatch.protocol.continue_tokens import ContinueToken
from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from listwatch.protocol.objects import decode
from listwatch.protocol.options import ListOptions
from listwatch.protocol.representations import JSONRepresentation
from listwatch.registry.context import RequestContext
from listwatch.registry.conversions import served
from listwatch.watchcache.requests import ClientInfo

if TYPE_CHECKING:
    from listwatch.faults import FaultyWatch
    from listwatch.protocol.kinds import Resource
    from listwatch.registry.context import UserInfo
    from listwatch.runtime import Runtime
    from listwatch.watchcache.watcher import CacheWatcher

JSON = dict[str, Any]  # Any: JSON values


class Trace(Protocol):
    """Hears what is asked and answered, line by line."""

    def asked(self, verb: str, query: dict[str, str]) -> None:
        """A request goes out: `list` or `watch`."""

    def listed(self, page: ListPage) -> None:
        """A list was answered."""

    def opened(self) -> None:
        """A watch was answered: its stream begins."""

    def line(self, line: bytes) -> None:
        """A line of a watch."""

    def refused(self, status: JSON) -> None:
        """A request was answered with a Status."""

    def ended(self, how: str) -> None:
        """A stream has ended: `closed` by the server, `cut`, or `left` by us."""


class Silence:
    """A trace that nobody reads."""

    def asked(self, verb: str, query: dict[str, str]) -> None:
        """Nothing."""

    def listed(self, page: ListPage) -> None:
        """Nothing."""

    def opened(self) -> None:
        """Nothing."""

    def line(self, line: bytes) -> None:
        """Nothing."""

    def refused(self, status: JSON) -> None:
        """Nothing."""

    def ended(self, how: str) -> None:
        """Nothing."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is listed and watched, by whom."""

    runtime: Runtime
    user: UserInfo
    resource: Resource
    client: ClientInfo
    namespace: str = ""
    labels: str = ""
    fields: str = ""

    @property
    def context(self) -> RequestContext:
        """For one request."""
        return RequestContext(user=self.user, resource=self.resource, namespace=self.namespace)

    def options(self, query: dict[str, str]) -> ListOptions:
        """The request's options; raises what the API would refuse."""
        more = {"labelSelector": self.labels, "fieldSelector": self.fields}
        whole = {**{name: text for name, text in more.items() if text}, **query}
        return ListOptions.from_query({name: [value] for name, value in whole.items()})


class InProcessListerWatcher:
    """Lists and watches as `HTTPListerWatcher` does. `watch_seconds` shortens its watches."""

    def __init__(
        self, source: Source, *, trace: Trace | None = None, watch_seconds: int = 0
    ) -> None:
        self.source = source
        self.stream: InProcessWatch | None = None
        self._trace: Trace = trace or Silence()
        self._watch_seconds = watch_seconds

    async def list(self, query: ListQuery) -> ListPage:
        """One page; raises ApiError."""
        source, parameters = self.source, query.parameters()
        self._trace.asked("list", parameters)
        try:
            found = await source.runtime.registry.list(source.context, source.options(parameters))
        except StatusError as error:
            self._trace.refused(error.to_dict())
            raise api_error(error.to_dict()) from None
        resource = source.resource
        token = ""
        if found.next_key is not None:
            after = ContinueToken.after(found.next_key, source.namespace, found.revision)
            token = after.encode()
        items = [decode(served(resource, v.encoded), v.revision) for v in found.versions]
        page = ListPage(
            items, str(found.revision), token, f"{resource.kind}List", resource.api_version
        )
        self._trace.listed(page)
        return page

    async def watch(self, query: WatchQuery) -> InProcessWatch:
        """Open a watch; raises ApiError."""
        source, parameters = self.source, query.parameters()
        if self._watch_seconds:
            parameters["timeoutSeconds"] = str(self._watch_seconds)
        self._trace.asked("watch", parameters)
        parameters["watch"] = "true"
        representation = JSONRepresentation(source.resource.kind, source.resource.api_version)
        try:
            watcher = await open_watch(
                source.runtime, source.context, source.options(parameters), representation,
                source.client,
            )  # fmt: skip
        except StatusError as error:
            self._trace.refused(error.to_dict())
            raise api_error(error.to_dict()) from None
        self._trace.opened()
        self.stream = InProcessWatch(watcher, self._trace)
        return self.stream


class InProcessWatch:
    """An open watch as the informer reads it."""

    def __init__(self, watcher: CacheWatcher | FaultyWatch, trace: Trace) -> None:
        self.watcher = watcher
        self._trace = trace
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._over = False
        self._cut = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent:
        while not self._lines:
            try:
                chunk = await self.watcher.next_chunk()
            except CutError:
                raise self._broken() from None
            if self._cut:
                raise self._broken()
            if chunk is None:
                self._end("closed")
                raise StopAsyncIteration
            parts = (self._rest + chunk).split(b"\n")
            self._rest = parts.pop()
            self._lines.extend(parts)
        line = self._lines.popleft()
        self._trace.line(line)
        frame = orjson.loads(line)
        return WatchEvent(frame["type"], frame["object"])

    async def close(self) -> None:
        """Leave it."""
        self.watcher.close(EndReason.CLIENT_LEFT)
        self._end("left")

    def break_off(self) -> None:
        """Cut it from here, as a connection breaks."""
        self._cut = True
        self.watcher.close(EndReason.FAULT_INJECTED)

    def _broken(self) -> StreamCutError:
        self._end("cut")
        return StreamCutError("the connection broke off")

    def _end(self, how: str) -> None:
        if not self._over:
            self._over = True
            self._trace.ended(how)
