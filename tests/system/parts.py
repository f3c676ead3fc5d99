"""One server process and its clients, as the machine over store and pump drives them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from listwatch.changefeed.history import LogHistory
from listwatch.changefeed.pump import Pump
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource, Resource
from listwatch.protocol.objects import Encoded, encode
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import FieldSelector, LabelSelector, Selector
from listwatch.store.group_commit import GroupCommitter
from listwatch.store.readers import Readers
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.watcher import CacheWatcher
from tests.system.oracle import SELECTORS, Oracle, Passes, Seen

CONFIGMAPS = GroupResource("", "configmaps")
OTHERS = GroupResource("", "secrets")  # its writes move the counter, and nothing else
JSON = JSONRepresentation("ConfigMap", "v1")
OPTIONS = CacheOptions(
    ring_minimum=3, ring_maximum=6, ring_bytes=100_000, log_batch=2, chunk_bytes=700,
    history_window=75.0, bookmark_period=1.0, flush_interval=0.005, slow_reader_timeout=3600.0,
    ended_watches=5, pinned_references=50,
)  # fmt: skip

SERVED = Resource(
    "", "v1", "configmaps", "ConfigMap", True, frozenset(), selectable_fields=("spec.nodeName",)
)


def served(group_resource: GroupResource) -> Resource | None:
    return SERVED if group_resource == CONFIGMAPS else None


def encoded_of(namespace: str, name: str, labels: dict[str, str]) -> Encoded:
    """An object whose `spec.nodeName` is its label `node`, so that fields flip as labels do."""
    document: dict[str, Any] = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
    }
    if "node" in labels:
        document["spec"] = {"nodeName": labels["node"]}
    return encode(document)


def selector_of(name: str) -> Selector:
    label, field, _ = SELECTORS[name]
    return Selector(LabelSelector.parse(label), FieldSelector.parse(field))


class Process:
    """One server process on the common database: made, filled, and thrown away by a restart."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.readers = Readers(1)
        self.committer = GroupCommitter(clock=clock)
        self.caches = Caches(
            Progress(clock), history=LogHistory(self.readers, served), clock=clock,
            options=OPTIONS,
        )  # fmt: skip
        self.pump = Pump(
            self.caches, self.readers, served, clock=clock, fill_bytes=400
        )  # fmt: skip
        self.cacher = self.caches.cacher(CONFIGMAPS)

    async def start(self) -> None:
        self.readers.start()
        self.committer.start()
        await self.pump.start()

    async def stop(self) -> None:
        await self.pump.stop()
        self.caches.end_watches(EndReason.SERVER_STOPPING)
        await asyncio.to_thread(self.committer.stop)
        await asyncio.to_thread(self.readers.stop)


class Client:
    """A reflector in small: a state, a revision, and one stream at a time that is judged."""

    def __init__(self, name: str, oracle: Oracle) -> None:
        self.name = name
        self.passes: Passes = SELECTORS[name][2]
        self.oracle = oracle
        self.watcher: CacheWatcher | None = None
        self.pending: asyncio.Task[bytes | None] | None = None
        self.revision = 0
        self.state: dict[str, int] = {}
        self.initial: list[Seen] = []  # still to come before the live events
        self.ends_initial = False  # a bookmark still has to end them
        self.capture = 0
        self.events: list[Seen] = []  # of this stream, after the initial ones
        self.start = 0
        self.incomplete = False  # it began ahead of the state, so it has not seen all of it

    def opened(self, watcher: CacheWatcher, start: int, initial: bool) -> None:
        self.watcher = watcher
        self.start = start
        self.events = []
        self.initial = []
        self.ends_initial = initial
        if initial:
            self.incomplete = False
            self.state = {}
            state = self.oracle.state_at(start, self.passes)
            self.initial = [("ADDED", key, state[key]) for key in sorted(state)]

    def take(self, chunk: bytes) -> None:
        assert chunk.endswith(b"\n")
        for line in chunk.splitlines():
            self.take_frame(json.loads(line))

    def take_frame(self, frame: dict[str, Any]) -> None:
        type_, document = frame["type"], frame["object"]
        if type_ == "ERROR":
            assert document["code"] == 410, document
            return
        revision = int(document["metadata"]["resourceVersion"])
        if type_ == "BOOKMARK":
            self.take_bookmark(revision, document["metadata"])
            return
        key = f"{document['metadata']['namespace']}/{document['metadata']['name']}"
        if self.initial:
            assert (type_, key, revision) == self.initial.pop(0)
        else:
            assert not self.ends_initial, "a live event came before the end of the initial ones"
            assert revision > self.revision, "out of order, or twice"
            self.events.append((type_, key, revision))
            expected = self.oracle.events(self.start, self.passes, until=revision)
            assert self.events == expected
            self.revision = revision
            # A deletion shows the object as it last passed, under the deletion's revision.
            shown = document["metadata"].get("labels", {})
            assert self.passes(key, shown)
        if type_ == "DELETED":
            assert self.state.pop(key, None) or self.incomplete
        else:
            self.state[key] = revision

    def take_bookmark(self, revision: int, metadata: dict[str, Any]) -> None:
        if metadata.get("annotations"):
            assert self.ends_initial
            assert not self.initial, "the initial events were not all sent"
            assert revision == self.start
            self.ends_initial = False
        assert revision >= self.revision
        # All that happened up to here has been sent: a client may go on from it.
        assert self.events == self.oracle.events(self.start, self.passes, until=revision)
        self.revision = revision

    def judge(self, revision: int) -> None:
        """The stream is drained at `revision`: nothing is missing, and the state is the list."""
        assert not self.initial
        assert not self.ends_initial
        assert self.events == self.oracle.events(self.start, self.passes, until=revision)
        if not self.incomplete:
            assert self.state == self.oracle.state_at(revision, self.passes)
