"""Faults on real caches and watches, in simulated time: what each does, and that each ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import pytest

from listwatch.faults import ClientKey, CutError, Faults, FaultSpec, FaultyWatch
from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from listwatch.testing.clock import FakeClock
from tests.dashboard.stage import Stage


class Reader:
    """Takes whatever a watch gives, until it ends or is cut."""

    def __init__(self, watch: FaultyWatch) -> None:
        self.watch = watch
        self.sent = b""
        self.end = ""
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            while (chunk := await self.watch.next_chunk()) is not None:
                self.sent += chunk
            self.end = "ended"
        except CutError:
            self.end = "cut"
        finally:
            self.watch.close(EndReason.CLIENT_LEFT)

    @property
    def events(self) -> list[str]:
        """`ADDED web` of each whole line."""
        found = []
        for line in self.sent.split(b"\n")[:-1]:
            frame = orjson.loads(line)
            subject = frame["object"]
            found.append(f"{frame['type']} {subject.get('code') or subject['metadata']['name']}")
        return found


class Scene:
    """A stage with faults."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.held: list[bool] = []
        self.faults = Faults(
            self.stage.caches, self.stage.clock, hold_pump=self.held.append, compact=self._compact
        )

    async def _compact(self) -> str:
        return "compacted"

    @property
    def clock(self) -> FakeClock:
        assert isinstance(self.stage.clock, FakeClock)
        return self.stage.clock

    async def reader(self, **more: Any) -> Reader:
        watcher = await self.stage.watch(**more)
        return Reader(self.faults.follow(watcher, ClientKey.of_watcher(watcher)))

    async def inject(self, kind: str, **spec: Any) -> int:
        fault = await self.faults.inject(FaultSpec.read({"spec": {"type": kind, **spec}}), by="me")
        return fault.number

    async def key(self, **more: Any) -> ClientKey:
        watcher = await self.stage.watch(**more)
        watcher.close(EndReason.CLIENT_LEFT)
        return ClientKey.of_watcher(watcher)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    made = Scene()
    yield made
    made.faults.lift_all()
    await made.stage.stop()
    await settle()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def until(true: Callable[[], bool]) -> None:
    for _ in range(200):
        if true():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not come to that")


async def test_without_a_fault_everything_passes(scene: Scene) -> None:
    reader = await scene.reader()
    scene.stage.write("a")
    await until(lambda: reader.events == ["ADDED a"])

    assert scene.faults.statistics().hits == 0


async def test_expired_is_the_last_line_of_every_open_watch_once(scene: Scene) -> None:
    first, second = await scene.reader(), await scene.reader()
    await settle()
    await scene.inject("expired")
    await until(lambda: first.end == second.end == "ended")

    assert first.events == second.events == ["ERROR 410"]
    assert first.watch.end_reason is EndReason.FAULT_INJECTED

    again = await scene.reader()
    scene.stage.write("a")
    await until(lambda: again.events == ["ADDED a"])


async def test_expired_over_http_ends_the_watch_and_refuses_what_would_resume(scene: Scene) -> None:
    reader = await scene.reader()
    await settle()
    await scene.inject("expired", form="http")
    await until(lambda: reader.end == "ended")

    assert reader.events == []
    with pytest.raises(StatusError, match="too old resource version: 5") as caught:
        await scene.faults.before(reader.watch.client, "5")
    assert caught.value.code == 410

    # A list anew has no revision to resume from, and once is enough.
    await scene.faults.before(reader.watch.client, "0")
    await scene.faults.before(reader.watch.client, "5")


async def test_each_of_two_equal_clients_is_told_once(scene: Scene) -> None:
    await scene.reader()
    reader = await scene.reader()
    await settle()
    await scene.inject("expired", form="http")
    for _ in range(2):
        with pytest.raises(StatusError):
            await scene.faults.before(reader.watch.client, "5")

    await scene.faults.before(reader.watch.client, "5")


async def test_a_cut_breaks_off_what_is_idle(scene: Scene) -> None:
    reader = await scene.reader()
    await settle()
    await scene.inject("cut", resource="pods")
    await until(lambda: reader.end == "cut")

    assert reader.watch.end_reason is EndReason.FAULT_INJECTED


async def test_a_cut_in_the_middle_of_a_line_keeps_whole_lines_whole(scene: Scene) -> None:
    reader = await scene.reader()
    await settle()
    await scene.inject("cut-mid-line")
    scene.stage.write("a")
    scene.stage.write("b")
    await until(lambda: reader.end == "cut")

    assert not reader.sent.endswith(b"\n")
    assert reader.sent.rpartition(b"\n")[2] != b""
    assert "ADDED b" not in reader.events


async def test_a_frozen_reader_falls_behind_and_goes_on_where_it_stood(scene: Scene) -> None:
    reader = await scene.reader()
    await settle()
    number = await scene.inject("freeze")
    for name in "abc":
        scene.stage.write(name)
        await settle()

    assert reader.events == []
    assert reader.watch.watcher.statistics().lag_events == 2

    scene.faults.lift(number)
    await until(lambda: reader.events == ["ADDED a", "ADDED b", "ADDED c"])


