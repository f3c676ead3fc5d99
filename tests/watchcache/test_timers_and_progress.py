"""Deadlines behind one timer, and those who wait for a revision."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.protocol.errors import StatusError
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.timers import TimerWheel


class Bell:
    def __init__(self) -> None:
        self.rings: list[float] = []

    def due(self, now: float) -> None:
        self.rings.append(now)


class CountingClock(FakeClock):
    timers = 0

    def call_later(self, seconds, callback):  # type: ignore[no-untyped-def]
        self.timers += 1
        return super().call_later(seconds, callback)


async def test_a_wheel_calls_what_is_due_and_never_early() -> None:
    clock = FakeClock(100.0)
    wheel = TimerWheel(clock, resolution=0.1)
    early, late = Bell(), Bell()
    wheel.add(105.0, late)
    wheel.add(101.0, early)

    await clock.advance(0.9)
    assert early.rings == []
    await clock.advance(0.2)
    assert len(early.rings) == 1
    assert early.rings[0] >= 101.0
    await clock.advance(10)
    assert len(late.rings) == 1


async def test_a_wheel_does_not_call_what_was_removed() -> None:
    clock = FakeClock(100.0)
    wheel = TimerWheel(clock)
    bell, other = Bell(), Bell()
    tick = wheel.add(101.0, bell)
    wheel.add(101.0, other)

    wheel.remove(tick, bell)
    await clock.advance(5)

    assert (bell.rings, len(other.rings)) == ([], 1)
    assert len(wheel) == 0


async def test_a_thousand_deadlines_at_the_same_time_need_one_timer() -> None:
    clock = CountingClock(100.0)
    wheel = TimerWheel(clock)
    bells = [Bell() for _ in range(1000)]
    for bell in bells:
        wheel.add(160.0, bell)

    await clock.advance(61)

    assert all(len(bell.rings) == 1 for bell in bells)
    assert clock.timers == 1


async def test_who_is_called_may_wait_again() -> None:
    clock = FakeClock()
    wheel = TimerWheel(clock)

    class Again(Bell):
        def due(self, now: float) -> None:
            super().due(now)
            wheel.add(clock.monotonic() + 1, self)

    again = Again()
    wheel.add(clock.monotonic() + 1, again)
    await clock.advance(10.5)

    assert 8 <= len(again.rings) <= 10


async def test_waiting_for_a_revision_ends_when_it_is_applied() -> None:
    progress = Progress(FakeClock())
    waiting = [asyncio.create_task(progress.wait_until(n, 3.0)) for n in (3, 1, 2)]
    await asyncio.sleep(0)
    assert progress.waiting == 3

    progress.advance(2)
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert [task.done() for task in waiting] == [False, True, True]
    progress.advance(3)
    await asyncio.gather(*waiting)
    assert progress.waiting == 0


async def test_only_those_who_are_satisfied_are_woken() -> None:
    progress = Progress(FakeClock())
    far = [asyncio.create_task(progress.wait_until(1000 + n, 3.0)) for n in range(100)]
    near = asyncio.create_task(progress.wait_until(1, 3.0))
    await asyncio.sleep(0)
    futures = [waiter.future for _, _, waiter in progress._waiters]

    progress.advance(1)

    assert sum(future.done() for future in futures) == 1
    await near
    for task in far:
        task.cancel()
    await asyncio.gather(*far, return_exceptions=True)


async def test_waiting_too_long_is_refused_in_the_words_of_the_protocol() -> None:
    clock = FakeClock()
    progress = Progress(clock)
    progress.advance(10)
    waiting = asyncio.create_task(progress.wait_until(50, 3.0))

    await clock.advance(3.2)

    with pytest.raises(StatusError) as caught:
        await waiting
    assert caught.value.message == "Timeout: Too large resource version: 50, current: 10"
    assert (caught.value.code, caught.value.retry_after) == (504, 1)


async def test_those_who_gave_up_do_not_pile_up() -> None:
    clock = FakeClock()
    progress = Progress(clock)
    for _ in range(20):
        waits = [asyncio.create_task(progress.wait_until(10**9, 1.0)) for _ in range(50)]
        await clock.advance(1.2)
        await asyncio.gather(*waits, return_exceptions=True)

    assert len(progress._waiters) < 200
    assert progress.waiting == 0


async def test_progress_never_goes_back() -> None:
    progress = Progress(FakeClock())
    progress.advance(5)

    with pytest.raises(ValueError, match="cannot go back"):
        progress.advance(4)


async def test_waiting_for_what_is_there_takes_no_turn() -> None:
    progress = Progress(FakeClock())
    progress.advance(5)
    coroutine = progress.wait_until(5, 3.0)

    with pytest.raises(StopIteration):
        coroutine.send(None)
