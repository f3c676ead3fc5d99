"""Failures that other clients were reported for."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from listwatch.informer import InformerOptions, ReflectorOptions, SharedIndexInformer
from listwatch.informer.errors import ConnectionRefused, NotFoundError
from listwatch.informer.list_watch import ListPage, ListQuery, WatchEvent, WatchQuery
from listwatch.informer.objects import Deleted, JSONObject
from listwatch.informer.resources import PODS
from listwatch.protocol.errors import expired
from listwatch.testing.clock import FakeClock
from tests.informer.faulty_server import FaultyServer
from tests.informer.kit import (
    END,
    FakeStream,
    Recorder,
    Script,
    bookmark,
    error_event,
    event,
    page,
    settle,
    thing,
)

PLAIN = InformerOptions(reflector=ReflectorOptions(streaming_lists=False))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def informer(source: Any, clock: FakeClock, options: InformerOptions = PLAIN) -> Any:
    return SharedIndexInformer(source, options=options, clock=clock, random=Random(1))


@pytest.mark.parametrize("count", [0, 1, 1000])
async def test_a_streaming_list_of_any_size_is_synced_with_its_bookmark(
    count: int, clock: FakeClock
) -> None:
    """kubernetes#140890 and #129408: complete with the bookmark, whatever was before it."""
    events = [event("ADDED", f"n{number}", number + 1) for number in range(count)]
    made = informer(
        Script([page(1)], [FakeStream(*events, bookmark(5000, END))]), clock, InformerOptions()
    )
    async with made:
        await settle()
        assert made.has_synced
        assert len(made.indexer) == count


async def test_a_skeleton_bookmark_is_no_trouble(clock: FakeClock) -> None:
    """kubernetes-client/python#1404: a bookmark full of nulls."""
    skeleton = {
        "kind": "Thing", "apiVersion": "v1", "spec": {"template": {"spec": {"containers": None}}},
        "metadata": {"resourceVersion": "50", "creationTimestamp": None, "name": None},
    }  # fmt: skip
    made = informer(Script([page(1)], [FakeStream(WatchEvent("BOOKMARK", skeleton))]), clock)
    async with made:
        await settle()
        assert made.last_sync_resource_version == "50"
        assert made.indexer.keys() == []


async def test_a_watch_that_ends_at_once_again_and_again_relists_and_never_loops(
    clock: FakeClock,
) -> None:
    """kubernetes#104171, fabric8#7896: no events, no error, the same version for ever."""
    source = Script([page(10)], [lambda _: FakeStream(ended=True)])
    made = informer(source, clock)
    async with made:
        await clock.advance(60)

    assert 2 <= len(source.list_queries) <= 8
    assert len(source.watch_queries) <= 8


@pytest.mark.parametrize("seconds", [1.5, 8.0])
async def test_watches_that_end_early_and_never_say_anything_lead_to_a_list(
    seconds: float, clock: FakeClock
) -> None:
    """The same, from a server that takes its time: what it does not say, a list does."""

    def watch(_: WatchQuery) -> FakeStream:
        stream = FakeStream()
        clock.call_later(seconds, stream.end)
        return stream

    source = Script([page(10), page(12, thing("a", 12))], [watch])
    made = informer(source, clock)
    async with made:
        await clock.advance(3 * seconds + 3)
        assert made.indexer.keys() == ["a"]
        await clock.advance(300)

    assert len(source.list_queries) <= 300 / (3 * seconds) + 2
    assert made.statistics().reflector.backoffs >= 2


async def test_a_quiet_watch_that_a_proxy_ends_now_and_then_is_no_reason_to_list(
    clock: FakeClock,
) -> None:
    def watch(_: WatchQuery) -> FakeStream:
        stream = FakeStream()
        clock.call_later(60, stream.end)
        return stream

    source = Script([page(10)], [watch])
    async with informer(source, clock):
        await clock.advance(600)

    assert len(source.list_queries) == 1


