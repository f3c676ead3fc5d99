"""List at R plus the events after R is the list later: whatever else happens meanwhile.

The real store, pump, caches and compaction, driven at random through writes with flipping labels,
lost and late doorbells, ring evictions, slow readers, compactions and restarts. The oracle is the
list of writes.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from listwatch.changefeed.history import LogHistory
from listwatch.changefeed.pump import Pump
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource, Resource
from listwatch.protocol.objects import Encoded, encode
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import FieldSelector, LabelSelector, Selector
from listwatch.store import sweeping
from listwatch.store.group_commit import GroupCommitter
from listwatch.store.operations import Create, Delete, Operation, Update
from listwatch.store.readers import Readers
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import ListRequest, WatchRequest
from listwatch.watchcache.watcher import CacheWatcher
from tests.system.oracle import SELECTORS, Oracle, Passes, Seen, Write

CONFIGMAPS = GroupResource("", "configmaps")
OTHERS = GroupResource("", "secrets")  # its writes move the counter, and nothing else
JSON = JSONRepresentation("ConfigMap", "v1")
OPTIONS = CacheOptions(
    ring_minimum=3, ring_maximum=6, ring_bytes=100_000, log_batch=2, chunk_bytes=700,
    history_window=75.0, bookmark_period=1.0, flush_interval=0.005, slow_reader_timeout=3600.0,
    ended_watches=5, pinned_references=50,
)  # fmt: skip

names = st.sampled_from("ab")
namespaces = st.sampled_from(("blue", "blue2"))
labels = st.sampled_from(
    (
        {},
        {"colour": "red"},
        {"colour": "yellow", "node": "n1"},
        {"colour": "red", "size": "big", "node": "n2"},
    )
)


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


class ListWatchMachine(RuleBasedStateMachine):
    """Rules are what happens in a cluster; the oracle knows what each client must have seen."""

    @initialize()
    def begin(self) -> None:
        with connection.cursor() as cursor:
            for table in ("storedobject", "change"):
                cursor.execute(f"DELETE FROM listwatch_store_{table}")
            cursor.execute("UPDATE listwatch_store_head SET current = 0, compacted = 0, swept = 0")
        self.loop = asyncio.new_event_loop()
        self.clock = FakeClock()
        self.oracle = Oracle()
        self.head = 0
        self.compacted = 0
        self.clients: list[Client] = []
        self.process = Process(self.clock)
        self.run(self.process.start())

    def run(self, coroutine: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, 20))

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        try:
            self.process.pump.hold(False)
            self.run(self._caught_up())
            for client in self.clients:
                if client.watcher is not None:
                    self.run(self._drain(client))
        finally:
            self.run(self._closed())
            self.loop.close()

    # What happens

    @rule(
        name=names, namespace=namespaces, delete=st.booleans(),
        versions=st.lists(labels, min_size=1, max_size=4),
    )  # fmt: skip
    def write(
        self, name: str, namespace: str, delete: bool, versions: list[dict[str, str]]
    ) -> None:
        for labels in versions[:-1] if delete else versions:
            self._write(name, namespace, labels)
        if delete:
            self._write(name, namespace, None)

    @rule(name=names)
    def write_another_kind(self, name: str) -> None:
        encoded = encode({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": name}})
        self.head += 1
        operation = Create(OTHERS, "blue", f"{name}{self.head}", "u", encoded)
        assert self.run(self.process.committer.submit(operation)).revision == self.head

    @rule()
    def doorbells_fall_silent(self) -> None:
        self.process.pump.hold(True)

    @rule(seconds=st.sampled_from((0.01, 1.5, 2.0, 80.0)))
    def time_goes_by(self, seconds: float) -> None:
        self.run(self.clock.advance(seconds))

    @rule()
    def pump_catches_up(self) -> None:
        self.process.pump.hold(False)
        self.run(self._caught_up())

    @precondition(lambda self: self.head > 1)
    @rule(share=st.floats(0, 1))
    def compact(self, share: float) -> None:
        # What a server compacts it has applied long ago.
        target = int(share * self.process.pump.applied)
        if target > self.compacted:
            self.run(self.process.readers.run(sweeping.move, target))
            self.compacted = target
            self.run(self._swept())

    @precondition(lambda self: self.head > 12)
    @rule(really=st.integers(0, 2))
    def restart(self, really: int) -> None:
        if really:
            return
        self.run(self._closed())
        self.process = Process(self.clock)
        self.run(self.process.start())
        assert self.process.pump.applied == self.head

    # What clients do

    @precondition(lambda self: len(self.clients) < 5)
    @rule(name=st.sampled_from(sorted(SELECTORS)))
    def streaming_list(self, name: str) -> None:
        client = Client(name, self.oracle)
        self.clients.append(client)
        self._open_with_state(client)

    @precondition(lambda self: len(self.clients) < 5)
    @rule(name=st.sampled_from(sorted(SELECTORS)), share=st.floats(0, 1))
    def watch_from(self, name: str, share: float) -> None:
        start = self.compacted + int(share * (self.head - self.compacted))
        client = Client(name, self.oracle)
        client.state = self.oracle.state_at(start, client.passes)
        client.revision = start
        self.clients.append(client)
        self._open_at(client, start)

    @precondition(lambda self: len(self.clients) < 5)
    @rule(name=st.sampled_from(sorted(SELECTORS)), ahead=st.integers(1, 3))
    def watch_from_a_revision_to_come(self, name: str, ahead: int) -> None:
        client = Client(name, self.oracle)
        client.revision = self.head + ahead
        client.incomplete = True
        self.clients.append(client)
        self._open_at(client, self.head + ahead)

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), chunks=st.integers(1, 3))
    def read(self, data: st.DataObject, chunks: int) -> None:
        client = data.draw(st.sampled_from(self.clients))
        for _ in range(chunks):
            if client.watcher is not None and not self.run(self._read(client)):
                break

    @precondition(lambda self: any(c.watcher is None for c in self.clients))
    @rule()
    def resume(self) -> None:
        for client in self.clients:
            if client.watcher is None:
                if client.ends_initial:
                    self._open_with_state(client)
                else:
                    self._open_at(client, client.revision)

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), really=st.integers(0, 2))
    def leave(self, data: st.DataObject, really: int) -> None:
        if really:
            return
        client = data.draw(st.sampled_from(self.clients))
        self.run(self._leave(client))

    @rule(name=st.sampled_from(sorted(SELECTORS)), share=st.floats(0, 1), limit=st.integers(0, 2))
    def list_at_any_revision(self, name: str, share: float, limit: int) -> None:
        applied = self.process.pump.applied
        low = min(self.compacted, applied)
        revision = low + round(share * (applied - low))
        found: dict[str, int] = {}
        start_key: str | None = ""
        while start_key is not None:
            request = ListRequest(
                selector=selector_of(name), start_key=start_key, limit=limit
            )  # fmt: skip
            listed = self.run(self.process.cacher.list_at(revision, request))
            assert listed.revision == revision
            for version in listed.versions:
                assert version.key not in found
                found[version.key] = version.revision
            start_key = listed.next_key
        assert found == self.oracle.state_at(revision, SELECTORS[name][2])
        assert list(found) == sorted(found)

    @rule(name=st.sampled_from(sorted(SELECTORS)))
    def list_now(self, name: str) -> None:
        listed = self.process.cacher.list(ListRequest(selector=selector_of(name)))
        applied = self.process.pump.applied
        assert listed.revision == applied
        found = {version.key: version.revision for version in listed.versions}
        assert found == self.oracle.state_at(applied, SELECTORS[name][2])

    # How

    def _write(self, name: str, namespace: str, labels: dict[str, str] | None) -> None:
        key = f"{namespace}/{name}"
        existing = self.oracle.current().get(key)
        operation: Operation
        if labels is None:
            if existing is None or existing.labels is None:
                return
            last = encoded_of(namespace, name, existing.labels)
            operation = Delete(CONFIGMAPS, namespace, name, existing.revision, last)
        elif existing is None:
            encoded = encoded_of(namespace, name, labels)
            operation = Create(CONFIGMAPS, namespace, name, key, encoded)
        else:
            encoded = encoded_of(namespace, name, labels)
            operation = Update(CONFIGMAPS, namespace, name, existing.revision, encoded)
        change = self.run(self.process.committer.submit(operation))
        self.head += 1
        assert change.revision == self.head
        self.oracle.writes.append(Write(self.head, key, labels))

    def _open_with_state(self, client: Client) -> None:
        applied = self.process.pump.applied
        request = WatchRequest(
            representation=JSON, selector=selector_of(client.name), initial_events=True,
            bookmarks=True,
        )  # fmt: skip
        client.revision = 0
        client.opened(self.run(self.process.cacher.watch(request)), applied, initial=True)

    def _open_at(self, client: Client, start: int) -> None:
        request = WatchRequest(
            representation=JSON, selector=selector_of(client.name), revision=start, bookmarks=True
        )  # fmt: skip
        client.opened(self.run(self.process.cacher.watch(request)), start, initial=False)

    async def _read(self, client: Client) -> bool:
        """Read one chunk if one is due; whether there was one."""
        assert client.watcher is not None
        if client.pending is None:
            client.pending = asyncio.create_task(client.watcher.next_chunk())
        await self.clock.advance(OPTIONS.flush_interval)
        if not client.pending.done() and client.watcher.statistics().phase == "log":
            await asyncio.wait([client.pending], timeout=5)  # a thread reads the log for it
        if not client.pending.done():
            return False
        chunk, client.pending = client.pending.result(), None
        if chunk is None:
            self._ended(client)
            return False
        client.take(chunk)
        return True

    def _ended(self, client: Client) -> None:
        assert client.watcher is not None
        reason = client.watcher.statistics().end_reason
        client.watcher = None
        if reason is EndReason.HISTORY_LOST:
            # Only what the log has given up may be refused.
            assert client.start < self.compacted or client.ends_initial
            client.ends_initial = True  # the next stream begins with a new list
        else:
            assert reason is EndReason.TOO_SLOW, reason

    async def _leave(self, client: Client) -> None:
        if client.pending is not None:
            client.pending.cancel()
            await asyncio.gather(client.pending, return_exceptions=True)
            client.pending = None
        if client.watcher is not None:
            client.watcher.close(EndReason.CLIENT_LEFT)
            client.watcher = None

    async def _drain(self, client: Client) -> None:
        while client.watcher is not None and await self._read(client):
            pass
        if client.watcher is not None:
            client.judge(self.head)

    async def _caught_up(self) -> None:
        await self.process.pump.catch_up()
        assert self.process.pump.applied == self.head

    async def _swept(self) -> None:
        while not (await self.process.readers.run(sweeping.sweep)).done:
            pass

    async def _closed(self) -> None:
        for client in self.clients:
            await self._leave(client)
        await self.process.stop()


def run_machine(
    examples: int, steps: int, *, derandomize: bool = False, quick: bool = False
) -> None:
    """Play so many histories; `quick` is content with the first fault, however long."""
    phases = (Phase.generate,) if quick else tuple(Phase)
    run_state_machine_as_test(
        ListWatchMachine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, phases=phases,
            derandomize=derandomize, database=None, suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


@pytest.mark.timeout(300)
def test_a_list_and_the_events_after_it_are_the_list_later(transactional_db: None) -> None:
    run_machine(examples=60, steps=40)


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_it_is_so_in_many_more_histories(transactional_db: None) -> None:
    run_machine(examples=3000, steps=60)
