"""The life of an informer, and its handlers: before and after the start, failing, slow, removed."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from listwatch.informer import (
    InformerOptions,
    ReflectorOptions,
    SharedIndexInformer,
    wait_for_cache_sync,
)
from listwatch.informer.errors import InternalError, api_error
from listwatch.informer.objects import JSONObject
from listwatch.informer.shared_informer import InformerStateError
from listwatch.protocol.errors import internal_error
from listwatch.testing.clock import FakeClock
from tests.informer.kit import (
    FakeStream,
    Recorder,
    Script,
    event,
    page,
    settle,
    thing,
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def informer(source: Any, clock: FakeClock, **options: Any) -> SharedIndexInformer:
    chosen = InformerOptions(
        name="things", reflector=ReflectorOptions(streaming_lists=False), **options
    )
    return SharedIndexInformer(source, options=chosen, clock=clock, random=Random(1))


def two(*streams: Any) -> Script:
    return Script([page(5, thing("a", 1), thing("b", 2))], list(streams))


@pytest.mark.parametrize("queue", ["in_order", "delta"])
async def test_handlers_hear_of_everything_after_the_store_has_it(
    queue: Any, clock: FakeClock
) -> None:
    stream = FakeStream(event("MODIFIED", "a", 6), event("ADDED", "c", 7), event("DELETED", "b", 8))
    made, recorder = informer(two(stream), clock, queue=queue), Recorder()
    made.add_handler(recorder)
    async with made:
        await settle()
        if queue == "delta":  # says nothing on the order across objects
            recorder.told.sort(key=lambda told: str(told[:2]))
            made_of = sorted([("add", "a", True), ("add", "b", True)], key=str)
            assert [t for t in recorder.told if t[0] == "add" and t[2]] == made_of
        else:
            assert recorder.told == [
                ("add", "a", True), ("add", "b", True), ("update", "a", "1", "6"),
                ("add", "c", False), ("delete", "b", False),
            ]  # fmt: skip
        assert sorted(made.indexer.keys()) == ["a", "c"]
        assert made.last_sync_resource_version == "8"


async def test_its_flags_over_its_life(clock: FakeClock) -> None:
    made = informer(two(), clock)
    assert (made.started, made.has_synced, made.is_live, made.stopped) == (False,) * 4
    made.start()
    await settle()
    assert (made.started, made.has_synced, made.is_live, made.stopped) == (True, True, True, False)
    await made.stop()

    assert (made.started, made.has_synced, made.is_live, made.stopped) == (True, True, False, True)


async def test_what_may_be_called_when(clock: FakeClock) -> None:
    made = informer(two(), clock)
    made.set_transform(lambda subject: subject)
    made.set_error_handler(lambda *_: None)
    made.add_indexers({"early": lambda _: ["x"]})
    async with made:
        await settle()
        registration = made.add_handler(Recorder())
        made.add_indexers({"late": lambda _: ["y"]})
        assert len(made.indexer.by_index("late", "y")) == 2
        assert len(made.indexer.by_index("early", "x")) == 2
        with pytest.raises(InformerStateError, match="before the start"):
            made.set_transform(lambda subject: subject)
        with pytest.raises(InformerStateError, match="before the start"):
            made.set_error_handler(lambda *_: None)
    made.remove_handler(registration)
    with pytest.raises(InformerStateError, match="was not added to informer"):
        made.add_handler(Recorder())
    with pytest.raises(InformerStateError, match="stopped"):
        made.add_indexers({"x": lambda _: []})
    with pytest.raises(InformerStateError, match="stopped"):
        made.start()


async def test_a_second_run_does_nothing(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    made = informer(two(), clock)
    async with made:
        await settle()
        await asyncio.wait_for(made.run(), 1)

    assert "runs once" in caplog.text


async def test_a_late_handler_is_told_what_is_there_and_then_what_comes(clock: FakeClock) -> None:
    stream = FakeStream()
    made, late = informer(two(stream), clock), Recorder()
    async with made:
        await settle()
        registration = made.add_handler(late)
        early = registration.has_synced
        stream.send(event("ADDED", "c", 9))
        await settle()

        assert (early, registration.has_synced) == (False, True)  # nothing was told yet
        assert late.told == [("add", "a", True), ("add", "b", True), ("add", "c", False)]


async def test_handlers_that_come_while_things_change_miss_and_repeat_nothing(
    clock: FakeClock,
) -> None:
    stream = FakeStream()
    made = informer(Script([page(1)], [stream]), clock)
    recorders: list[Recorder] = []

    async def come() -> None:
        for _ in range(40):
            recorders.append(Recorder())
            made.add_handler(recorders[-1])
            await asyncio.sleep(0)

    async with made:
        coming = asyncio.create_task(come())
        for number in range(200):
            stream.send(event("ADDED", f"n{number}", number + 2))
            await asyncio.sleep(0)
        await coming
        await settle(200)

    names = [f"n{number}" for number in range(200)]
    for recorder in recorders:
        assert sorted(name for _, name, _ in recorder.told) == sorted(names)


async def test_workers_that_add_and_remove_handlers_during_changes_hurt_nothing(
    clock: FakeClock,
) -> None:
    stream = FakeStream()
    made, steady = informer(Script([page(1)], [stream]), clock), Recorder()
    made.add_handler(steady)

    async def work(number: int) -> None:
        random = Random(number)
        for _ in range(10):
            registration = made.add_handler(Recorder())
            await settle(random.randrange(3))
            await registration.remove(wait=random.random() < 0.5)

    async with made:
        working = asyncio.gather(*(work(number) for number in range(100)))
        for number in range(10_000):
            stream.send(event("MODIFIED", f"n{number % 50}", number + 2))
            if number % 100 == 0:
                await asyncio.sleep(0)
        await working
        await settle(500)

    assert len(steady.told) == 10_000
    assert len(made.statistics().handlers) == 1


@pytest.mark.parametrize("shape", ["run and remove", "late add", "never run", "stop at once"])
async def test_no_task_is_left_behind(shape: str, clock: FakeClock) -> None:
    before = asyncio.all_tasks()
    made = informer(two(), clock, resync_seconds=30.0)
    registration = made.add_handler(Recorder())
    match shape:
        case "run and remove":
            made.start()
            await settle()
            await registration.remove()
        case "late add":
            made.start()
            await settle()
            made.add_handler(Recorder())
        case "stop at once":
            made.start()
    await made.stop()
    await settle()

    assert asyncio.all_tasks() == before


async def test_a_list_error_reaches_the_error_handler(clock: FakeClock) -> None:
    made = informer(Script([api_error(internal_error("x").to_dict())]), clock)
    told: list[Exception] = []
    made.set_error_handler(lambda _, error: told.append(error))
    async with made:
        await settle()

    assert [type(error) for error in told] == [InternalError]


async def test_the_transform_is_seen_by_handlers_and_store(clock: FakeClock) -> None:
    def transform(subject: JSONObject) -> JSONObject:
        return {**subject, "seen": True}

    made = informer(two(FakeStream(event("ADDED", "c", 6))), clock)
    seen: list[bool] = []
    made.set_transform(transform)
    made.add_handler(on_add=lambda subject, _: seen.append(subject["seen"]))
    async with made:
        await settle()

    assert seen == [True] * 3
    assert all(subject["seen"] for subject in made.indexer.list())


async def test_waiting_takes_informers_and_registrations(clock: FakeClock) -> None:
    made = informer(two(), clock)
    registration = made.add_handler(Recorder())
    made.start()
    await asyncio.wait_for(wait_for_cache_sync(made, registration, clock=clock), 1)

    assert registration.has_synced
    await made.stop()
