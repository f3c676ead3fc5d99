from __future__ import annotations

import random

import pytest

from dashboard import ring_map
from dashboard.ring_map import BUCKETS, RingMap
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.statistics import RingStatistics
from tests.dashboard.stage import PODS, Stage


def ring_of(stage: Stage) -> RingStatistics:
    return stage.caches.cacher(PODS).statistics().ring


async def test_an_empty_ring_has_no_columns(stage: Stage) -> None:
    outline = RingMap()
    outline.read(ring_of(stage), stage.caches.cacher(PODS).ring_outline)

    assert outline.buckets(ring_of(stage)) == {"per_bucket": 1, "buckets": []}


@pytest.mark.parametrize("piece", [7, 50, 4000])
async def test_the_outline_is_the_ring_however_it_was_read(
    monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(ring_map, "PIECE", piece)
    stage = Stage(ring_maximum=400)
    cacher = stage.caches.cacher(PODS)
    clock = stage.clock
    assert isinstance(clock, FakeClock)
    outline = RingMap()
    chance = random.Random(piece)
    for _ in range(60):
        for _ in range(chance.randrange(40)):
            stage.write(f"web-{chance.randrange(9)}", deleted=chance.random() < 0.3)
            clock.set(clock.now() + 0.05)
        outline.read(ring_of(stage), cacher.ring_outline)
    for _ in range(400 // piece + 1):
        outline.read(ring_of(stage), cacher.ring_outline)
    ring = ring_of(stage)
    slots = cacher.ring_slots(ring.start, ring.events)
    columns = outline.buckets(ring)["buckets"]
    kinds = [slot.type.value for slot in slots]

    assert ring.events > 100
    assert sum(sum(column) for column in columns) == ring.events
    assert [sum(column[i] for column in columns) for i in range(4)] == [
        kinds.count("ADDED"),
        kinds.count("MODIFIED"),
        kinds.count("DELETED"),
        0,
    ]
    for index, slot in enumerate(slots):
        assert outline.position(slot.revision, ring) == index + 1
        assert outline.position(slot.revision - 1, ring) == index


async def test_a_long_past_is_drawn_as_not_read_until_it_was(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ring_map, "PIECE", 20)
    for number in range(90):
        stage.write(f"web-{number}")
    cacher, outline = stage.caches.cacher(PODS), RingMap()
    unread = []
    for _ in range(6):
        outline.read(ring_of(stage), cacher.ring_outline)
        unread.append(sum(column[3] for column in outline.buckets(ring_of(stage))["buckets"]))

    assert unread == [70, 50, 30, 10, 0, 0]


async def test_the_strip_has_a_bounded_number_of_columns(stage: Stage) -> None:
    outline = RingMap()
    big = ring_of(stage)._replace(events=102_400, capacity=102_400, end=102_400, start=0)

    assert len(outline.buckets(big)["buckets"]) <= BUCKETS
