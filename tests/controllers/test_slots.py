"""Room for requests: work goes before what nobody waits for."""

from __future__ import annotations

import asyncio

from listwatch.controllers.slots import PATIENCE, Aside
from listwatch.testing.clock import FakeClock
from tests.informer.kit import ended, settle, started


async def test_an_event_waits_while_all_room_is_taken_by_work_but_not_for_ever() -> None:
    clock, work = FakeClock(), asyncio.Semaphore(1)
    aside = Aside(2, work, clock)
    told: list[str] = []

    async def tell(name: str) -> None:
        async with aside:
            told.append(name)

    await tell("at once")
    async with work:
        waiting = started(tell("late"))
        await clock.advance(PATIENCE / 2)
        assert told == ["at once"]
        await clock.advance(PATIENCE)
        assert told == ["at once", "late"], "some are told however much there is to do"
        again = started(tell("soon"))
        await settle()
    await clock.advance(PATIENCE / 2)
    assert told[-1] == "soon"
    await asyncio.gather(waiting, again)


async def test_a_width_is_kept_and_given_back_by_those_who_were_cancelled() -> None:
    clock, work = FakeClock(), asyncio.Semaphore(1)
    aside = Aside(1, work, clock)
    await work.acquire()
    first, second = started(aside.__aenter__()), started(aside.__aenter__())
    await settle()
    await ended(first)
    await clock.advance(2 * PATIENCE)
    assert second.done()
    third = started(aside.__aenter__())
    await clock.advance(2 * PATIENCE)
    assert not third.done()
    await aside.__aexit__(None, None, None)
    await clock.advance(2 * PATIENCE)
    assert third.done()