async def test_versions_beyond_what_a_float_holds_are_told_apart(clock: FakeClock) -> None:
    """headlamp#6745: 18014398509481984 and 18014398509481985 are different."""
    big = 18014398509481984
    stream = FakeStream(event("MODIFIED", "a", big), event("MODIFIED", "a", big + 1))
    made, recorder = informer(Script([page(1, thing("a", 1))], [stream]), clock), Recorder()
    made.add_handler(recorder)
    async with made:
        await settle()
        assert made.last_sync_resource_version == str(big + 1)

    assert recorder.told[1:] == [
        ("update", "a", "1", str(big)), ("update", "a", str(big), str(big + 1))
    ]  # fmt: skip


async def test_an_error_event_changes_neither_objects_nor_version(clock: FakeClock) -> None:
    """headlamp#7340: ADDED(10), ERROR(410), DELETED(9)."""
    stream = FakeStream(
        event("ADDED", "a", 10), error_event(expired("x")), event("DELETED", "a", 9)
    )
    source = Script([page(5), page(12, thing("a", 10))], [stream, FakeStream()])
    made, recorder = informer(source, clock), Recorder()
    made.add_handler(recorder)
    async with made:
        await clock.advance(3)

    assert [query.resource_version for query in source.list_queries] == ["0", "10"]
    assert recorder.told == [("add", "a", False)]


async def test_a_dead_stream_turns_is_live_off_and_the_ages_are_told(clock: FakeClock) -> None:
    """kubernetes-client/python#2527 and OpenSandbox#1534: synced for ever, dead for six hours."""
    stream = FakeStream(event("ADDED", "a", 11))
    source = Script([page(10)], [stream, ConnectionRefused("gone")])
    made = informer(source, clock)
    async with made:
        await settle()
        assert made.is_live
        begun = clock.now()
        await clock.advance(100)

        assert made.has_synced
        assert not made.is_live
        assert made.last_event_at == begun
        assert made.last_bookmark_at is None
        assert made.freshness.last_list_at == begun


async def test_after_an_outage_requests_come_a_few_and_with_growing_gaps(clock: FakeClock) -> None:
    """kubernetes-client/javascript#1933: tens of watch requests a second."""
    server = FaultyServer()
    made = informer(server, clock, InformerOptions())
    async with made:
        await clock.advance(1)
        server.refusals.extend(["refused"] * 5)
        server.cut()
        before = len(server.requests)
        await clock.advance(60)

        assert made.is_live
        assert len(server.requests) - before == 6


async def test_what_was_made_and_deleted_around_a_relist_is_added_and_deleted(
    clock: FakeClock,
) -> None:
    """kubernetes#115658: ADDED still queued, and gone in the list."""
    gate = asyncio.Event()
    told: list[str] = []

    async def slow_add(subject: JSONObject, initial: bool) -> None:
        await gate.wait()
        told.append(f"add {subject['metadata']['name']}")

    server = FaultyServer()
    made = informer(server, clock, InformerOptions())
    made.add_handler(on_add=slow_add, on_delete=lambda gone: told.append(f"delete {gone.name}"))
    async with made:
        await clock.advance(1)
        server.write("x")
        await settle()
        server.refusals.extend(["refused"])
        server.cut()
        server.delete("x")
        server.compact()
        await clock.advance(10)
        gate.set()
        await settle()

        assert told == ["add x", "delete x"]
        assert made.indexer.keys() == []


async def test_a_delete_that_was_missed_is_told_with_its_last_state(clock: FakeClock) -> None:
    """kcp#4364, beyla#1242: the tombstone must not be lost, nor its index entries."""
    gone: list[Deleted] = []
    server = FaultyServer()
    made = informer(server, clock, InformerOptions())
    made.add_indexers({"kind": lambda o: [o["kind"]]})
    made.add_handler(on_delete=gone.append)
    server.write("a")
    async with made:
        await clock.advance(1)
        server.cut()
        server.streams = []
        server.delete("a")
        server.compact()
        await clock.advance(10)

        assert [(each.key, each.final_state_unknown) for each in gone] == [("a", True)]
        assert gone[0].object is not None
        assert made.indexer.index_values("kind") == []


