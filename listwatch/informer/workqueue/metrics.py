"""What a work queue counts and times; kept by `queue`, shown by its `statistics()`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from listwatch.protocol.clock import Clock

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class WorkQueueStatistics:
    """A work queue at one moment; counts and sums since it was made."""

    name: str
    depth: int  # items that wait
    adds: int  # items taken in; those that waited already do not count
    retries: int  # add_after and add_rate_limited
    delayed: int  # items that are due later
    processing: int  # items that workers have now
    gets: int  # items handed to workers
    queue_latency_sum: float  # seconds from add to get, of all gets
    queue_latency_max: float
    work_duration_sum: float  # seconds from get to done, of all that were done
    work_duration_max: float
    unfinished_work_seconds: float  # sum over what workers have now
    longest_running_processor_seconds: float  # the longest of them
    shutting_down: bool


class QueueTimes(Generic[Item]):
    """The stop-watches behind it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._added: dict[Item, float] = {}
        self._started: dict[Item, float] = {}
        self.adds = 0
        self.retries = 0
        self.gets = 0
        self.latency_sum = 0.0
        self.latency_max = 0.0
        self.work_sum = 0.0
        self.work_max = 0.0

    def add(self, item: Item) -> None:
        """An item came that did not wait yet."""
        self.adds += 1
        self._added.setdefault(item, self._clock.monotonic())

    def get(self, item: Item) -> None:
        """A worker has it."""
        now = self._clock.monotonic()
        self.gets += 1
        self._started[item] = now
        latency = now - self._added.pop(item, now)
        self.latency_sum += latency
        self.latency_max = max(self.latency_max, latency)

    def done(self, item: Item) -> None:
        """The worker is done."""
        now = self._clock.monotonic()
        took = now - self._started.pop(item, now)
        self.work_sum += took
        self.work_max = max(self.work_max, took)

    def unfinished(self) -> tuple[float, float]:
        """Seconds of work under way: their sum, and the longest."""
        now = self._clock.monotonic()
        ages = [now - started for started in self._started.values()]
        return sum(ages), max(ages, default=0.0)
