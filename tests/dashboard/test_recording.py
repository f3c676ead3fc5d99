from __future__ import annotations

import asyncio

import pytest

from dashboard.machinery import recording
from dashboard.machinery.recording import (
    BURST,
    HELD,
    KEPT_SECONDS,
    NAMES,
    PER_SECOND,
    STOPS,
    Recorder,
    recorder_of,
)
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.observer import Observer
from listwatch.watchcache.watcher import CacheWatcher
from tests.dashboard.stage import Stage


def nothing() -> None:
    """A page that looks on."""


def flow_of(stage: Stage) -> Recorder:
    recorder = recorder_of(stage)  # type: ignore[arg-type]  # a stage
    _: Observer = recorder
    recorder.listen(nothing)
    return recorder


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
    assert flow._in_lanes == {}
    assert len(journeys[-1].names) == NAMES
    assert journeys[-1].reached == NAMES + 4


async def test_only_journeys_that_changed_since_are_taken_again(stage: Stage) -> None:
    flow = flow_of(stage)
    stage.write("one")
    seen = flow.sequence
    stage.write("two")

    assert [journey.key for journey in flow.since(seen)] == ["default/two"]


async def test_all_pages_share_one_recording_that_ends_with_the_last(stage: Stage) -> None:
    def other() -> None:
        """Another page."""

    recorder = flow_of(stage)
    assert recorder_of(stage) is recorder  # type: ignore[arg-type]  # a stage
    recorder.listen(other)
    recorder.leave(nothing)
    recorder.leave(nothing)

    stage.write("web")
    still = recorder.recording
    recorder.leave(other)
    stage.write("web")

    assert still
    assert stage.observers._observers == ()
    assert recorder.seen == 1


async def test_what_was_recorded_outlives_the_page_for_a_while(stage: Stage) -> None:
    recorder = flow_of(stage)
    revision = stage.write("web")
    recorder.leave(nothing)
    await turn(stage, KEPT_SECONDS - 1)
    recorder.listen(nothing)
    recorder.leave(nothing)
    await turn(stage, KEPT_SECONDS - 1)
    assert recorder.find(revision) is not None

    await turn(stage, 2)

    assert recorder.find(revision) is None


async def test_the_state_a_watch_begins_with_is_not_the_event(stage: Stage) -> None:
    recorder = flow_of(stage)
    early = await stage.watch(agent="early/1")
    revision = stage.write("web")
    late = await stage.watch(agent="late/1", initial_events=True)
    await taken(late)
    journey = recorder.find(revision)

    assert journey is not None
    assert (journey.offered, journey.reached, journey.waiting) == (1, 0, 1)

    await taken(early)

    assert (journey.reached, journey.waiting, list(journey.stops)) == (1, 0, [early.id])


async def test_the_lanes_that_were_looked_at_are_noted(stage: Stage) -> None:
    recorder = flow_of(stage)
    for name in ("web", "db", "cache"):
        await stage.watch(labels=f"app={name}")
    await stage.watch(labels="!app")
    journey = recorder.find(stage.write("web", labels={"app": "web"}))

    assert journey is not None
    assert (journey.open_lanes, journey.asked, len(journey.waiting_in)) == (4, 2, 1)


async def test_of_very_many_watchers_all_are_counted_and_some_are_kept(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "STOPS", 3)
    recorder = flow_of(stage)
    watchers = [await stage.watch(agent=f"w/{number}") for number in range(10)]
    journey = recorder.find(stage.write("web"))
    for watcher in watchers:
        await turn(stage, 0.01)
        await taken(watcher)

    assert journey is not None
    assert (journey.reached, journey.waiting, len(journey.stops)) == (10, 0, 3)
    assert journey.last_name == "w/9"
    assert journey.last_delivered_at == stage.clock.now()
    assert STOPS > 3


async def test_events_for_very_many_are_followed_less_often(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else recording them would cost what delivering them costs."""
    monkeypatch.setattr(recording, "COSTLY", 2)
    recorder = flow_of(stage)
    for _ in range(8):
        await stage.watch()
    for _ in range(40):
        stage.write("web")
        await turn(stage, 0.05)

    assert 40 - recorder.left_out < 25


async def test_a_slow_watcher_makes_nothing_grow_without_bound(stage: Stage) -> None:
    recorder = flow_of(stage)
    quick, slow = await stage.watch(), await stage.watch()
    for _ in range(2 * HELD):
        stage.write("web")
        await turn(stage, 0.05)
        await taken(quick)

    assert sum(len(followed) for followed in recorder._in_lanes.values()) <= HELD
    assert len(recorder.since(0)) == HELD
    assert not slow.ended
