from __future__ import annotations

import asyncio

from dashboard.sampling import BURST, HELD, NAMES, PER_SECOND, EventFlow
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.observer import Observer
from listwatch.watchcache.watcher import CacheWatcher
from tests.dashboard.stage import Stage


def flow_of(stage: Stage) -> EventFlow:
    flow = EventFlow(stage.clock, lambda: None)
    _: Observer = flow
    stage.observers.add(flow)
    return flow


async def turn(stage: Stage, seconds: float) -> None:
    assert isinstance(stage.clock, FakeClock)
    await stage.clock.advance(seconds)


async def taken(watcher: CacheWatcher) -> None:
    await asyncio.wait_for(watcher.next_chunk(), 5)


async def test_a_journey_tells_who_took_the_event_and_when(stage: Stage) -> None:
    flow = flow_of(stage)
    near = await stage.watch(agent="near/1 (linux)")
    far = await stage.watch(agent="far/2", labels="app=web")
    await stage.watch(agent="other/3", labels="app=db")
    stage.write("web", labels={"app": "web"}, took=0.002)
    await turn(stage, 0.001)
    await taken(near)
    await turn(stage, 0.5)
    await taken(far)
    (journey,) = flow.since(0)

    assert (journey.type, journey.key, journey.revision) == ("ADDED", "default/web", 1)
    assert journey.offered == journey.reached == 2
    assert journey.names == {"near/1": 1, "far/2": 1}
    assert round(journey.received_at - journey.committed_at, 6) == 0.002
    assert journey.first_delivered_at is not None
    assert journey.last_delivered_at is not None
    assert round(journey.last_delivered_at - journey.first_delivered_at, 3) == 0.5
    assert journey.last_name == "far/2"


async def test_one_chunk_of_many_events_reaches_all_of_them(stage: Stage) -> None:
    flow = flow_of(stage)
    watcher = await stage.watch()
    for number in range(5):
        stage.write(f"web-{number}")
    await turn(stage, 0.01)
    await taken(watcher)

    assert [journey.reached for journey in flow.since(0)] == [1] * 5


async def test_types_are_told_by_the_version_before(stage: Stage) -> None:
    flow = flow_of(stage)
    stage.write("web")
    stage.write("web", labels={"a": "b"})
    stage.write("web", deleted=True)
    stage.write("web")

    assert [j.type for j in flow.since(0)] == ["ADDED", "MODIFIED", "DELETED", "ADDED"]


async def test_many_events_are_sampled_evenly_and_what_is_left_out_is_counted(
    stage: Stage,
) -> None:
    flow = flow_of(stage)
    for _ in range(1000):
        stage.write("web")
        await turn(stage, 0.002)
    followed = [journey.revision for journey in flow.since(0)]

    assert flow.seen == 1000
    assert flow.left_out == 1000 - len(followed)
    assert len(followed) <= BURST + 2 * PER_SECOND + 1
    assert followed[-1] > 970
    gaps = [b - a for a, b in zip(followed[BURST:], followed[BURST + 1 :], strict=False)]
    assert max(gaps) <= 26


async def test_what_is_held_is_bounded(stage: Stage) -> None:
    flow = flow_of(stage)
    watchers = [await stage.watch(agent=f"w/{number}") for number in range(NAMES + 4)]
    for _ in range(HELD + 50):
        stage.write("web")
        await turn(stage, 0.05)
        for watcher in watchers:
            await taken(watcher)
    journeys = flow.since(0)

    assert len(journeys) == HELD
    assert len(flow._by_revision) == HELD
    assert len(journeys[-1].names) == NAMES
    assert journeys[-1].reached == NAMES + 4


async def test_only_journeys_that_changed_since_are_taken_again(stage: Stage) -> None:
    flow = flow_of(stage)
    stage.write("one")
    seen = flow.sequence
    stage.write("two")

    assert [journey.key for journey in flow.since(seen)] == ["default/two"]
