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
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import orjson

from dashboard import access
from dashboard.attached import JSON, Message, Opening
from dashboard.wishes import Wish, resource_of
from listwatch.api.watch import open_watch
from listwatch.faults import CutError
from listwatch.protocol.errors import StatusError, bad_request
from listwatch.protocol.events import INITIAL_EVENTS_END, EndReason
from listwatch.registry.context import RequestContext
from listwatch.watchcache.requests import ClientInfo

if TYPE_CHECKING:
    from listwatch.faults import FaultyWatch
    from listwatch.registry.context import UserInfo
    from listwatch.watchcache.watcher import CacheWatcher

logger = logging.getLogger(__name__)

HELD_EVENTS = 500  # of the newest events, kept so that they can be shown or opened
HELD_BYTES = 8 * 1024 * 1024
PER_FRAME = 200  # events in one frame at most
SHOWN_BYTES = 256 * 1024  # of one object, opened in the browser
PIECE = 256 * 1024  # of lines that are saved, in one frame
AGENT = "listwatch-dashboard"


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

    def __init__(self, wish: Wish, user: UserInfo, opening: Opening) -> None:
        self._wish = wish
        self._title = " ".join(wish.command.removeprefix("kubectl get ").split(" ")[:-2])
        self._runtime = opening.runtime
        self._user = user
        self._wake = opening.wake
        self._address = opening.address
        self._watcher: CacheWatcher | FaultyWatch | None = None
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
        self._saving: Iterator[JSON] | None = None
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

    async def act(self, message: Message) -> None:
        """`show` the object of one held event, or `save` all held lines; raises 400."""
        match message:
            case {"act": "show", "event": int(number)}:
                self._wanted.append(number)
            case {"act": "save"}:
                self._saving = _pieces([event.raw for event in self._held], self._received)
            case _:
                raise bad_request("a watcher can show an event, or save its lines")
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
        if self._saving is not None:
            answer["saved"] = next(self._saving, None)
            if answer["saved"] is None or answer["saved"]["last"]:
                self._saving = None
            else:
                self.dirty = True
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
        _metadata(document).pop("managedFields", None)
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
        except CutError:
            self._state = "cut"
        except StatusError as error:
            self._state, self._status = "refused", error.to_dict()
        except Exception:
            logger.exception("an attached watcher failed")
            self._state = "ended"
        finally:
            if self._watcher is not None:
                self._watcher.close(EndReason.FAILED)
            self._moved()

    async def _open(self) -> CacheWatcher | FaultyWatch:
        wish = self._wish
        return await open_watch(
            self._runtime,
            RequestContext(user=self._user, resource=wish.resource, namespace=wish.namespace),
            wish.options,
            wish.representation(self._runtime.clock),
            ClientInfo(agent=AGENT, user=self._user.name, address=self._address),
        )

    def _receive(self, chunk: bytes) -> None:
        now = self._runtime.clock.now()
        for line in chunk.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                continue  # half a line, of a stream that was cut
            self._received += 1
            event = self._event(orjson.loads(line), line, now)
            self._held.append(event)
            self._held_bytes += len(line)
        while len(self._held) > 1 and (
            len(self._held) > HELD_EVENTS or self._held_bytes > HELD_BYTES
        ):
            self._held_bytes -= len(self._held.popleft().raw)
        self._moved()

    def _event(self, frame: JSON, line: bytes, now: float) -> Event:
        kind, document = frame["type"], frame["object"]
        metadata = _metadata(document)
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


async def attach_watcher(opening: Opening, message: Message) -> Attachment:
    """A watcher as the form asks; raises what the API would, 403 among it."""
    runtime = opening.runtime
    cacher = runtime.caches.cachers().get(resource_of(message, runtime.resources).storage)
    oldest = 0 if cacher is None else cacher.floor
    wish = Wish.read(message, runtime.resources, runtime.caches.progress.applied, oldest)
    user = await access.watching_user(runtime, opening.visitor, wish.resource, wish.namespace)
    return Attachment(wish, user, opening)


def _metadata(document: JSON) -> JSON:
    """An object's metadata; of a Table, that of the object in its one row, with the revision."""
    metadata: JSON = document.get("metadata") or {}
    if document.get("kind") == "Table":
        row = (document.get("rows") or [{}])[0].get("object") or {}
        return {**metadata, **(row.get("metadata") or {})}
    return metadata


def _pieces(lines: list[bytes], received: int) -> Iterator[JSON]:
    """The lines as text, in pieces of at most one line more than PIECE, with what they are."""
    text: list[bytes] = []
    size = 0
    for number, line in enumerate(lines, start=1):
        text.append(line)
        size += len(line)
        last = number == len(lines)
        if size >= PIECE or last:
            yield {
                "text": b"".join(text).decode(), "last": last, "lines": len(lines),
                "missing": received - len(lines),
            }  # fmt: skip
            text, size = [], 0
    if not lines:
        yield {"text": "", "last": True, "lines": 0, "missing": received}
