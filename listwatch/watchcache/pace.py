"""How often many watchers are woken together: seldom enough that there is time for other work.

Waking a watcher and sending it a chunk costs some 15 us, whether the chunk holds one event or ten.
So a `flushing.Flusher` of a busy process waits for more events, as a network card does with its
interrupts. A process that has time to spare loses none by waiting, and does not.
"""

from __future__ import annotations

from listwatch.protocol.clock import Clock

_A_WATCHER = 0.0004  # seconds that a flush should wait for each one it wakes: a 25th of the time
_LOOK = 0.05  # seconds between two looks at how busy the process is
_IDLE, _BUSY = 0.5, 0.8  # cores used: Python has little more than one to give


class Pace:
    """Says how long a lane should have waited for its flush, the number of its watchers given.

    Between nothing, while the process uses half a core or less, and `longest`, when it is busy.
    """

    def __init__(self, clock: Clock, longest: float) -> None:
        self._clock = clock
        self._longest = longest
        self._load = 0.0  # from idle (0) to busy (1)
        self._at = clock.monotonic()
        self._used = clock.process_time()

    def price(self, watchers: int, now: float) -> float:
        """Seconds for one flush of so many watchers."""
        if now - self._at >= _LOOK:
            self._look(now)
        return min(watchers * _A_WATCHER, self._longest) * self._load

    def _look(self, now: float) -> None:
        used = self._clock.process_time()
        cores = (used - self._used) / (now - self._at)
        self._load = min(max((cores - _IDLE) / (_BUSY - _IDLE), 0.0), 1.0)
        self._at, self._used = now, used
