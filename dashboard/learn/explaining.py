"""What each line of a list-watch means, said when it happens.

A `Narrator` hears what a real reflector asks and is answered (`in_process.Trace`) and makes a
`Step` of each line; what a line means depends on those before it. No I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import orjson

from listwatch.protocol.events import INITIAL_EVENTS_END

if TYPE_CHECKING:
    from listwatch.informer.list_watch import ListPage

JSON = dict[str, Any]  # Any: JSON values

STEPS = 300  # kept; older ones are forgotten, which is told
SHOWN = 2_000  # characters of a line shown at most


_EVENTS = {
    "ADDED": (
        "appeared",
        "It exists now and did not before, or it came to match the selector of this watch.",
    ),
    "MODIFIED": (
        "changed",
        (
            "The whole object as it is now: a watch sends states, no differences. Two writes in "
            "quick succession are two events."
        ),
    ),
    "DELETED": (
        "is gone",
        (
            "It was deleted, or it does not match the selector any more. The object is its last "
            "state, under the revision of the deletion."
        ),
    ),
}


class Step(NamedTuple):
    """One line: who said it, what it says, and what it means."""

    number: int
    at: float  # wall time
    who: str  # client, server or you
    kind: str  # list, watch, ADDED, ..., BOOKMARK, ERROR, end, write
    line: str
    title: str
    means: str
    next: str  # what the client does because of it

    def to_dict(self) -> JSON:
        """As JSON."""
        return {"id": self.number, **self._asdict()}


class Narrator:
    """Makes steps of what happens; `told` is called for each."""

    def __init__(self, path: str, now: Callable[[], float], told: Callable[[], None]) -> None:
        self.steps: deque[Step] = deque(maxlen=STEPS)
        self.number = 0
        self._path = path
        self._now = now
        self._told = told
        self._revision = ""  # up to where the client has heard
        self._in_state = False  # a streaming list has begun and not ended
        self._streaming = False
        self._why = ""  # what the last end was

    def since(self, number: int) -> list[Step]:
        """The steps after one."""
        return [step for step in self.steps if step.number > number]

    # As a trace.

    def asked(self, verb: str, query: dict[str, str]) -> None:
        """A request goes out."""
        path = f"GET {self._path}?{urlencode(query)}" if query else f"GET {self._path}"
        if verb == "list":
            self._list_asked(path)
        else:
            self._watch_asked(path, query)

    def listed(self, page: ListPage) -> None:
        """A list was answered."""
        self._revision = page.resource_version
        count = len(page.items)
        names = ", ".join(str(item["metadata"]["name"]) for item in page.items[:5])
        more = f" and {count - 5} more" if count > 5 else ""
        head = {"kind": page.kind, "metadata": {"resourceVersion": page.resource_version}}
        line = f'{orjson.dumps(head).decode()[:-1]},"items":[{count} objects: {names}{more}]}}'
        self._step(
            "server", "list", line,
            f"The state at revision {page.resource_version}",
            "All objects as they stood at one moment, and the number of that moment: "
            "metadata.resourceVersion. It is the list's, not that of any object in it.",
            f"Replaces its store by these {count} objects, and watches from exactly "
            f"{page.resource_version}: nothing before is missing, nothing after comes twice.",
        )  # fmt: skip

    def opened(self) -> None:
        """A watch was answered."""
        self._step(
            "server", "watch", "HTTP/1.1 200 OK, Transfer-Encoding: chunked",
            "The stream is open",
            "The answer has begun and does not end: each event will be one line of JSON. The "
            "headers come at once, even if no event does.",
            "Reads line after line. Nothing else is asked while this lasts.",
        )  # fmt: skip

    def line(self, line: bytes) -> None:
        """A line of a watch."""
        frame = orjson.loads(line)
        kind, subject = frame["type"], frame["object"]
        metadata = subject.get("metadata") or {}
        revision = str(metadata.get("resourceVersion") or "")
        text = line.decode()
        if kind == "BOOKMARK":
            self._bookmark(text, revision, metadata)
        elif kind == "ERROR":
            self._error(text, subject)
        else:
            self._event(kind, text, revision, str(metadata.get("name") or ""))

    def refused(self, status: JSON) -> None:
        """A request was answered with a Status."""
        self._error(orjson.dumps(status).decode(), status)

    def ended(self, how: str) -> None:
        """A stream has ended."""
        self._why = how
        if how == "left":
            return
        if how == "cut":
            title, means = "The connection broke off", (
                "No end of the body came: half a line may be lost, and events behind it. Only what "
                "came whole counts."
            )  # fmt: skip
        else:
            title, means = "The server ended the stream", (
                "A watch ends by itself after timeoutSeconds (here a few, elsewhere five to ten "
                "minutes), so that no client hangs on one server for ever. That is no failure."
            )  # fmt: skip
        follows = (
            f"Watches again from {self._revision}, the last one it heard of: no list is needed."
            if self._revision
            else "Lists anew."
        )
        self._step("server", "end", "(end of the stream)", title, means, follows)

    def wrote(self, what: str, revision: str) -> None:
        """Somebody wrote."""
        self._step(
            "you", "write", what,
            f"A write: revision {revision}" if revision else "A write",
            "The store commits it under the next revision, which is the object's resourceVersion "
            "from now on. The answer goes to who wrote; everybody else hears by watch.",
            "Nothing yet: it does not know.",
        )  # fmt: skip

    # Parts.

    def _list_asked(self, path: str) -> None:
        if self._why == "expired":
            title = "A relist"
            means = (
                "What it missed cannot be told any more, so it asks for the whole state again. "
                "This is the dear case: with many objects and many clients, a storm."
            )
        else:
            title = "List: what is there now?"
            means = (
                "The first thing that a client does: without a state to begin with, events mean "
                "nothing. limit asks for pages; resourceVersion=0 would take any cached state."
            )
        self._why = ""
        self._step("client", "list", path, title, means, "Waits for the answer.")

    def _watch_asked(self, path: str, query: dict[str, str]) -> None:
        revision = query.get("resourceVersion", "")
        self._streaming = self._in_state = "sendInitialEvents" in query
        if self._streaming:
            title = "A streaming list: the state by watch"
            means = (
                "sendInitialEvents asks for the state as ADDED events on the stream itself, ended "
                "by a bookmark with an annotation. The server need not build a whole list for it."
            )
        elif self._why in ("closed", "cut"):
            title = f"Resume: what came after {revision}?"
            means = (
                "The stream is gone, the place in the history is not. The server takes what came "
                "since from its ring, or from its log."
            )
        else:
            title = f"Watch: what comes after {revision}?"
            means = (
                "The list's resourceVersion is the seam between state and changes. "
                "allowWatchBookmarks asks to be told now and then how far the stream has come."
            )
        self._why = ""
        self._step("client", "watch", path, title, means, "Waits for lines.")

    def _event(self, kind: str, text: str, revision: str, name: str) -> None:
        if self._in_state:
            self._step(
                "server", kind, text,
                f"Of the state: {name}",
                "ADDED here says that it exists, not that it was just created. These come in any "
                "order, with the revisions of their own last writes.",
                "Keeps it aside until the state is whole.",
            )  # fmt: skip
            return
        self._revision = revision
        did, means = _EVENTS.get(kind, ("did something unknown", "A type that nobody knows."))
        self._step(
            "server", kind, text,
            f"{name} {did} at revision {revision}", means,
            f"Changes its store, tells its handlers, and remembers {revision} as its place.",
        )  # fmt: skip

    def _bookmark(self, text: str, revision: str, metadata: JSON) -> None:
        self._revision = revision
        if INITIAL_EVENTS_END in (metadata.get("annotations") or {}):
            self._in_state = False
            self._step(
                "server", "BOOKMARK", text,
                f"The state is whole, at revision {revision}",
                f"The annotation {INITIAL_EVENTS_END} ends a streaming list: everything before was "
                "the state, everything after is change.",
                "Replaces its store at once by what it kept aside, and is synced.",
            )  # fmt: skip
            return
        self._step(
            "server", "BOOKMARK", text,
            f"Nothing else up to revision {revision}",
            "A bookmark carries no object, only a resourceVersion: whatever happened until then "
            "was not for this watch. Without bookmarks an idle watch keeps an old place, and is "
            "told 410 when it comes back.",
            f"Remembers {revision} as its place, and that the connection lives.",
        )  # fmt: skip

    def _error(self, text: str, status: JSON) -> None:
        code = status.get("code")
        if code == 410:
            self._revision, self._why = "", "expired"
            self._step(
                "server", "ERROR", text,
                "410 Expired: that history is gone",
                "Ring and log do not reach back to the revision that was asked for. It comes in "
                "two forms: as an HTTP answer, or as an ERROR event on an open stream.",
                "Forgets its place and lists anew; what came and went in between it never learns.",
            )  # fmt: skip
            return
        self._step(
            "server", "ERROR", text,
            f"{code} {status.get('reason', '')}: {status.get('message', '')}",
            "A Status: the API's way to refuse.",
            "Waits, longer each time and with jitter, and tries again.",
        )  # fmt: skip

    def _step(self, who: str, kind: str, line: str, title: str, means: str, follows: str) -> None:
        self.number += 1
        shown = line if len(line) <= SHOWN else f"{line[:SHOWN]}..."
        self.steps.append(Step(self.number, self._now(), who, kind, shown, title, means, follows))
        self._told()
