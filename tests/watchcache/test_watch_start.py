"""Where a watch begins: each row of the table of start semantics, and nothing missed between."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from listwatch.protocol.versions import Version
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.cacher import Cacher
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import ListRequest, WatchRequest
from tests.watchcache.kit import (
    JSON,
    PODS,
    Log,
    World,
    documents,
    everything,
    fielded,
    frames,
    labelled,
    settle,
)

TINY = CacheOptions(ring_minimum=4, ring_maximum=4, log_batch=3, flush_interval=0.0)


async def test_from_now_on_there_are_no_initial_events() -> None:
    world = World()
    world.write("a", {})
    watcher = await world.watch()
    world.write("b", {})

    assert await everything(watcher) == [("ADDED", "b", 2)]


async def test_the_state_comes_in_key_order_then_what_follows() -> None:
    world = World()
    for name in ("c", "a", "b"):
        world.write(name, {})
    world.write("a", {"x": "y"})
    watcher = await world.watch(initial_events=True)
    world.write("b", None)

    assert await everything(watcher) == [
        ("ADDED", "a", 4), ("ADDED", "b", 3), ("ADDED", "c", 1), ("DELETED", "b", 5),
    ]  # fmt: skip


async def test_the_state_ends_with_the_annotated_bookmark_at_the_global_revision() -> None:
    world = World()
    world.write("a", {})
    world.write("b", {}, namespace="green")
    world.write_elsewhere()
    watcher = await world.watch(namespace="blue", initial_events=True, bookmarks=True)
    chunk = await watcher.next_chunk()

    added, bookmark = documents(chunk)
    assert added["type"] == "ADDED"
    assert bookmark == {
        "type": "BOOKMARK",
        "object": {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": "3",
                "annotations": {"k8s.io/initial-events-end": "true"},
            },
        },
    }


async def test_an_empty_state_ends_with_its_bookmark_too() -> None:
    world = World()
    watcher = await world.watch(initial_events=True, bookmarks=True)

    assert frames(await watcher.next_chunk()) == [("BOOKMARK", "", 0)]


async def test_without_bookmarks_the_state_has_no_end_mark_and_a_watch_from_n_never_has() -> None:
    world = World()
    world.write("a", {})
    state = await world.watch(initial_events=True)
    resumed = await world.watch(revision=0, bookmarks=True)

    assert await everything(state) == [("ADDED", "a", 1)]
    assert await everything(resumed) == [("ADDED", "a", 1)]


async def test_from_n_the_ring_gives_what_came_behind_it() -> None:
    world = World()
    for name in ("a", "b", "c"):
        world.write(name, {})
    watcher = await world.watch(revision=1)
    world.write("d", {})

    assert await everything(watcher) == [("ADDED", "b", 2), ("ADDED", "c", 3), ("ADDED", "d", 4)]


async def test_history_is_seen_through_the_selector_of_its_watch() -> None:
    world = World()
    world.write("a", {"app": "web"})
    world.write("a", {"app": "db"})
    world.write("a", {"app": "web", "more": "1"})
    world.write("a", {"app": "web"})
    world.write("a", None)
    watcher = await world.watch(revision=0, selector=labelled("app=web"))

    assert await everything(watcher) == [
        ("ADDED", "a", 1), ("DELETED", "a", 2), ("ADDED", "a", 3), ("MODIFIED", "a", 4),
        ("DELETED", "a", 5),
    ]  # fmt: skip


async def test_leaving_the_selector_shows_the_content_before_under_the_revision_now() -> None:
    world = World()
    world.write("a", {"app": "web"})
    live = await world.watch(selector=labelled("app=web"))
    world.write("a", {"app": "db"})
    late = await world.watch(selector=labelled("app=web"), revision=1)

    for watcher in (live, late):
        (deleted,) = documents(await watcher.next_chunk())
        assert deleted["type"] == "DELETED"
        assert deleted["object"]["metadata"]["labels"] == {"app": "web"}
        assert deleted["object"]["metadata"]["resourceVersion"] == "2"
    before = (await world.pods.list_at(1, ListRequest())).versions[0]
    assert before.decode()["metadata"]["resourceVersion"] == "1"


async def test_a_field_that_is_set_moves_the_object_out_of_the_watch_on_its_absence() -> None:
    world = World()
    unscheduled = await world.watch(selector=fielded("spec.nodeName="))
    here = await world.watch(selector=fielded("spec.nodeName=n1"))
    world.write("a", {})
    world.write("a", {}, node="n1")

    assert await everything(unscheduled) == [("ADDED", "a", 1), ("DELETED", "a", 2)]
    assert await everything(here) == [("ADDED", "a", 2)]


async def test_an_object_made_again_is_added_again() -> None:
    world = World()
    watcher = await world.watch()
    world.write("a", {})
    world.write("a", None)
    world.write("a", {})

    assert [kind for kind, _, _ in await everything(watcher)] == ["ADDED", "DELETED", "ADDED"]


async def test_a_revision_to_come_is_silence_until_an_event_exceeds_it() -> None:
    world = World()
    watcher = await world.watch(revision=3)
    for name in ("a", "b", "c", "d", "e"):
        world.write(name, {})

    assert await everything(watcher) == [("ADDED", "d", 4), ("ADDED", "e", 5)]


async def test_the_floor_is_watchable_and_one_below_is_not() -> None:
    world = World(TINY)
    for _ in range(9):
        world.write("a", {})
    world.log.compacted_to = 5
    assert world.pods.floor == 5
    fine = await world.watch(revision=5)
    refused = await world.watch(revision=4)

    assert [revision for _, _, revision in await everything(fine)] == [6, 7, 8, 9]
    (error,) = documents(await refused.next_chunk())
    assert error["type"] == "ERROR"
    assert error["object"]["message"] == "too old resource version: 4 (5)"
    assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")
    assert await refused.next_chunk() is None
    assert refused.end_reason is EndReason.HISTORY_LOST
    assert world.pods.statistics().too_old == 1


async def test_an_empty_ring_serves_from_where_it_was_filled_and_not_one_lower() -> None:
    world = World()
    world.log.write("a", {})
    world.log.write("b", {})
    world.log.compacted_to = 2
    world.fill(2)
    at, above, below = [await world.watch(revision=n) for n in (2, 3, 1)]

    assert await everything(at) == await everything(above) == []
    assert frames(await below.next_chunk())[0][0] == "ERROR"


async def test_below_the_ring_the_log_is_replayed_in_batches_until_it_meets_the_ring() -> None:
    world = World(TINY)
    for n in range(20):
        world.write(f"p{n % 3}", {"odd": str(n % 2)})
    watcher = await world.watch(revision=0, selector=labelled("odd=1"))
    assert watcher.statistics().phase == "log"
    world.write("new", {"odd": "1"})
    found = await everything(watcher)

    expected = await everything(
        await World.watch(_replica(world), revision=0, selector=labelled("odd=1"))
    )
    assert found == expected
    assert watcher.statistics().phase == "live"
    assert world.log.reads >= 17 // 3
    world.write("newer", {"odd": "1"})
    assert await everything(watcher) == [("ADDED", "newer", 22)]


def _replica(world: World) -> World:
    # The same history in a ring that holds all of it.
    other = World()
    other.log.rows, other.log.current = world.log.rows, world.log.current
    other.fill(0)
    return other


async def test_a_log_that_is_compacted_while_it_is_replayed_ends_the_watch_with_410() -> None:
    world = World(TINY)
    for _ in range(20):
        world.write("a", {})
    watcher = await world.watch(revision=0)
    assert [revision for _, _, revision in frames(await watcher.next_chunk())] == [1, 2, 3]
    world.log.compacted_to = 10

    (error,) = documents(await watcher.next_chunk())
    assert error["object"]["message"] == "too old resource version: 3 (10)"
    assert await watcher.next_chunk() is None
    assert watcher.end_reason is EndReason.HISTORY_LOST


async def test_the_state_at_a_revision_to_come_waits_for_it_or_says_504_in_the_stream() -> None:
    world = World()
    world.write("a", {})
    opening = asyncio.create_task(world.watch(revision=2, initial_events=True))
    hopeless = asyncio.create_task(world.watch(revision=9, initial_events=True))
    await settle()
    assert not opening.done()
    world.write("b", {})

    assert await everything(await opening) == [("ADDED", "a", 1), ("ADDED", "b", 2)]
    await world.clock.advance(3.5)
    refused = await hopeless
    (error,) = documents(await refused.next_chunk())
    assert error["object"]["message"] == "Timeout: Too large resource version: 9, current: 2"
    assert (await refused.next_chunk(), refused.end_reason) == (None, EndReason.NOT_REACHED)


async def test_a_cache_that_is_not_filled_yet_says_429() -> None:
    clock = FakeClock()
    cacher = Cacher(PODS, Progress(clock), history=Log(), clock=clock)

    with pytest.raises(StatusError) as caught:
        await cacher.watch(WatchRequest(JSON))
    assert (caught.value.code, caught.value.retry_after) == (429, 1)
    with pytest.raises(StatusError):
        cacher.list(ListRequest())


async def test_a_write_in_the_same_moment_as_the_start_is_heard_exactly_once() -> None:
    world = World(TINY)
    for n in range(200):
        opening = [
            asyncio.create_task(world.watch(initial_events=True)),
            asyncio.create_task(world.watch(revision=max(world.log.current - 7, 0))),
        ]
        if n % 2:
            await asyncio.sleep(0)
        revision = world.write(f"p{n % 5}", {"n": str(n)})
        for watcher in await asyncio.gather(*opening):
            heard = [frame for frame in await everything(watcher) if frame[2] == revision]
            assert len(heard) == 1
            watcher.close(EndReason.CLIENT_LEFT)


async def test_scopes_of_namespace_name_and_fields_agree() -> None:
    world = World()
    cases: dict[str, dict[str, Any]] = {  # Any: fields of a WatchRequest
        "all": {},
        "blue": {"namespace": "blue"},
        "blue/a": {"namespace": "blue", "name": "a"},
        "any a": {"selector": fielded("metadata.name=a")},
        "blue by field": {"selector": fielded("metadata.namespace=blue")},
        "a on n1": {"name": "a", "selector": fielded("spec.nodeName=n1")},
        "contradiction": {"namespace": "blue", "selector": fielded("metadata.namespace=green")},
    }
    live = {case: await world.watch(**request) for case, request in cases.items()}
    for namespace in ("blue", "green"):
        for name in ("a", "b"):
            world.write(name, {}, namespace, node="n1" if namespace == "green" else "")
    expected = {
        "all": [1, 2, 3, 4], "blue": [1, 2], "blue/a": [1], "any a": [1, 3],
        "blue by field": [1, 2], "a on n1": [3], "contradiction": [],
    }  # fmt: skip
    for case, request in cases.items():
        late = await world.watch(revision=0, **request)
        state = await world.watch(initial_events=True, **request)
        for watcher in (live[case], late, state):
            assert [revision for _, _, revision in await everything(watcher)] == expected[case], (
                case
            )


async def test_a_large_state_comes_in_chunks_at_the_readers_pace() -> None:
    world = World(CacheOptions(chunk_bytes=1000))
    for n in range(100):
        world.write(f"p{n:02}", {})
    watcher = await world.watch(initial_events=True, bookmarks=True)
    chunks: list[bytes | None] = []
    while len(chunks) == 0 or frames(chunks[-1])[-1][0] != "BOOKMARK":
        chunk = await watcher.next_chunk()
        chunks.append(chunk)
        world.write("new", {})

    assert len(chunks) > 5
    assert max(len(chunk or b"") for chunk in chunks) < 1400
    found = [frame for chunk in chunks for frame in frames(chunk)]
    assert [name for _, name, _ in found[:-1]] == [f"p{n:02}" for n in range(100)]
    assert found[-1] == ("BOOKMARK", "", 100)
    assert watcher.initial_events == 100


async def test_a_start_that_looks_at_much_in_vain_lets_others_have_their_turn() -> None:
    world = World()
    for n in range(3000):
        world.write(f"p{n}", {"app": "rare" if n == 2999 else "x"})
    watcher = await world.watch(revision=0, selector=labelled("app notin (x)"))
    reading = asyncio.create_task(watcher.next_chunk())
    turns = 0
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns >= 5
    assert frames(reading.result()) == [("ADDED", "p2999", 3000)]


async def test_events_are_not_lost_while_history_that_does_not_match_is_looked_through() -> None:
    world = World()
    for n in range(1200):
        world.write(f"p{n}", {})
    watcher = await world.watch(revision=0, selector=labelled("app=web"))
    reading = asyncio.create_task(watcher.next_chunk())
    await asyncio.sleep(0)
    world.write("a", {"app": "web"})

    assert frames(await reading) == [("ADDED", "a", 1201)]


async def test_a_start_takes_what_it_needs_though_the_ring_moves_on_before_it_is_read() -> None:
    world = World(CacheOptions(ring_minimum=4, ring_maximum=4, flush_interval=0.0))
    world.write("a", {"app": "web"})
    world.write("a", {"app": "db"})
    world.write("a", {"app": "web"})
    watcher = await world.watch(revision=1, selector=labelled("app=web"))
    for _ in range(5):
        world.write("b", {})

    assert await everything(watcher) == [("DELETED", "a", 2), ("ADDED", "a", 3)]


async def test_an_event_that_comes_too_late_is_refused() -> None:
    world = World()
    world.write("a", {})
    world.write_elsewhere()
    late: Version = world.log.version_of(world.log.rows[0])
    late.revision = 2

    with pytest.raises(ValueError, match="comes too late"):
        world.pods.apply(late)


async def test_a_restart_fills_the_ring_and_a_watch_resumes_where_it_was() -> None:
    world = World()
    for n in range(6):
        world.write("a", {"n": str(n)})
    world.write("b", {})
    world.write("b", None)
    old = await world.watch()
    world.fill(3)

    assert (await old.next_chunk(), old.end_reason) == (None, EndReason.HISTORY_LOST)
    resumed = await world.watch(revision=4)
    assert await everything(resumed) == [
        ("MODIFIED", "a", 5), ("MODIFIED", "a", 6), ("ADDED", "b", 7), ("DELETED", "b", 8),
    ]  # fmt: skip
    at_floor = await world.pods.list_at(3, ListRequest())
    assert [(v.name, v.revision) for v in at_floor.versions] == [("a", 3)]
    assert world.names() == ["a"]
    assert world.log.reads == 0
