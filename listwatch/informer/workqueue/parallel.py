"""Pieces of work by a few workers at once (upstream: ParallelizeUntil), for big reconciles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def parallelize(
    workers: int, pieces: int, work: Callable[[int], Awaitable[None]], *, chunk: int = 1
) -> None:
    """Do pieces 0 to `pieces` - 1, each once, in chunks, by so many workers at most.

    The first exception ends all of it and is raised; pieces under way are cancelled.
    """
    if workers < 1 or chunk < 1:
        raise ValueError("there must be a worker, and a piece in a chunk")
    starts = iter(range(0, pieces, chunk))

    async def one() -> None:
        for start in starts:
            for piece in range(start, min(start + chunk, pieces)):
                await work(piece)

    count = min(workers, -(-pieces // chunk))
    tasks = [asyncio.create_task(one()) for _ in range(count)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
