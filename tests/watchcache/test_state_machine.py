"""List at R plus the events after R is the list later: for every R, selector and pace of reading.

Real ring, versions, lanes, watches, bookmarks and timers, under a clock turned by hand; the oracle
is the log. `test_mutations` shows what this finds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.requests import ListRequest, WatchRequest
from tests.watchcache.kit import JSON, World
from tests.watchcache.oracle import ASKED, Asked, Client

OPTIONS = CacheOptions(
    history_window=4.0,
    ring_minimum=3,
    ring_maximum=6,
    bookmark_period=4.0,
    bookmark_lead=1.0,
    flush_interval=3.0,  # long, so that much happens while events are held back
    chunk_bytes=330,  # two frames
    slow_reader_timeout=60.0,
    log_batch=2,
    pinned_references=12,
)
LABELS = st.sampled_from(
    [{"app": "x"}, {"app": "y"}, {}, {"app": ""}, {"tier": "x", "app": "y"}, {"app": "x"}]
)


class Write(NamedTuple):
    """Create or replace an object, or delete it (labels None)."""

    namespace: str
    name: str
    labels: dict[str, str] | None
    node: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class Point(NamedTuple):
    """A revision near one of those where something changes."""

    near: str
    offset: int

    def revision(self, world: World) -> int:
        if self.near == "floor":
            revision = world.pods.floor + self.offset
        elif self.near == "compacted":
            revision = world.log.compacted_to + self.offset
        else:
            revision = world.log.current - abs(self.offset) * 3
        return min(max(revision, 0), world.log.current)


POINTS = st.builds(Point, st.sampled_from(["floor", "compacted", "current"]), st.integers(-1, 2))
WRITES = st.one_of(
    *[
        st.builds(
            Write,
            st.sampled_from(["blue", "blue", "green"]),
            st.sampled_from(["a", "a", "b"]),
            labels,
            st.sampled_from(["", "n1"]),
        )
        for labels in (LABELS, LABELS, LABELS | st.none())
    ],
    st.none(),  # another resource is written
)
WANTED = st.sampled_from(ASKED)
SCOPES = st.sampled_from([("", ""), ("", ""), ("blue", ""), ("blue", "a"), ("", "b")])
MOST = 5  # open watches


class ListAndWatch(RuleBasedStateMachine):
    """Writes, watches, lists, slow readers, compaction and restarts in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = World(OPTIONS)
        self.clients: list[Client] = []

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self.loop.run_until_complete(coroutine)

    # What happens to the objects.

    @rule(writes=st.lists(WRITES, min_size=1, max_size=6), follow=st.booleans())
    def write(self, writes: list[Write | None], follow: bool) -> None:
        async def write() -> None:
            world = self.world
            for one in writes:
                if one is None:
                    world.write_elsewhere()
                elif one.labels is not None or one.key in world.log.state(world.log.current):
                    world.write(one.name, one.labels, one.namespace, one.node)
            if follow:
                await self._follow()

        self.run(write())

    # Who watches, and from where.

    @precondition(lambda self: len(self.clients) < MOST)
    @rule(asked=WANTED, scope=SCOPES, bookmarks=st.booleans(), eager=st.booleans())
    def watch_state(
        self, asked: Asked, scope: tuple[str, str], bookmarks: bool, eager: bool
    ) -> None:
        async def watch() -> None:
            applied = self.world.progress.applied
            client = await self._open(asked, scope, None, eager, bookmarks=bookmarks, initial=True)
            client.at = client.state_revision = applied
            if not bookmarks:
                client._end_initial_if_complete()

        self.run(watch())

    @precondition(lambda self: len(self.clients) < MOST)
    @rule(asked=WANTED, scope=SCOPES, point=POINTS, eager=st.booleans())
    def watch_from(self, asked: Asked, scope: tuple[str, str], point: Point, eager: bool) -> None:
        async def watch() -> None:
            revision = point.revision(self.world)
            client = await self._open(asked, scope, revision, eager, bookmarks=True)
            client.at = revision
            wanted = client.wanted_state(revision)
            client.state = {key: row.revision for key, row in wanted.items()}

        self.run(watch())

    @precondition(lambda self: len(self.clients) < MOST)
    @rule(asked=WANTED, ahead=st.integers(1, 4), eager=st.booleans())
    def watch_from_a_revision_to_come(self, asked: Asked, ahead: int, eager: bool) -> None:
        async def watch() -> None:
            revision = self.world.log.current + ahead
            client = await self._open(asked, ("", ""), revision, eager, bookmarks=True)
            client.at = revision
            client.state = None  # who knows what will be there then

        self.run(watch())

    async def _open(
        self,
        asked: Asked,
        scope: tuple[str, str],
        revision: int | None,
        eager: bool,
        *,
        bookmarks: bool,
        initial: bool = False,
    ) -> Client:
        world = self.world
        request = WatchRequest(
            JSON, *scope, asked.selector, revision, initial_events=initial, bookmarks=bookmarks
        )
        watcher = await world.pods.watch(request)
        applied, now = world.progress.applied, world.clock.monotonic()
        client = Client(world, watcher, asked, *scope, eager, applied, applied, read_at=now)
        self.clients.append(client)
        return client

    # What readers and time do.

    @rule(which=st.integers(0, MOST - 1), chunks=st.integers(1, 3))
    def read(self, which: int, chunks: int) -> None:
        async def read() -> None:
            if which < len(self.clients):
                for _ in range(chunks):
                    await self.clients[which].read()

        self.run(read())

    @rule(which=st.integers(0, MOST - 1))
    def leave(self, which: int) -> None:
        if which < len(self.clients):
            self.clients[which].watcher.close(EndReason.CLIENT_LEFT)

    @rule(seconds=st.sampled_from([0.3, 1.1, 3.1, 4.1, 20.0]))
    def time_passes(self, seconds: float) -> None:
        async def advance() -> None:
            await self._follow()
            await self.world.clock.advance(seconds)
            await self._follow()

        self.run(advance())

    @rule(back=st.integers(0, 10))
    def compact(self, back: int) -> None:
        log = self.world.log
        log.compacted_to = max(log.compacted_to, log.current - back)

    @rule(back=st.integers(0, 8))
    def restart(self, back: int) -> None:
        async def restart() -> None:
            log = self.world.log
            self.world.fill(max(log.current - back, log.compacted_to))
            for client in self.clients:
                assert client.watcher.end_reason is not None

        self.run(restart())

    # What must hold.

    @rule(asked=WANTED, point=POINTS, limit=st.integers(0, 2), scope=SCOPES)
    def list_at(self, asked: Asked, point: Point, limit: int, scope: tuple[str, str]) -> None:
        async def list_at() -> None:
            world = self.world
            revision = point.revision(world)
            held = revision >= min(world.pods.floor, world.log.compacted_to)
            client = Client(world, None, asked, *scope, False, 0, 0)  # type: ignore[arg-type]
            found: list[tuple[str, int]] = []
            key: str | None = ""
            refused = 0
            try:
                while key is not None:
                    request = ListRequest(*scope, asked.selector, key, limit)
                    page = await world.pods.list_at(revision, request)
                    found += [(version.key, version.revision) for version in page.versions]
                    key = page.next_key
            except StatusError as error:
                refused = error.code
            if refused:
                assert refused == 410
                assert revision < world.log.compacted_to
            else:
                assert held
                wanted = client.wanted_state(revision)
                assert found == [(key, row.revision) for key, row in wanted.items()]

        self.run(list_at())

    @rule(asked=WANTED, scope=SCOPES)
    def list_now(self, asked: Asked, scope: tuple[str, str]) -> None:
        world = self.world
        client = Client(world, None, asked, *scope, False, 0, 0)  # type: ignore[arg-type]
        result = world.pods.list(ListRequest(*scope, asked.selector))
        wanted = client.wanted_state(world.log.current)

        assert result.revision == world.log.current
        assert [(v.key, v.revision) for v in result.versions] == [
            (key, row.revision) for key, row in wanted.items()
        ]

    @rule()
    def everyone_reads_everything(self) -> None:
        async def drain() -> None:
            await self._follow()
            await self.world.clock.advance(3.2)  # what was held back to be flushed together
            await self._follow()
            for client in list(self.clients):
                while await client.read():
                    pass
            await self._bury()
            for client in self.clients:
                client.check_complete()
            for lane in self.world.pods.lanes:
                assert lane.start == lane.end, "what all have read is still kept"

        self.run(drain())

    @invariant()
    def ends_are_named_and_memory_is_bounded(self) -> None:
        self.run(self._bury())
        pods = self.world.pods
        assert len(pods.ring) <= pods.ring.capacity <= OPTIONS.ring_maximum
        assert len(pods.versions) == len(self.world.log.state(self.world.log.current))
        assert pods.versions.tombstones <= len(pods.ring)
        assert pods.lists.pages.held <= OPTIONS.pinned_references
        assert pods.statistics().watchers == len(self.clients)

    def teardown(self) -> None:
        try:
            self.everyone_reads_everything()
        finally:
            self.run(self._close())
            self.loop.close()

    async def _close(self) -> None:
        self.world.caches.end_watches(EndReason.SERVER_STOPPING)
        tasks = [client.task for client in self.clients if client.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self) -> None:
        for client in self.clients:
            if client.eager:
                while await client.read():
                    pass

    async def _bury(self) -> None:
        for client in [c for c in self.clients if c.watcher.end_reason is not None]:
            while await client.read():
                pass  # a refusal is still to be read, and is the last thing that is said
            client.check_end()
            self.clients.remove(client)


def run_machine(*, examples: int, steps: int = 40, derandomize: bool = False) -> None:
    """Look for a history that breaks the promise."""
    run_state_machine_as_test(
        ListAndWatch,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            derandomize=derandomize,
            database=None,
            deadline=None,
            phases=[Phase.generate] if derandomize else list(Phase),
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_list_and_the_events_after_it_are_the_list_later() -> None:
    run_machine(examples=100)
