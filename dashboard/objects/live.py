"""The channel of a table of objects: it lists, then watches, as any client does.

The watch is a real one, as the visitor; it stands among the watchers as `listwatch-dashboard`.
Events are put together as they come, and a row is made once a frame, of the newest state alone: a
busy kind costs what the page shows, not what happens.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import orjson

from dashboard.attachments import AGENT
from dashboard.objects.asker import asker_for
from dashboard.objects.listing import ROWS, Listed, Wanted, listed
from dashboard.objects.tables import sorted_rows
from dashboard.tabular import TableChanges
from listwatch.api.converted import ConvertedRepresentation
from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from listwatch.protocol.objects import key_of
from listwatch.protocol.options import ListOptions
from listwatch.registry.conversions import by_webhook
from listwatch.watchcache.requests import ClientInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dashboard.access import Visitor
    from dashboard.objects.asker import Asker
    from listwatch.protocol.objects import JSONObject
    from listwatch.runtime import Runtime, RuntimeStatistics
    from listwatch.watchcache.watcher import CacheWatcher

logger = logging.getLogger(__name__)

JSON = dict[str, Any]  # Any: JSON values

PULL = 0.1  # seconds between two chunks: no faster than the page is drawn
AGAIN = 1.0  # seconds before a list is asked for again


class ObjectsChannel:
    """The rows of one page of one kind, for one browser.

    Promises that the rows are those of one list and of all events that followed: an ERROR changes
    none of them, it leads to a new list. `argument` is `pods?namespace=default`.
    """

    def __init__(
        self, runtime: Runtime, visitor: Visitor, argument: str, wake: Callable[[], None]
    ) -> None:
        name, _, query = argument.partition("?")
        self._wanted = Wanted.read(runtime.resources, name, dict(parse_qsl(query)))
        self._runtime = runtime
        self._visitor = visitor
        self._wake = wake
        self._rows = Rows(self._wanted)
        self._status: JSON | None = None
        self._task: asyncio.Task[None] | None = None
        self._paused = False
        self.dirty = False

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Nothing: what it shows comes from its watch."""
        return None

    def take(self) -> JSON | None:
        """What changed in the table; paused, only how many events wait."""
        self.dirty = False
        if self._status is not None:
            return {"status": self._status}
        return {"waiting": self._rows.waiting} if self._paused else self._rows.take()

    def show(self, visible: bool) -> None:
        """Watch while somebody looks, and at no other time."""
        if visible and self._task is None:
            self._task = asyncio.create_task(self._run(), name="table of objects")
        elif not visible:
            self.close()

    def pause(self, paused: bool) -> None:
        """Freeze the view; the watch goes on."""
        self._paused = paused
        self._moved()

    def close(self) -> None:
        """End the watch."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _moved(self) -> None:
        self.dirty = True
        self._wake()

    async def _run(self) -> None:
        try:
            while True:
                asker = await asker_for(self._runtime, self._visitor)
                page = await listed(asker, self._wanted)
                self._rows.replace(page)
                self._moved()
                await self._follow(asker, page.revision)
                await self._runtime.clock.sleep(AGAIN)
        except StatusError as error:
            self._status = error.to_dict()
            self._moved()
        except Exception:
            logger.exception("the table of %s failed", self._wanted.resource.group_resource)

    async def _follow(self, asker: Asker, revision: int) -> None:
        """Watch from a list on, until the watch ends or a new list is needed."""
        wanted, resource = self._wanted, self._wanted.resource
        asker.require("watch", resource, wanted.namespace)
        options = ListOptions.from_query({
            "watch": ["true"], "allowWatchBookmarks": ["true"],
            "resourceVersion": [str(revision)],
            "labelSelector": [wanted.labels], "fieldSelector": [wanted.fields],
        })  # fmt: skip
        watcher = await self._runtime.registry.watch(
            asker.context(resource, wanted.namespace),
            options,
            ConvertedRepresentation(resource),
            ClientInfo(agent=AGENT, user=asker.user.name),
        )
        try:
            await self._pull(watcher)
        finally:
            watcher.close(EndReason.DETACHED)

    async def _pull(self, watcher: CacheWatcher) -> None:
        converted = not by_webhook(self._wanted.resource)
        while (chunk := await watcher.next_chunk()) is not None:
            for line in chunk.splitlines():
                event = orjson.loads(line)
                if not self._rows.apply(event["type"], event["object"]):
                    return
                if not converted and event["type"] != "BOOKMARK":
                    return  # what a webhook makes of it, the next list says
            self._moved()
            await self._runtime.clock.sleep(PULL)


class Rows:
    """The rows of a page as list and watch say, and what of them a browser has.

    A row is made when it is sent, so that of many events to one object the newest alone costs.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._changes = TableChanges()
        self._page: Listed | None = None
        self._rows: dict[str, JSON] = {}
        self._new: dict[str, JSONObject] = {}
        self._happened: dict[str, str] = {}
        self._beyond = 0  # made since, on a page that is not this one
        self.revision = ""
        self.waiting = 0

    def replace(self, page: Listed) -> None:
        """A new list: what was there before counts no longer."""
        self._page = page
        self._rows = {row["id"]: row for row in page.rows}
        self._new, self._happened, self._beyond = {}, {}, 0
        self.revision, self.waiting = str(page.revision), 0

    def apply(self, kind: str, document: Mapping[str, Any]) -> bool:
        """Take one event; False for an ERROR, after which a new list is needed."""
        if kind == "ERROR" or self._page is None:
            return False
        metadata = document["metadata"]
        self.revision = metadata["resourceVersion"]
        if kind == "BOOKMARK":
            return True
        self.waiting += 1
        key = key_of(metadata.get("namespace", ""), metadata["name"])
        if kind == "DELETED":
            self._new.pop(key, None)
            self._rows.pop(key, None)
            self._happened.pop(key, None)
        elif key not in self._rows and self._page.last_key and key > self._page.last_key:
            self._beyond += kind == "ADDED"
        else:
            self._happened[key] = "ADDED" if key not in self._rows else kind
            self._new[key] = dict(document)
            self._rows.setdefault(key, {})
        return True

    def take(self) -> JSON:
        """What the browser does not have yet."""
        if self._page is None:
            return {}
        self.waiting = 0
        for key, document in self._new.items():
            self._rows[key] = self._page.table.row(document)
        rows = sorted_rows(list(self._rows.values()), self._wanted.sort)[: ROWS * 2]
        flashes, self._happened, self._new = self._happened, {}, {}
        remaining = self._page.remaining
        return {
            "table": self._changes.update(rows),
            "flashes": flashes,
            "shown": len(rows),
            "remaining": None if remaining is None else remaining + self._beyond,
            "revision": self.revision,
        }
