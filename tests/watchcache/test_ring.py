"""The ring: its window rule, its byte cap, and what it lets go of."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.protocol.versions import Version
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.ring import Ring
from tests.watchcache.kit import version

WINDOW = 75.0


def ring(minimum: int = 100, maximum: int = 102_400, **options: int) -> Ring:
    return Ring(CacheOptions(ring_minimum=minimum, ring_maximum=maximum, **options))


def fill(ring: Ring, count: int, spacing: float, first: int = 1) -> float:
    now = 0.0
    for revision in range(first, first + count):
        ring.append(version(revision, "a"), now)
        now += spacing
    return now


@pytest.mark.parametrize(
    ("spacing", "capacity"),
    [
        (WINDOW / 6, 10),  # the oldest of five is younger than the window
        (WINDOW / 4, 5),  # the window is just covered
        (WINDOW * 1.1, 2),  # one event in the newest quarter is older than the window
    ],
)
def test_a_full_ring_grows_and_shrinks_by_the_window(spacing: float, capacity: int) -> None:
    # The table of kube-apiserver's own test: five slots, one event more.
    five = ring(2, 100)
    five.capacity = 5
    fill(five, 6, spacing)

    assert five.capacity == capacity


def test_a_ring_keeps_to_its_bounds() -> None:
    busy, idle = ring(4, 16), ring(4, 16)
    fill(busy, 100, 0.001)
    idle.capacity = 16
    fill(idle, 100, 1000.0)

    assert (busy.capacity, len(busy)) == (16, 16)
    assert (idle.capacity, len(idle)) == (4, 4)


def test_shrinking_keeps_the_newest() -> None:
    shrinking = ring(2, 16)
    shrinking.capacity = 16
    now = fill(shrinking, 16, 10 * WINDOW)
    shrinking.append(version(17, "a"), now)

    assert [event.revision for event in shrinking.after(0)] == list(range(10, 18))
    assert shrinking.floor == 9


def test_the_byte_cap_evicts_but_always_leaves_the_newest() -> None:
    size = len(version(1, "a").encoded.body)
    small = ring(100, 100, ring_bytes=3 * size)
    fill(small, 10, 0.001)
    assert (len(small), small.bytes, small.floor) == (3, 3 * size, 7)

    huge = version(11, "a", note="x" * 10 * size)
    small.append(huge, 1.0)

    assert small.after(0) == [huge]
    assert small.floor == 10


def test_what_leaves_loses_its_previous_and_what_stays_keeps_it() -> None:
    two = ring(2, 2)
    events = [version(n, "a") for n in range(1, 5)]
    for before, event in pairwise(events):
        event.previous = before
    evicted: list[Version] = []
    for event in events:
        evicted += two.append(event, 0.0)

    assert evicted == events[:2]
    assert [event.previous for event in events] == [None, None, events[1], events[2]]


def test_indices_only_grow_and_slots_are_found_by_them() -> None:
    ten = ring(10, 10)
    fill(ten, 25, 0.001)

    assert (ten.start, ten.end) == (15, 25)
    assert [(index, event.revision) for index, event, _ in ten.slots(0, 17)] == [(15, 16), (16, 17)]
    assert ten.slots(30, 40) == []
    assert [event.revision for _, event, _ in ten.slots(24, 99)] == [25]


def test_a_resized_ring_does_not_make_watchable_again_what_was_evicted() -> None:
    growing = ring(4, 64)
    now = fill(growing, 4, WINDOW)
    growing.append(version(5, "a"), now)
    floor = growing.floor
    fill(growing, 40, 0.001, first=6)

    assert floor >= 1
    assert growing.floor >= floor


@given(
    revisions=st.lists(st.integers(1, 200), unique=True, max_size=60).map(sorted),
    capacity=st.integers(1, 20),
    asked=st.integers(0, 210),
)
def test_after_gives_exactly_the_events_above(
    revisions: list[int], capacity: int, asked: int
) -> None:
    small = ring(capacity, capacity)
    for revision in revisions:
        small.append(version(revision, "a"), 0.0)
    kept = revisions[-capacity:]
    expected = [revision for revision in kept if revision > asked]

    assert [event.revision for event in small.after(asked)] == expected
    assert small.count_after(asked) == len(expected)
    assert (small.find(asked) is not None) == (asked in kept)
    below = [revision for revision in kept if revision <= asked]
    assert small.state_revision(asked) == (below[-1] if below else small.floor)
    assert small.floor == (revisions[-capacity - 1] if len(revisions) > capacity else 0)
