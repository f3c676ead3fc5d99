"""Many writes at once, but not all at once: 1, then 2, 4, 8, ... as long as they succeed.

What fails for all of them fails once: a quota that is used up is not asked five thousand times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

BURST = 500  # of one look at one object, as upstream's
WIDTH = 64  # requests at a time


async def slow_start(
    count: int, act: Callable[[int], Awaitable[Result]]
) -> tuple[list[Result], Exception | None]:
    """Do `act(0)` to `act(count - 1)` in growing batches; stop after a batch with a failure.

    Returns what was answered, and the first failure.
    """
    answers: list[Result] = []
    done, size = 0, 1
    while done < count:
        size = min(size, count - done, WIDTH)
        numbers = range(done, done + size)
        results = await asyncio.gather(*map(act, numbers), return_exceptions=True)
        done += size
        error = _collect(results, answers)
        if error is not None:
            return answers, error
        size *= 2
    return answers, None


async def at_once(
    items: Iterable[Item], act: Callable[[Item], Awaitable[Result]]
) -> tuple[list[Result], Exception | None]:
    """Do `act` for every item, WIDTH at a time; what was answered, and the first failure."""
    everything = list(items)
    answers: list[Result] = []
    first: Exception | None = None
    for start in range(0, len(everything), WIDTH):
        chunk = everything[start : start + WIDTH]
        results = await asyncio.gather(*map(act, chunk), return_exceptions=True)
        first = _collect(results, answers) or first
    return answers, first


def _collect(results: Sequence[Result | BaseException], answers: list[Result]) -> Exception | None:
    first: Exception | None = None
    for result in results:
        if isinstance(result, Exception):
            first = first or result
        elif isinstance(result, BaseException):
            raise result
        else:
            answers.append(result)
    return first
