"""Who hears of unchanged objects, and when."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from listwatch.informer import (
    HandlerOptions,
    InformerOptions,
    ReflectorOptions,
    SharedIndexInformer,
)
from listwatch.informer.list_watch import ListPage, ListQuery
from listwatch.informer.listener import Listener
from listwatch.informer.processor import Processor
from listwatch.protocol.errors import expired
from listwatch.testing.clock import FakeClock
from tests.informer.kit import FakeStream, Recorder, Script, error_event, page, settle, thing


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def informer(source: Any, clock: FakeClock, resync: float, queue: Any = "in_order") -> Any:
    options = InformerOptions(
        name="things",
        resync_seconds=resync,
        queue=queue,
        reflector=ReflectorOptions(streaming_lists=False),
    )
    return SharedIndexInformer(source, options=options, clock=clock, random=Random(1))


@pytest.mark.parametrize("queue", ["in_order", "delta"])
async def test_each_handler_is_told_again_at_its_own_times(queue: Any, clock: FakeClock) -> None:
    made = informer(Script([page(5, thing("a", 1))]), clock, 1.0, queue)
    recorders = {}
    for seconds in (0.0, 2.0, 3.0):
        recorders[seconds] = Recorder()
        made.add_handler(recorders[seconds], options=HandlerOptions(resync_seconds=seconds))
    at: dict[float, list[int]] = {seconds: [] for seconds in recorders}
    async with made:
        await settle()
        for recorder in recorders.values():
            recorder.take()
        for second in range(1, 7):
            await clock.advance(1)
            for seconds, recorder in recorders.items():
                if recorder.take():
                    at[seconds].append(second)

    assert at == {0.0: [], 2.0: [2, 4, 6], 3.0: [3, 6]}


@pytest.mark.parametrize("queue", ["in_order", "delta"])
async def test_resyncs_that_came_due_before_the_first_list_are_not_made_up_for(
    queue: Any, clock: FakeClock
) -> None:
    class Late(Script):
        async def list(self, query: ListQuery) -> ListPage:
            await clock.sleep(3.5)
            return await super().list(query)

    made, recorder = informer(Late([page(5, thing("a", 1))]), clock, 1.0, queue), Recorder()
    made.add_handler(recorder, options=HandlerOptions(resync_seconds=2.0))
    told: dict[int, list[Any]] = {}
    async with made:
        for second in range(1, 8):
            await clock.advance(1)
            told[second] = recorder.take()

    assert all(told[second] == [] for second in (1, 2, 3))
    assert told[4] == [("add", "a", True)]
    updates = [second for second in told if ("update", "a", "1", "1") in told[second]]
    assert len(updates) == 2, "every two seconds again, and no more often"
    assert updates[1] - updates[0] == 2


@pytest.mark.parametrize("queue", ["in_order", "delta"])
async def test_after_a_relist_only_those_who_asked_hear_of_the_unchanged(
    queue: Any, clock: FakeClock
) -> None:
    first = page(5, thing("same", 1), thing("changed", 2), thing("gone", 3))
    second = page(9, thing("same", 1), thing("changed", 8), thing("new", 9))
    source = Script([first, second], [FakeStream(error_event(expired("x"))), FakeStream()])
    made, plain, asking = informer(source, clock, 3600.0, queue), Recorder(), Recorder()
    made.add_handler(plain, options=HandlerOptions(resync_seconds=0))
    made.add_handler(asking, options=HandlerOptions(resync_seconds=3600))
    async with made:
        await settle()
        plain.take()
        asking.take()
        await clock.advance(3)

    changes = {("update", "changed", "2", "8"), ("add", "new", False), ("delete", "gone", True)}
    assert set(plain.told) == changes
    assert len(plain.told) == 3
    assert set(asking.told) == changes | {("update", "same", "1", "1")}


def processor(clock: FakeClock, default: float, *periods: float, start: int = 99) -> Any:
    made = Processor(clock, default)
    listeners = []
    for number, period in enumerate(periods):
        if number == start:
            made._started = True
        options = HandlerOptions(name=f"h{number}", resync_seconds=period)
        listener = Listener(Recorder(), options, clock, lambda: True)
        made._plan_resync(listener)
        listeners.append(listener)
    return made.check_seconds, [listener.resync_seconds for listener in listeners]


def test_how_often_is_looked_follows_the_smallest_asked_for_before_the_start(
    clock: FakeClock,
) -> None:
    twelve_hours = 12 * 3600.0

    assert processor(clock, twelve_hours, 0, 60, 55, 5) == (5, [0, 60, 55, 5])
    assert processor(clock, twelve_hours, 0.2) == (1, [1])  # a second at least
    assert processor(clock, 0, 60) == (0, [0])  # the informer does none
    assert processor(clock, 60, 5, start=0) == (60, [60])  # too late
    assert processor(clock, 60, 90, start=0) == (60, [90])


async def test_a_handler_that_does_not_say_gets_the_informer_s_period(clock: FakeClock) -> None:
    made, recorder = informer(Script([page(5, thing("a", 1))]), clock, 30.0), Recorder()
    made.add_handler(recorder)
    async with made:
        await settle()
        recorder.take()
        await clock.advance(31)

    assert recorder.told == [("update", "a", "1", "1")]
