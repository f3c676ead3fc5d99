"""A request's deadline ends that request alone, and is no one else's cancellation."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.api.timeouts import Deadline


async def within(seconds: float, work: float) -> str:
    with Deadline(seconds):
        await asyncio.sleep(work)
    return "done"


async def test_what_is_done_in_time_is_left_alone() -> None:
    assert await within(5, 0) == "done"
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_what_is_late_ends_with_a_timeout_and_the_task_goes_on() -> None:
    with pytest.raises(TimeoutError):
        await within(0.001, 60)
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_cancellation_by_someone_else_is_no_timeout() -> None:
    task = asyncio.create_task(within(60, 60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelled_and_late_at_once_stays_cancelled() -> None:
    begun = asyncio.get_running_loop().create_future()

    async def both() -> None:
        with Deadline(0.001):
            begun.set_result(None)
            try:
                await asyncio.sleep(60)
            finally:
                task.cancel()

    task = asyncio.create_task(both())
    await begun
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_work_comes_through() -> None:
    with pytest.raises(KeyError), Deadline(60):
        raise KeyError
