"""Handlers of one informer: failing, slow, removed, filtered, coalescing, blocking."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from listwatch.informer import FilteringHandler, HandlerOptions
from listwatch.informer.objects import Deleted, JSONObject
from listwatch.testing.clock import FakeClock
from tests.informer.kit import FakeStream, Recorder, Script, event, page, settle, thing
from tests.informer.test_shared_informer import informer, two


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_a_handler_that_raises_is_told_on_and_synced_and_hurts_no_other(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def fail(subject: JSONObject, initial: bool) -> None:
        calls.append(subject["metadata"]["name"])
        raise RuntimeError("handler is broken")

    made, good = informer(two(FakeStream(event("ADDED", "c", 6))), clock), Recorder()
    bad = made.add_handler(on_add=fail, options=HandlerOptions(name="bad"))
    made.add_handler(good)
    async with made:
        await settle()
        assert bad.has_synced  # upstream's never would be
        assert made.has_synced
    assert calls == ["a", "b", "c"]
    assert [name for _, name, _ in good.told] == ["a", "b", "c"]
    assert bad.statistics().errors == 3
    assert caplog.text.count("Handler bad failed on") == 3


async def test_a_pause_after_an_error_spaces_the_calls_of_that_handler_only(
    clock: FakeClock,
) -> None:
    at: list[float] = []

    def fail(subject: JSONObject, initial: bool) -> None:
        at.append(clock.monotonic())
        raise RuntimeError

    made, good = informer(two(FakeStream(event("ADDED", "c", 6))), clock), Recorder()
    made.add_handler(on_add=fail, options=HandlerOptions(error_pause=1.0))
    made.add_handler(good)
    async with made:
        await settle()
        assert len(good.told) == 3
        await clock.advance(5)

    assert [b - a for a, b in itertools.pairwise(at)] == [1.0, 1.0]


async def test_a_slow_handler_delays_no_other(clock: FakeClock) -> None:
    gate = asyncio.Event()

    async def wait(subject: JSONObject, initial: bool) -> None:
        await gate.wait()

    made, quick = informer(two(), clock), Recorder()
    slow = made.add_handler(on_add=wait)
    made.add_handler(quick)
    async with made:
        await settle()
        assert len(quick.told) == 2
        assert not slow.has_synced
        assert slow.pending == 1
        gate.set()
        await settle()
        assert slow.has_synced


async def test_calls_of_one_handler_never_overlap(clock: FakeClock) -> None:
    inside = 0

    async def one(subject: JSONObject, initial: bool) -> None:
        nonlocal inside
        assert inside == 0
        inside += 1
        await settle(3)
        inside -= 1

    made = informer(two(FakeStream(event("ADDED", "c", 6))), clock)
    registration = made.add_handler(on_add=one)
    async with made:
        await settle(60)

    assert registration.statistics().errors == 0
    assert registration.statistics().delivered == 3


async def test_removal_own_foreign_twice_and_of_one_of_two(clock: FakeClock) -> None:
    stream = FakeStream()
    made, other, recorder = informer(two(stream), clock), informer(two(), clock), Recorder()
    first, second = made.add_handler(recorder), made.add_handler(recorder)
    foreign = other.add_handler(Recorder())
    async with made:
        await settle()
        assert len(recorder.take()) == 4  # added twice, told twice
        made.remove_handler(first)
        made.remove_handler(first)
        made.remove_handler(foreign)
        assert (first.active, second.active, foreign.active) == (False, True, True)
        with pytest.raises(TypeError, match="not a registration"):
            made.remove_handler("x")  # type: ignore[arg-type]
        stream.send(event("ADDED", "c", 9))
        await settle()
        assert recorder.told == [("add", "c", False)]
    await second.remove()
    await other.stop()


async def test_a_removed_handler_ends_its_running_call_and_hears_no_more(
    clock: FakeClock,
) -> None:
    gate, ends = asyncio.Event(), 0

    async def wait(subject: JSONObject, initial: bool) -> None:
        nonlocal ends
        await gate.wait()
        ends += 1

    made = informer(two(), clock)
    registration = made.add_handler(on_add=wait)
    async with made:
        await settle()
        await registration.remove()
        waiting = asyncio.create_task(registration.remove(wait=True))
        await settle()
        assert not waiting.done()
        gate.set()
        await waiting

    assert ends == 1
    assert registration.statistics().dropped == 1


async def test_a_handler_may_remove_itself_and_stop_the_informer(clock: FakeClock) -> None:
    made = informer(two(), clock)
    calls: list[str] = []

    async def once(subject: JSONObject, initial: bool) -> None:
        calls.append("once")
        await registration.remove(wait=True)

    async def stop(subject: JSONObject, initial: bool) -> None:
        calls.append("stop")
        await made.stop()

    registration = made.add_handler(on_add=once)
    made.add_handler(on_add=stop)
    made.start()
    await settle(60)

    assert made.stopped
    assert calls.count("once") == 1


async def test_stopping_drops_what_waits_unless_it_is_drained(clock: FakeClock) -> None:
    for drain, expected in ((False, 1), (True, 2)):
        gate = asyncio.Event()
        told: list[JSONObject] = []

        async def wait(
            subject: JSONObject, initial: bool, gate: Any = gate, told: Any = told
        ) -> None:
            await gate.wait()
            told.append(subject)

        made = informer(two(), clock)
        made.add_handler(on_add=wait)
        made.start()
        await settle()
        stopping = asyncio.create_task(made.stop(drain=drain))
        await settle()
        assert not stopping.done()  # a running call is waited for
        gate.set()
        await stopping

        assert len(told) == expected


async def test_a_filter_turns_updates_into_adds_and_deletes(clock: FakeClock) -> None:
    recorder = Recorder()
    handler = FilteringHandler(lambda subject: subject.get("wanted", False), recorder)
    no, yes = thing("a", 1), thing("a", 2, wanted=True)
    handler.on_add(no, True)
    handler.on_add(yes, True)
    handler.on_update(no, yes)
    handler.on_update(yes, yes)
    handler.on_update(yes, no)
    handler.on_update(no, no)
    handler.on_delete(Deleted("a", no))
    handler.on_delete(Deleted("a", yes))
    handler.on_delete(Deleted("a", None, final_state_unknown=True))

    assert recorder.told == [
        ("add", "a", True), ("add", "a", False), ("update", "a", "2", "2"),
        ("delete", "a", False), ("delete", "a", False), ("delete", "a", True),
    ]  # fmt: skip
    assert not informer(two(), clock).started


async def test_a_coalescing_handler_hears_of_the_last_state(clock: FakeClock) -> None:
    gate, stream = asyncio.Event(), FakeStream()
    told: list[Any] = []

    async def update(old: JSONObject, new: JSONObject) -> None:
        told.append((old["metadata"]["resourceVersion"], new["metadata"]["resourceVersion"]))
        await gate.wait()

    made = informer(Script([page(5, thing("a", 1))], [stream]), clock)
    registration = made.add_handler(on_update=update, options=HandlerOptions(policy="coalesce"))
    async with made:
        for version in range(10, 20):
            stream.send(event("MODIFIED", "a", version))
            await settle()
        gate.set()
        await settle()

    assert told == [("1", "10"), ("10", "19")]
    assert registration.statistics().coalesced == 8


async def test_a_blocking_handler_holds_the_informer_up_and_the_stream_behind_it(
    clock: FakeClock,
) -> None:
    gate, stream = asyncio.Event(), FakeStream()

    async def wait(subject: JSONObject, initial: bool) -> None:
        await gate.wait()

    made = informer(Script([page(5)], [stream]), clock)
    made.add_handler(on_add=wait, options=HandlerOptions(policy="block", limit=3))
    async with made:
        for number in range(20):
            stream.send(event("ADDED", f"n{number}", number + 10))
            await settle(10)
        assert len(made.indexer) < 10
        gate.set()
        await settle(100)
        assert len(made.indexer) == 20
