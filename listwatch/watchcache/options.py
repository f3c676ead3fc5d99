"""How large, how long and how often: the numbers of one watch cache."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """The numbers that a Cacher keeps to; refuses those that cannot work together.

    Seconds and bytes, unless a name says otherwise. The defaults are those of `conf.Options`.
    """

    history_window: float = 75.0  # events the ring keeps room for: a bookmark period and 15 s
    ring_minimum: int = 100  # events a ring holds at least
    ring_maximum: int = 102_400  # events a ring holds at most
    ring_bytes: int = 64 * 1024 * 1024  # of the bodies of its events; one event always fits
    freshness_timeout: float = 3.0  # how long a read waits for a revision yet to come
    bookmark_period: float = 60.0  # between two bookmarks of one watch
    bookmark_lead: float = 2.0  # the last bookmark comes this long before the deadline
    flush_interval: float = 0.01  # a busy lane is flushed at most this often
    flush_interval_busy: float = 0.04  # and this often in a busy process, if many watch
    chunk_bytes: int = 256 * 1024  # of frames joined into one chunk; one frame always fits
    slow_reader_timeout: float = 60.0  # a watch that takes nothing for this long ends
    log_batch: int = 500  # rows of the log read at a time
    pinned_references: int = 1_000_000  # in the arrays of pages that are under way, 8 bytes each
    ended_watches: int = 200  # that statistics remember

    def __post_init__(self) -> None:
        if not 1 <= self.ring_minimum <= self.ring_maximum:
            raise ValueError("ring_minimum must be at least 1 and at most ring_maximum")
        if self.log_batch < 1 or self.chunk_bytes < 1 or self.ring_bytes < 1:
            raise ValueError("log_batch, chunk_bytes and ring_bytes must be positive")
