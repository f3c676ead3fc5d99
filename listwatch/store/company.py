"""Whether a group should wait for more members: those who were answered just now mostly come back.

`group_commit` asks before it begins a transaction. What PostgreSQL has as `commit_delay` and
`commit_siblings`, but measured instead of set.
"""

from __future__ import annotations

_COMPANY = 4  # fewer than this many writers gain nothing by waiting for each other
_MOST = 0.75  # of those expected are enough
_LATELY = 0.01  # seconds after which nobody is expected any more

SLICE = 0.001  # seconds to wait before looking again
SLICES = 4  # at most


class Company:
    """How many writers are about: who was in the last group, and who had come when it ended.

    A transaction costs as much as several writes, in time of the interpreter too, which those who
    are on their way need. So with many writers a few milliseconds of waiting make all of them
    quicker; a lone writer, or the first after a rest, is never kept waiting.
    """

    def __init__(self) -> None:
        self._expected = 0
        self._until = float("-inf")

    def note(self, members: int, waiting: int, now: float) -> None:
        """A group of so many was answered, while so many others had come."""
        self._expected = members + waiting
        self._until = now + _LATELY

    def is_awaited(self, waiting: int, now: float) -> bool:
        """Whether more are likely to come at once."""
        expected = self._expected
        return expected >= _COMPANY and waiting < expected * _MOST and now < self._until
