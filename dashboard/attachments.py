"""Watchers that a person attached from the browser: real ones, from the registry as any client's.

`session` starts, pauses and ends them and sends what they `take`. While the page is looked at, the
watcher is pulled no faster than the page takes its events: a slow browser makes a slow watcher,
which the watchers table shows. While the view is paused or the page hidden, the stream goes on,
and the newest events are held up to a bound.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from dashboard import commands
from listwatch.protocol.errors import StatusError, bad_request, resource_not_found
from listwatch.protocol.events import INITIAL_EVENTS_END, EndReason
from listwatch.protocol.options import ListOptions
from listwatch.protocol.representations import JSONRepresentation
from listwatch.registry.context import RequestContext
from listwatch.watchcache.requests import ClientInfo

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.registry.context import UserInfo
    from listwatch.registry.resources import ResourceTable
    from listwatch.runtime import Runtime
    from listwatch.watchcache.watcher import CacheWatcher

logger = logging.getLogger(__name__)

HELD_EVENTS = 500  # of the newest events, kept so that they can be shown or opened
HELD_BYTES = 8 * 1024 * 1024
PER_FRAME = 200  # events in one frame at most
SHOWN_BYTES = 256 * 1024  # of one object, opened in the browser
AGENT = "listwatch-dashboard"

JSON = dict[str, Any]  # Any: JSON values


@dataclass(frozen=True, slots=True)
class Wish:
    """What to watch, read from the form and checked as the API checks a request."""

    resource: Resource
    namespace: str
    options: ListOptions
    command: str  # of kubectl, for the same watch

    @classmethod
    def read(cls, form: Mapping[str, Any], resources: ResourceTable, applied: int) -> Wish:
        """Read the form's fields; raises StatusError for what the API would refuse.

        `resource` is `v1/pods` or `apps/v1/deployments`; `from` is `state` (a streaming list),
        `now` (which is revision `applied`), or `revision` with the number in `revision`.
        """
        path, _, name = str(form.get("resource", "")).rpartition("/")
        group, _, version = path.rpartition("/")
        resource = resources.find(group, version, name)
        if resource is None or "watch" not in resource.verbs:
            raise resource_not_found()
        namespace = str(form.get("namespace", "")).strip()
        if namespace and not resource.namespaced:
            raise bad_request(f"{resource.resource} stand in no namespace")
        query = query_of(form, applied)
        options = ListOptions.from_query({name: [value] for name, value in query.items()})
        command = commands.watch(resource, form)
        return cls(resource, namespace, options, command)


def query_of(form: Mapping[str, Any], applied: int) -> dict[str, str]:
    """The query of the same watch at the API."""
    query = {"watch": "true"}
    for field, parameter in (("labels", "labelSelector"), ("fields", "fieldSelector")):
        if text := str(form.get(field, "")).strip():
            query[parameter] = text
    if form.get("bookmarks"):
        query["allowWatchBookmarks"] = "true"
    match form.get("from", "state"):
        case "state":
            query |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        case "now":
            query["resourceVersion"] = str(applied)
        case "revision":
            query["resourceVersion"] = str(form.get("revision", "")).strip()
    return query


class Event(NamedTuple):
    """One event as a pane lists it; `raw` is the whole frame."""

    number: int
    type: str
    revision: str
    key: str
    at: float
    raw: bytes

    def to_dict(self) -> JSON:
        """The event without its object."""
        return {
            "id": self.number, "type": self.type, "revision": self.revision, "key": self.key,
            "at": self.at, "bytes": len(self.raw),
        }  # fmt: skip


class Attachment:
    """One attached watcher and the newest of what it received.

    Promises that no event is left out without being counted: `skipped` says how many passed
    unseen. Owned by the session's loop. `start` once; `stop` ends the watch as `detached`.
    """

    def __init__(
        self,
        wish: Wish,
        runtime: Runtime,
        user: UserInfo,
        *,
        wake: Callable[[], None],
        address: str,
    ) -> None:
        self._wish = wish
        self._title = " ".join(wish.command.removeprefix("kubectl get ").split(" ")[:-2])
        self._runtime = runtime
        self._user = user
        self._wake = wake
        self._address = address
        self._watcher: CacheWatcher | None = None
        self._task: asyncio.Task[None] | None = None
        self._held: deque[Event] = deque()
        self._held_bytes = 0
        self._received = 0
        self._bookmarks = 0
        self._taken = 0
        self._skipped = 0
        self._revision = ""
        self._synced = False
        self._state = "opening"
        self._status: JSON | None = None
        self._paused = False
        self._page_visible = True
        self._room = asyncio.Event()
        self._wanted: list[int] = []
        self.dirty = True

    def start(self) -> None:
        """Open the watch and begin to pull."""
        self._task = asyncio.create_task(self._run(), name="attached watcher")

    async def stop(self) -> None:
        """End the watch as detached."""
        if self._watcher is not None:
            self._watcher.close(EndReason.DETACHED)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def pause(self, paused: bool) -> None:
        """Freeze or unfreeze the view; the stream goes on."""
        self._paused = paused
        self._moved()
        self._room.set()

    def show_page(self, visible: bool) -> None:
        """Whether somebody looks at the page."""
        self._page_visible = visible
        self._room.set()

    def show(self, number: int) -> None:
        """Send the object of one held event with the next frame."""
        self._wanted.append(number)
        self._moved()

    def take(self) -> JSON:
        """What the page has not seen yet."""
        self.dirty = False
        events: list[JSON] = []
        if not self._paused:
            events = self._next_events()
            self._room.set()
        answer: JSON = {
            "title": self._title,
            "command": self._wish.command,
            "state": "paused" if self._paused and self._state == "live" else self._state,
            "events": events,
            "received": self._received,
            "bookmarks": self._bookmarks,
            "waiting": self._received - self._taken,
            "skipped": self._skipped,
            "revision": self._revision,
            "synced": self._synced,
        }
        if self._watcher is not None:
            answer["watcher"] = str(self._watcher.id)
            if self._watcher.end_reason is not None:
                answer["end_reason"] = str(self._watcher.end_reason)
        if self._status is not None:
            answer["status"] = self._status
        if self._wanted:
            answer["shown"] = [self._object(number) for number in self._wanted]
            self._wanted = []
        return answer

    def _next_events(self) -> list[JSON]:
        fresh = [event for event in self._held if event.number > self._taken]
        if fresh:
            self._skipped += fresh[0].number - self._taken - 1
        fresh = fresh[:PER_FRAME]
        if fresh:
            self._taken = fresh[-1].number
        self.dirty = self._received > self._taken
        return [event.to_dict() for event in fresh]

    def _object(self, number: int) -> JSON:
        event = next((event for event in self._held if event.number == number), None)
        if event is None:
            return {"id": number, "text": "", "gone": True}
        if len(event.raw) > SHOWN_BYTES:
            return {"id": number, "text": "", "bytes": len(event.raw)}
        document = orjson.loads(event.raw)["object"]
        document.get("metadata", {}).pop("managedFields", None)
        return {"id": number, "text": orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()}

    async def _run(self) -> None:
        try:
            self._watcher = await self._open()
            self._state = "live"
            self._moved()
            while (chunk := await self._watcher.next_chunk()) is not None:
                self._receive(chunk)
                await self._until_room()
            self._state = "ended"
        except StatusError as error:
            self._state, self._status = "refused", error.to_dict()
        except Exception:
            logger.exception("an attached watcher failed")
            self._state = "ended"
        finally:
            if self._watcher is not None:
                self._watcher.close(EndReason.FAILED)
            self._moved()

    async def _open(self) -> CacheWatcher:
        resource = self._wish.resource
        return await self._runtime.registry.watch(
            RequestContext(user=self._user, resource=resource, namespace=self._wish.namespace),
            self._wish.options,
            JSONRepresentation(resource.kind, resource.api_version),
            ClientInfo(agent=AGENT, user=self._user.name, address=self._address),
        )

    def _receive(self, chunk: bytes) -> None:
        now = self._runtime.clock.now()
        for line in chunk.splitlines(keepends=True):
            frame = orjson.loads(line)
            self._received += 1
            event = self._event(frame, line, now)
            self._held.append(event)
            self._held_bytes += len(line)
        while len(self._held) > 1 and (
            len(self._held) > HELD_EVENTS or self._held_bytes > HELD_BYTES
        ):
            self._held_bytes -= len(self._held.popleft().raw)
        self._moved()

    def _event(self, frame: JSON, line: bytes, now: float) -> Event:
        kind, document = frame["type"], frame["object"]
        metadata = document.get("metadata", {})
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        key = f"{namespace}/{name}" if namespace else name
        revision = metadata.get("resourceVersion", "")
        if kind == "ERROR":
            self._status = document
            key, revision = document.get("message", ""), ""
        elif kind == "BOOKMARK":
            self._bookmarks += 1
            if INITIAL_EVENTS_END in (metadata.get("annotations") or {}):
                self._synced = True
                key = INITIAL_EVENTS_END
        # An ERROR has no revision, and must not make the page forget where it was.
        self._revision = revision or self._revision
        return Event(self._received, kind, revision, key, now, line)

    async def _until_room(self) -> None:
        while self._page_visible and not self._paused and self._received - self._taken > PER_FRAME:
            self._room.clear()
            await self._room.wait()

    def _moved(self) -> None:
        self.dirty = True
        self._wake()
