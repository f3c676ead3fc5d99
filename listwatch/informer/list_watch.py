"""List and watch as a reflector asks for them, whoever answers; and the answer over HTTP.

`ListerWatcher` is the seam: `HTTPListerWatcher` fills it from a `client`, tests from a server in
their own process. What it yields goes into `reflector`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from listwatch.informer.objects import JSONObject
from listwatch.informer.resources import APIResource

if TYPE_CHECKING:
    from listwatch.informer.client import Client, JSONStream


@dataclass(frozen=True, slots=True)
class ListQuery:
    """One page of a list."""

    resource_version: str = ""
    limit: int = 0
    continue_token: str = ""

    def parameters(self) -> dict[str, str]:
        """As query parameters; what is empty is left out."""
        found = {
            "resourceVersion": self.resource_version,
            "limit": str(self.limit) if self.limit else "",
            "continue": self.continue_token,
        }
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class WatchQuery:
    """One watch; with `initial_events` it begins with the state (a streaming list)."""

    resource_version: str = ""
    timeout_seconds: int = 0
    bookmarks: bool = True
    initial_events: bool = False

    def parameters(self) -> dict[str, str]:
        """As query parameters."""
        found = {
            "watch": "1",
            "resourceVersion": self.resource_version,
            "timeoutSeconds": str(self.timeout_seconds) if self.timeout_seconds else "",
            "allowWatchBookmarks": "true" if self.bookmarks else "",
        }
        if self.initial_events:
            found |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        return {name: value for name, value in found.items() if value}


class ListPage(NamedTuple):
    """The answer to a ListQuery."""

    items: list[JSONObject]
    resource_version: str
    continue_token: str = ""
    kind: str = ""
    api_version: str = ""


class WatchEvent(NamedTuple):
    """One frame of a watch; `type` is text, as a server may send what nobody knows."""

    type: str
    object: JSONObject


class WatchStream(Protocol):
    """An open watch. Ends by StopAsyncIteration when the server closed it well.

    Raises StreamCutError for an end in the middle and DecodingError for a line that is no event.
    """

    def __aiter__(self) -> WatchStream:
        """Itself."""

    async def __anext__(self) -> WatchEvent:
        """The next event, in the order of the wire."""

    async def close(self) -> None:
        """End it; may be called more than once, and from a cancelled task."""


class ListerWatcher(Protocol):
    """Lists and watches one kind in one scope."""

    async def list(self, query: ListQuery) -> ListPage:
        """One page; raises ApiError or TransportError."""

    async def watch(self, query: WatchQuery) -> WatchStream:
        """Open a watch: returns when the server said yes; raises ApiError or TransportError."""


class HTTPListerWatcher:
    """Lists and watches a resource of an API server, in a namespace or all, by selectors."""

    def __init__(
        self,
        client: Client,
        resource: APIResource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
    ) -> None:
        self.client = client
        self.resource = resource
        self._path = resource.path(namespace)
        selectors = {"labelSelector": label_selector, "fieldSelector": field_selector}
        self._selectors = {name: text for name, text in selectors.items() if text}

    async def list(self, query: ListQuery) -> ListPage:
        """One page; the items get the kind and apiVersion that lists leave out of them."""
        # No retries below the reflector: it sees every failure, and waits for all of them.
        document = await self.client.request(
            "GET", self._path, query={**self._selectors, **query.parameters()}, retries=0
        )
        metadata = document.get("metadata") or {}
        kind, version = str(document.get("kind") or ""), str(document.get("apiVersion") or "")
        items: list[JSONObject] = document.get("items") or []
        if kind.endswith("List") and kind != "List":
            head = {"apiVersion": version, "kind": kind.removesuffix("List")}
            items = [item if "kind" in item else {**head, **item} for item in items]
        return ListPage(
            items,
            str(metadata.get("resourceVersion") or ""),
            str(metadata.get("continue") or ""),
            kind,
            version,
        )

    async def watch(self, query: WatchQuery) -> _HTTPWatch:
        """Open a watch."""
        parameters = {**self._selectors, **query.parameters()}
        return _HTTPWatch(await self.client.stream(self._path, query=parameters))


class _HTTPWatch:
    def __init__(self, stream: JSONStream) -> None:
        self._stream = stream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent:
        document = await self._stream.__anext__()
        return WatchEvent(str(document.get("type") or ""), document.get("object") or {})

    async def close(self) -> None:
        await self._stream.close()
