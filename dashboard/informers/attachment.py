"""An attached informer: started, held, cut and stopped by a page, and what the page sees of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dashboard import access
from dashboard.attached import JSON, Message, Opening
from dashboard.in_process import InProcessListerWatcher, Source
from dashboard.informers.comparing import Comparer
from dashboard.informers.fifo import ShownInformer
from dashboard.machinery.recording import recorder_of
from dashboard.wishes import resource_of
from listwatch.informer import APIResource, InformerOptions
from listwatch.informer.objects import JSONObject, Tombstone
from listwatch.protocol.errors import bad_request, expired
from listwatch.protocol.events import EndReason
from listwatch.registry.reads import selector_of
from listwatch.watchcache.requests import ClientInfo, ListRequest

if TYPE_CHECKING:
    from dashboard.informers.comparing import Comparison
    from listwatch.informer.deltas import Delta
    from listwatch.protocol.selectors import Selector

AGENT = "listwatch-dashboard-informer"
LOOK = 0.5  # seconds between two looks at the state


class InformerAttachment:
    """A SharedIndexInformer of the server's own objects, with its parts laid open.

    Lists and watches through the registry as a client in this process. `start` once; `stop` ends
    it and its watch.
    """

    def __init__(self, source: Source, selector: Selector, opening: Opening) -> None:
        resource = source.resource
        self._runtime = opening.runtime
        self._wake = opening.wake
        self._request = ListRequest(namespace=source.namespace, selector=selector)
        self._cacher = opening.runtime.caches.cacher(resource.storage)
        self._source = InProcessListerWatcher(source)
        self.informer = ShownInformer(
            self._source,
            resource=APIResource(
                resource.group, resource.version, resource.resource, resource.kind,
                resource.namespaced,
            ),
            options=InformerOptions(name=f"dashboard {resource.resource}", queue="delta"),
            clock=opening.runtime.clock,
        )  # fmt: skip
        self._told = {"added": 0, "updated": 0, "deleted": 0}
        self._comparer = Comparer(resource)
        self._title = " ".join(
            filter(None, (
                str(resource.group_resource), source.namespace and f"-n {source.namespace}",
                source.labels and f"-l {source.labels}", source.fields,
            ))
        )  # fmt: skip
        self._task: asyncio.Task[None] | None = None
        self._visible = True
        self._paused = False
        self._sent: JSON = {}
        self.dirty = True

    def start(self) -> None:
        """Run the informer, and look at it now and then."""
        self.informer.add_handler(
            on_add=lambda subject, initial: self._count("added", subject),
            on_update=lambda old, new: self._count("updated", new),
            on_delete=lambda gone: self._count("deleted", gone.object),
        )
        self.informer.start()
        self._task = asyncio.create_task(self._look(), name="attached informer")

    async def stop(self) -> None:
        """End it, and its watch as detached."""
        if self._source.stream is not None:
            self._source.stream.watcher.close(EndReason.DETACHED)
        await self.informer.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def pause(self, paused: bool) -> None:
        """Freeze the view; the informer goes on."""
        self._paused = paused
        self.dirty = True

    def show_page(self, visible: bool) -> None:
        """Nobody looks: nothing is compared."""
        self._visible = visible

    async def act(self, message: Message) -> None:
        """`hold` or `release` the queue, `cut` its stream, or `expire` it; raises 400."""
        match message.get("act"):
            case "hold":
                self.informer.queue.hold(True)
            case "release":
                self.informer.queue.hold(False)
            case "cut" if self._source.stream is not None:
                self._source.stream.break_off()
            case "expire" if self._source.stream is not None:
                self._source.stream.watcher.refuse(
                    expired("too old resource version (this stream alone, from the dashboard)"),
                    EndReason.FAULT_INJECTED,
                )
            case _:
                raise bad_request("an informer can be held, released, cut and expired")
        self._moved()

    def take(self) -> JSON:
        """Everything that is not as it was sent last; nothing while paused."""
        self.dirty = False
        if self._paused:
            return {"state": "paused"}
        parts = self._parts()
        changed = {name: part for name, part in parts.items() if self._sent.get(name) != part}
        self._sent = parts
        return {"state": parts["state"], **changed}

    def _parts(self) -> JSON:
        statistics, queue = self.informer.statistics(), self.informer.queue
        cached = {
            self.informer.indexer.key_of(subject): subject
            for subject in self.informer.indexer.list()
        }
        truth = self._cacher.list(self._request).versions
        comparison = self._comparer.compare(truth, cached, self._runtime.clock.now())
        reflector = statistics.reflector
        watcher = self._source.stream.watcher if self._source.stream is not None else None
        return {
            "title": self._title,
            "state": _state(statistics.synced, self.informer.is_live, queue.held),
            "held": queue.held,
            "facts": {
                "revision": reflector.last_sync_resource_version,
                "applied": str(self._runtime.caches.progress.applied),
                "watcher": "" if watcher is None else str(watcher.id),
                "lists": reflector.lists,
                "watches": reflector.watches,
                "expirations": reflector.expirations,
                "cuts": reflector.cuts,
                "events": reflector.events,
                "bookmarks": reflector.bookmarks,
                **{f"told_{name}": count for name, count in self._told.items()},
            },
            "queue": {
                "queued": statistics.queue.queued,
                "peak": statistics.queue.peak,
                "received": statistics.queue.received,
                "popped": statistics.queue.popped,
                "gathered": queue.gathered,
                "collapsed": queue.collapsed,
                "dropped": queue.dropped,
            },
            "pending": [
                {"id": key, "key": key, "deltas": " ".join(_delta(each) for each in deltas)}
                for key, deltas in queue.pending()
            ],
            "log": [
                {"id": f.number, "delta": f.type, "key": f.key, "revision": f.revision,
                 "fate": f.fate}
                for f in queue.log
            ],
            "rows": comparison.rows,
            "counts": _counts(comparison),
        }  # fmt: skip

    async def _look(self) -> None:
        while True:
            await self._runtime.clock.sleep(LOOK)
            if self._visible and not self._paused:
                self._moved()

    def _count(self, what: str, subject: JSONObject | None) -> None:
        self._told[what] += 1
        revision = str((subject or {}).get("metadata", {}).get("resourceVersion", ""))
        stream = self._source.stream
        if stream is not None and revision.isdecimal():
            # The last station on the way of an event.
            recorder = recorder_of(self._runtime)
            recorder.applied(stream.watcher.id, int(revision), f"informer of {self._title}")

    def _moved(self) -> None:
        self.dirty = True
        self._wake()


async def attach_informer(opening: Opening, message: Message) -> InformerAttachment:
    """An informer as the form asks; raises what the API would, 403 among it."""
    runtime = opening.runtime
    resource = resource_of(message, runtime.resources)
    namespace = str(message.get("namespace", "")).strip()
    if namespace and not resource.namespaced:
        raise bad_request(f"{resource.resource} stand in no namespace")
    user = await access.watching_user(runtime, opening.visitor, resource, namespace)
    source = Source(
        runtime, user, resource, ClientInfo(AGENT, user.name, opening.address), namespace,
        str(message.get("labels", "")).strip(), str(message.get("fields", "")).strip(),
    )  # fmt: skip
    selector = selector_of(source.context, source.options({}))
    return InformerAttachment(source, selector, opening)


def _state(synced: bool, live: bool, held: bool) -> str:
    if not synced:
        return "syncing"
    if held:
        return "held"
    return "live" if live else "catching up"


def _counts(comparison: Comparison) -> JSON:
    differing = comparison.behind + comparison.missing + comparison.ghosts
    return {
        "same": comparison.same,
        "behind": comparison.behind,
        "missing": comparison.missing,
        "ghosts": comparison.ghosts,
        "verdict": "equal to the server" if not differing else f"{differing:,} differ",
        "left_out": comparison.left_out,
    }


def _delta(delta: Delta) -> str:
    subject = delta.object
    if subject is None or isinstance(subject, Tombstone):
        return str(delta.type)
    return f"{delta.type}@{subject['metadata'].get('resourceVersion', '')}"
