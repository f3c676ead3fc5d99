"""List at R plus the events after R is the list later: whatever else happens meanwhile.

The real store, pump, caches and compaction, driven at random through writes with flipping labels,
lost and late doorbells, ring evictions, slow readers, compactions and restarts. The oracle is the
list of writes.
"""

from __future__ import annotations

import asyncio
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

from listwatch.protocol.events import EndReason
from listwatch.protocol.objects import encode
from listwatch.store import sweeping
from listwatch.store.operations import Create, Delete, Operation, Update
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.requests import ListRequest, WatchRequest
from tests.system.oracle import SELECTORS, Oracle, Write
from tests.system.parts import (
    CONFIGMAPS,
    JSON,
    OPTIONS,
    OTHERS,
    Client,
    Process,
    encoded_of,
    selector_of,
)

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
    @rule(data=st.data(), chunks=st.integers(1, 3), waits=st.booleans())
    def read(self, data: st.DataObject, chunks: int, waits: bool) -> None:
        client = data.draw(st.sampled_from(self.clients))
        for _ in range(chunks):
            if client.watcher is not None and not self.run(self._read(client, waits=waits)):
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

    async def _read(self, client: Client, *, waits: bool = True) -> bool:
        """Read one chunk if one is due; whether there was one.

        Who does not wait may ask while an event is still to be flushed.
        """
        assert client.watcher is not None
        if client.pending is None:
            client.pending = asyncio.create_task(client.watcher.next_chunk())
        # A lane that was flushed just now waits for an interval and a quarter, at most.
        await self.clock.advance(OPTIONS.flush_interval * 1.5 if waits else 0)
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


def test_behind_a_revision_to_come_the_next_event_is_seen(transactional_db: None) -> None:
    """The first of two events is skipped, and flushed alone."""
    state = ListWatchMachine()
    state.begin()
    state.watch_from_a_revision_to_come(name="everything", ahead=1)
    state.write(name="a", namespace="blue", delete=False, versions=[{}, {}])
    (client,) = state.clients
    state.teardown()

    assert client.events == [("MODIFIED", "blue/a", 2)]
