"""When a ring will have lost an event is foretold as it comes to pass."""

from __future__ import annotations

import random

import pytest

from listwatch.watchcache.forecast import rate_of, seconds_left
from listwatch.watchcache.inspection import ring_statistics
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.ring import Ring
from tests.watchcache.kit import version

OPTIONS = CacheOptions(ring_minimum=20, ring_maximum=320, history_window=30.0)
TINY = CacheOptions(ring_minimum=20, ring_maximum=320, history_window=30.0, ring_bytes=9_000)


class Stream:
    """Events that come at a steady rate into a real ring."""

    def __init__(self, options: CacheOptions) -> None:
        self.ring = Ring(options)
        self.now = 1000.0
        self.revision = 0

    def come(self, count: int, rate: float) -> None:
        for _ in range(count):
            self.now += 1 / rate
            self.revision += 1
            event = version(self.revision, "a")
            event.received_at = self.now
            self.ring.append(event, self.now)

    def ages(self, index: int) -> float:
        ((_, _, time),) = self.ring.slots(self.ring.start + index, self.ring.start + index + 1)
        return self.now - time


@pytest.mark.parametrize("options", [OPTIONS, TINY])
@pytest.mark.parametrize("rate", [0.2, 1.0, 3.0, 10.0, 60.0])
@pytest.mark.parametrize("held", [1, 15, 20, 33, 200])
def test_what_is_foretold_comes_to_pass(options: CacheOptions, rate: float, held: int) -> None:
    stream = Stream(options)
    stream.come(held, rate)
    ring = ring_statistics(stream.ring, stream.now)
    began = stream.now
    positions = sorted({0, ring.events // 3, ring.events // 2, ring.events - 1})
    told = {
        ahead: seconds_left(ring, options, stream.ages, ahead, rate=rate) for ahead in positions
    }
    lost: dict[int, float] = {}
    for _ in range(4_000):
        stream.come(1, rate)
        for ahead in positions:
            if ahead not in lost and stream.ring.start - ring.start > ahead:
                lost[ahead] = stream.now - began
        if len(lost) == len(positions):
            break
    for ahead in positions:
        foretold = told[ahead]
        assert foretold is not None
        assert foretold == pytest.approx(lost[ahead], rel=0.05, abs=2.5 / rate)


def test_what_comes_to_pass_after_a_burst_is_foretold_within_a_third() -> None:
    chance = random.Random(7)
    for _ in range(40):
        stream = Stream(OPTIONS)
        stream.come(chance.randrange(1, 90), chance.choice((0.5, 5, 50)))
        rate = chance.choice((0.5, 2.0, 8.0))
        stream.come(chance.randrange(1, 90), rate)
        ring, began = ring_statistics(stream.ring, stream.now), stream.now
        ahead = chance.randrange(ring.events)
        told = seconds_left(ring, OPTIONS, stream.ages, ahead, rate=rate)
        while stream.ring.start - ring.start <= ahead:
            stream.come(1, rate)

        assert told == pytest.approx(stream.now - began, rel=0.34, abs=3 / rate)


def test_nothing_is_overwritten_while_nothing_comes() -> None:
    stream = Stream(OPTIONS)
    stream.come(20, 10)
    ring = ring_statistics(stream.ring, stream.now + 60)

    assert rate_of(ring) == 0
    assert seconds_left(ring, OPTIONS, stream.ages, 0, rate=0) is None


def test_the_present_rate_is_that_of_the_last_ten_seconds() -> None:
    stream = Stream(OPTIONS)
    stream.come(5, 0.1)
    stream.come(40, 8)

    assert rate_of(ring_statistics(stream.ring, stream.now)) == pytest.approx(4.5, rel=0.15)


def test_a_rate_is_not_lowered_by_what_has_left_already() -> None:
    tight = CacheOptions(ring_minimum=20, ring_maximum=20)
    stream = Stream(tight)
    stream.come(400, 40)

    assert rate_of(ring_statistics(stream.ring, stream.now)) == pytest.approx(40, rel=0.1)


def test_the_ring_remembers_how_it_grew_and_shrank() -> None:
    stream = Stream(OPTIONS)
    stream.come(100, 10)
    stream.come(100, 0.1)
    history = ring_statistics(stream.ring, stream.now).history

    assert [(each.before, each.after) for each in history[:3]] == [(20, 40), (40, 80), (80, 160)]
    assert history[-1].after < history[-1].before
    assert [each.at for each in history] == sorted(each.at for each in history)
    stream.come(10_000, 0.01)
    assert len(stream.ring.history) <= 32
