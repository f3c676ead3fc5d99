"""Many watchers are woken seldom in a busy process, and as ever in one that has time."""

from __future__ import annotations

import pytest

from listwatch.testing.clock import FakeClock
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.pace import Pace
from listwatch.watchcache.watcher import CacheWatcher
from tests.watchcache.kit import World, frames, settle

TICK = 0.005


def test_a_flush_is_free_in_a_process_that_has_time() -> None:
    clock = FakeClock()
    pace = Pace(clock, 0.04)
    clock.set(clock.monotonic() + 1)
    clock.used = 0.5

    assert pace.price(10_000, clock.monotonic()) == 0


@pytest.mark.parametrize(
    ("cores", "watchers", "price"),
    [(0.8, 100, 0.04), (2.0, 100, 0.04), (0.8, 10_000, 0.04), (0.8, 10, 0.004), (0.65, 100, 0.02)],
)
def test_the_price_of_a_flush_grows_with_watchers_and_load(
    cores: float, watchers: int, price: float
) -> None:
    clock = FakeClock()
    pace = Pace(clock, 0.04)
    clock.set(clock.monotonic() + 1)
    clock.used = cores

    assert pace.price(watchers, clock.monotonic()) == pytest.approx(price)


def test_a_process_that_comes_to_rest_is_seen_to() -> None:
    clock = FakeClock()
    pace = Pace(clock, 0.04)
    clock.set(clock.monotonic() + 1)
    clock.used = 1.0
    assert pace.price(100, clock.monotonic()) > 0
    clock.set(clock.monotonic() + 0.1)
    clock.used += 0.01

    assert pace.price(100, clock.monotonic()) == 0


async def test_many_watchers_of_a_busy_process_are_woken_seldom_and_miss_nothing() -> None:
    world, watchers = await watched(200)
    told = await written(world, watchers[0], seconds=2.0, cores=1.0)

    assert told.count(0) > len(told) / 2
    assert len([each for each in told if each]) <= 2.0 / 0.04 + 8
    assert sum(told) == len(told)


async def test_many_watchers_of_an_idle_process_are_woken_each_interval() -> None:
    world, watchers = await watched(200)
    told = await written(world, watchers[0], seconds=1.0, cores=0.2)

    assert len([each for each in told if each]) >= 1.0 / (0.01 + 2 * TICK)
    assert sum(told) == len(told)


async def test_events_that_come_seldom_are_told_at_once_in_a_busy_process() -> None:
    """Also two that come close together now and then."""
    world, watchers = await watched(200)
    await written(world, watchers[0], seconds=0.5, cores=1.0)
    for number in range(20):
        await turn(world, 0.1, 1.0)
        for name in ("one", "other"):
            world.write(f"{name}-{number}", {})
            await turn(world, 0.011, 1.0)
            assert len(await taken(watchers[0])) == 1


async def watched(many: int) -> tuple[World, list[CacheWatcher]]:
    world = World(CacheOptions(flush_interval=0.01, flush_interval_busy=0.04))
    return world, [await world.watch() for _ in range(many)]


async def written(world: World, watcher: CacheWatcher, seconds: float, cores: float) -> list[int]:
    """Write once a tick; returns how many events one watcher was told of in each, all at last."""
    told = []
    for number in range(int(seconds / TICK)):
        world.write(f"p{number}", {})
        await turn(world, TICK, cores)
        told.append(len(await taken(watcher)))
    await turn(world, 0.05, cores)
    told[-1] += len(await taken(watcher))
    return told


async def turn(world: World, seconds: float, cores: float) -> None:
    world.clock.used += seconds * cores
    await world.clock.advance(seconds)
    await settle()


async def taken(watcher: CacheWatcher) -> list[object]:
    assert watcher.lane is not None
    found: list[object] = []
    while watcher.cursor < watcher.lane.released:
        chunk = await watcher.next_chunk()
        assert chunk is not None
        found += frames(chunk)
    return found