async def test_reconnects_tell_of_nothing_that_did_not_change(clock: FakeClock) -> None:
    """kubernetes-client/javascript#2424: ten objects, five cuts, five expirations."""
    server, recorder = FaultyServer(), Recorder()
    for number in range(10):
        server.write(f"n{number}")
    made = informer(server, clock, InformerOptions())
    made.add_handler(recorder)
    async with made:
        await clock.advance(1)
        assert len(recorder.take()) == 10
        for _ in range(5):
            server.cut()
            await clock.advance(10)
        for _ in range(5):
            server.compact()
            server.expire_streams()
            await clock.advance(40)

        assert recorder.told == []
        assert made.statistics().reflector.lists >= 5


async def test_a_replaced_pod_ends_with_the_new_address_only(clock: FakeClock) -> None:
    """apache/dubbo#10535: an address replaced while the watch was cut."""

    def pod(name: str, version: int, address: str) -> JSONObject:
        made = thing(name, version, "shop", labels={"app": "shop"})
        return {**made, "kind": "Pod", "status": {"podIP": address}}

    pods = [pod(f"p{n}", n, f"192.0.2.{n}") for n in (1, 2, 3)]
    after = [pods[0], pods[2], pod("p4", 9, "192.0.2.4")]
    cut = FakeStream(error_event(expired("x")))
    source = Script([page(5, *pods), page(10, *after)], [cut, FakeStream()])
    made = SharedIndexInformer(source, resource=PODS, options=PLAIN, clock=clock, random=Random(1))
    async with made:
        await clock.advance(3)
        addresses = {o["status"]["podIP"] for o in made.lister.namespaced("shop").list("app=shop")}

        assert addresses == {"192.0.2.1", "192.0.2.3", "192.0.2.4"}


@pytest.mark.parametrize("runs", [500, pytest.param(10_000, marks=pytest.mark.full)])
async def test_a_write_between_list_and_watch_is_never_missed(runs: int, clock: FakeClock) -> None:
    """kubernetes#141528: one run in 200 lost it."""

    class Between(FaultyServer):
        async def list(self, query: ListQuery) -> ListPage:
            listed = await super().list(query)
            self.delete("a")
            return listed

    missed = 0
    for _ in range(runs):
        server = Between(streaming=False)
        for name in [f"n{number}" for number in range(19)] + ["a"]:
            server.write(name)
        made = informer(server, clock)
        async with made:
            await settle(12)
            missed += made.indexer.get_by_key("a") is not None

    assert missed == 0


async def test_a_kind_that_is_served_no_more_is_asked_for_with_growing_gaps_and_comes_back(
    clock: FakeClock,
) -> None:
    """kubernetes#84494: the CRD is gone, and the log is full of it once a second."""

    class Kind(FaultyServer):
        served = True

        async def list(self, query: ListQuery) -> ListPage:
            if not self.served:
                self.requests.append("list")
                raise NotFoundError(404, "NotFound", "the server could not find the resource")
            return await super().list(query)

        async def watch(self, query: WatchQuery) -> Any:
            if not self.served:
                self.requests.append("watch")
                raise NotFoundError(404, "NotFound", "the server could not find the resource")
            return await super().watch(query)

    server, told = Kind(), []
    server.write("old")
    made = informer(server, clock, InformerOptions())
    made.set_error_handler(lambda _, error: told.append(error))
    async with made:
        await clock.advance(1)
        server.served = False
        server.cut()
        before = len(server.requests)
        await clock.advance(60)
        assert len(server.requests) - before <= 14  # pairs: streaming list and list
        assert isinstance(told[-1], NotFoundError)
        server.delete("old")
        server.write("new")
        server.compact()
        server.served = True
        await clock.advance(70)

        assert made.indexer.keys() == ["new"]
        assert made.is_live
