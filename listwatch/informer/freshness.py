"""How fresh a cache is: what a reader needs to know to refuse stale data.

Kept by `reflector`, shown by `shared_informer` and its lister.
"""

from __future__ import annotations

from dataclasses import dataclass

from listwatch.protocol.clock import Clock


@dataclass(frozen=True, slots=True)
class FreshnessRecord:
    """Freshness at one moment. Times are seconds since 1970, None for never."""

    live: bool  # a stream is open and was heard lately
    connected: bool  # a stream is open
    last_heard_at: float | None  # anything at all: a list, an event, a bookmark
    last_event_at: float | None  # an object that changed
    last_bookmark_at: float | None  # the word that nothing else did
    last_list_at: float | None  # the last list that was taken


class Freshness:
    """The marks behind it. `live_within`: a stream silent for longer counts as dead."""

    def __init__(self, clock: Clock, live_within: float) -> None:
        self._clock = clock
        self._live_within = live_within
        self._heard: float | None = None  # monotonic
        self.connected = False
        self.last_heard_at: float | None = None
        self.last_event_at: float | None = None
        self.last_bookmark_at: float | None = None
        self.last_list_at: float | None = None

    @property
    def live(self) -> bool:
        """Whether a stream is open and said something within the time."""
        if not self.connected or self._heard is None:
            return False
        return self._clock.monotonic() - self._heard <= self._live_within

    def heard(self) -> None:
        """A sign of life came."""
        self._heard = self._clock.monotonic()
        self.last_heard_at = self._clock.now()

    def event(self) -> None:
        """An object changed."""
        self.heard()
        self.last_event_at = self.last_heard_at

    def bookmark(self) -> None:
        """The server said that nothing else changed."""
        self.heard()
        self.last_bookmark_at = self.last_heard_at

    def listed(self) -> None:
        """A whole list was taken."""
        self.heard()
        self.last_list_at = self.last_heard_at

    def record(self) -> FreshnessRecord:
        """A record of now."""
        return FreshnessRecord(
            self.live, self.connected, self.last_heard_at, self.last_event_at,
            self.last_bookmark_at, self.last_list_at,
        )  # fmt: skip
