"""When a ring will have overwritten what it holds now, if events go on coming as they do.

Pure arithmetic over `RingStatistics`, by the rule that `ring` grows and shrinks by; read by the
dashboard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from listwatch.watchcache.options import CacheOptions
    from listwatch.watchcache.statistics import RingStatistics

_STEPS = 200  # growths and halvings looked ahead


def rate_of(ring: RingStatistics) -> float:
    """Events a second, at present."""
    return ring.recent / ring.recent_seconds


def seconds_left(
    ring: RingStatistics,
    options: CacheOptions,
    ages: Callable[[int], float],
    ahead: int,
    *,
    rate: float,
) -> float | None:
    """Seconds until the ring has lost the event that has `ahead` older ones before it.

    `ages` gives the age in seconds of the event with so many before it. A watch whose last
    revision has `ahead` events of the ring at or below it is then too old for the ring. None: at
    this rate never. Right to a few events where they come evenly and are of one size.
    """
    if rate <= 0 or not ring.events:
        return None
    maximum = options.ring_maximum
    room = ring.capacity
    if ring.bytes:
        by_bytes = max(int(options.ring_bytes * ring.events / ring.bytes), 1)
        maximum, room = min(maximum, by_bytes), min(room, by_bytes)
    held, gone, came = ring.events, 0, 0
    for _ in range(_STEPS):
        # Events come until one finds the ring full.
        came += room - held + 1
        held, time = room, came / rate

        def age(index: int, came: int = came, time: float = time) -> float:
            if index < ring.events:
                return ages(index) + time
            return (came - 1 - (index - ring.events)) / rate

        quarter = age(gone + held - max(room // 4, 1))
        if age(gone) < options.history_window and room < maximum:
            room = min(room * 2, maximum)
        elif quarter > options.history_window and room > options.ring_minimum:
            room = max(room // 2, options.ring_minimum)
        elif age(gone) < options.history_window or gone >= ahead:
            # It can grow no more, or the one in question is next: one leaves as one comes.
            return (came + max(ahead - gone, 0)) / rate
        else:
            # All that are old enough leave one by one; the next to be young lets it grow.
            leave = _old_enough(age, gone, ahead, rate=rate, window=options.history_window)
            gone += leave
            came += leave - 1
            if gone > ahead:
                return (came - (gone - ahead - 1)) / rate
            continue
        leave = max(held - room + 1, 0)
        gone += leave
        held += 1 - leave
        if gone > ahead:
            return time
    return None


def _old_enough(
    age: Callable[[int], float], gone: int, ahead: int, *, rate: float, window: float
) -> int:
    # How many leave in turn before one is found that is younger than the window when it is its
    # turn; ages fall from old to new, so halving finds it.
    low, high = 1, ahead - gone + 1
    while low < high:
        middle = (low + high + 1) // 2
        if age(gone + middle - 1) + (middle - 1) / rate >= window:
            low = middle
        else:
            high = middle - 1
    return low
