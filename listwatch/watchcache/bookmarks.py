"""When a watch is due for a bookmark, and when for its end.

Each `watcher` has one of these, and is called by the timer wheel at the times it names.
"""

from __future__ import annotations

from math import inf


class Schedule:
    """The times of one watch, monotonic: a bookmark each period, one shortly before the deadline.

    Says when; whether a bookmark is sent at all is the watcher's business.
    """

    __slots__ = ("_lead", "_next", "_period", "deadline")

    def __init__(
        self, now: float, timeout: float | None, period: float, *, lead: float, bookmarks: bool
    ) -> None:
        self.deadline = inf if timeout is None else now + timeout
        self._period = period
        self._lead = lead
        self._next = self._after(now) if bookmarks else inf

    @property
    def next(self) -> float:
        """The next time at which something is due."""
        return min(self._next, self.deadline)

    @property
    def next_bookmark(self) -> float | None:
        """When the next bookmark is due; None if none will be."""
        return None if self._next == inf else self._next

    @property
    def next_is_last(self) -> bool:
        """Whether the next bookmark is due for the deadline, not for the period."""
        return self._next < inf and self._next == self.deadline - self._lead

    @property
    def closing(self) -> bool:
        """Whether the last bookmark before the deadline was due."""
        return self._next == inf and self.deadline < inf

    def take_bookmark(self, now: float) -> bool:
        """Whether a bookmark is due; each is told once."""
        if now < self._next:
            return False
        self._next = self._after(now)
        return True

    def _after(self, now: float) -> float:
        # As upstream: the last one comes a little before the deadline, and nothing behind it.
        last = self.deadline - self._lead
        if now + self._period < last or self.deadline == inf:
            return now + self._period
        return last if last > now else inf