async def test_one_that_is_frozen_too_long_is_ended_as_too_slow_and_cut(scene: Scene) -> None:
    reader = await scene.reader()
    await settle()
    await scene.inject("freeze", seconds=600)
    scene.stage.write("a")
    await settle()
    for _ in range(90):
        await scene.clock.advance(1)
    await until(lambda: reader.end == "cut")

    assert reader.watch.end_reason is EndReason.TOO_SLOW
    assert reader.events == []


async def test_a_black_hole_swallows_and_is_followed_by_a_cut_alone(scene: Scene) -> None:
    loser, idle = await scene.reader(), await scene.reader(namespace="quiet")
    await settle()
    await scene.inject("black-hole", seconds=20)
    scene.stage.write("a")
    await settle()

    assert loser.events == []
    assert loser.watch.watcher.statistics().lag_events == 0

    await scene.clock.advance(21)
    scene.stage.write("b", namespace="quiet")
    await until(lambda: loser.end == "cut" and idle.events == ["ADDED b"])

    # Nothing came behind what was lost: its client resumes before that.
    assert loser.sent == b""


async def test_an_end_does_not_come_through_a_black_hole_either(scene: Scene) -> None:
    reader = await scene.reader(timeout=5.0)
    await settle()
    number = await scene.inject("black-hole", seconds=100)
    for _ in range(8):
        await scene.clock.advance(1)
    await settle()

    assert reader.watch.end_reason is EndReason.DEADLINE_REACHED
    assert reader.end == ""

    scene.faults.lift(number)
    await until(lambda: reader.end == "cut")


async def test_a_delay_keeps_order_and_ends_with_the_fault(scene: Scene) -> None:
    reader = await scene.reader()
    await settle()
    number = await scene.inject("delay", delayMilliseconds=2000)
    scene.stage.write("a")
    await settle()
    await scene.clock.advance(1)

    assert reader.events == []

    await scene.clock.advance(1.5)
    await until(lambda: reader.events == ["ADDED a"])
    scene.stage.write("b")
    await settle()
    scene.faults.lift(number)
    await until(lambda: reader.events == ["ADDED a", "ADDED b"])


async def test_too_many_requests_says_when_to_come_again(scene: Scene) -> None:
    key = await scene.key()
    await scene.inject("too-many-requests", retryAfterSeconds=7, seconds=5)
    with pytest.raises(StatusError) as caught:
        await scene.faults.before(key, "")

    assert (caught.value.code, caught.value.retry_after) == (429, 7)

    await scene.clock.advance(6)
    await scene.faults.before(key, "")


async def test_the_next_watch_is_held_and_then_let_in(scene: Scene) -> None:
    key = await scene.key()
    await scene.inject("hold", seconds=10)
    held = asyncio.create_task(scene.faults.before(key, ""))
    await settle()

    assert not held.done()
    assert scene.faults.statistics().held == 1

    await scene.faults.before(key, "")  # only the next one
    await scene.clock.advance(11)
    await held

    assert scene.faults.statistics().held == 0


async def test_the_pump_is_held_until_the_last_such_fault_is_over(scene: Scene) -> None:
    first = await scene.inject("stop-pump")
    second = await scene.inject("stop-pump")
    scene.faults.lift(first)

    assert scene.held == [True, True]

    scene.faults.lift(second)

    assert scene.held == [True, True, False]


async def test_a_compaction_is_over_as_soon_as_it_is_done(scene: Scene) -> None:
    number = await scene.inject("compact")
    fault = scene.faults.find(number)

    assert fault is not None
    assert fault.to_dict()["status"]["phase"] == "Ended"
    assert fault.to_dict()["status"]["message"] == "compacted"
    assert scene.faults.active() == []


async def test_one_watcher_is_meant_and_known_again_when_it_comes_back(scene: Scene) -> None:
    mine = await scene.reader(agent="mine")
    other = await scene.reader(agent="other")
    await settle()
    await scene.inject("too-many-requests", watcher=mine.watch.id)
    await scene.inject("cut", watcher=mine.watch.id)
    await until(lambda: mine.end == "cut")

    assert other.end == ""
    with pytest.raises(StatusError):
        await scene.faults.before(mine.watch.client, "3")
    await scene.faults.before(other.watch.client, "3")


async def test_what_is_not_there_cannot_be_hit(scene: Scene) -> None:
    with pytest.raises(StatusError, match=r"spec.watcher: .*no such watch is open"):
        await scene.inject("cut", watcher=999_999_999)
    with pytest.raises(StatusError, match=r"spec.resource: .*no such resource"):
        await scene.inject("cut", resource="unicorns")
    with pytest.raises(StatusError, match='"7" not found'):
        scene.faults.lift(7)


async def test_no_more_than_a_few_are_on_at_once_and_all_can_be_lifted(scene: Scene) -> None:
    for _ in range(16):
        await scene.inject("delay")
    with pytest.raises(StatusError) as caught:
        await scene.inject("delay")

    assert caught.value.code == 429

    scene.faults.lift_all()

    assert scene.faults.statistics().active == 0
    assert [fault.ended_by for fault in scene.faults.over()] == ["lifted"] * 16
