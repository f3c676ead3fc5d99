"""How a reflector asks, how long it waits, and what it counts; used by `reflector`."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from listwatch.informer.backoff import BackoffPolicy
from listwatch.informer.failures import FollowState

LEAST_WATCH_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class ReflectorOptions:
    """Seconds, unless a name says otherwise."""

    streaming_lists: bool = True  # ask for the state by a watch first, which costs a server less
    bookmarks: bool = True  # of watches; a streaming list has them anyway
    page_size: int = 0  # of lists; 0: as fits the server
    watch_seconds: float = LEAST_WATCH_SECONDS  # watches last this long to twice this
    # Bookmarks come each minute: a stream that said nothing for longer is dead, whatever TCP says.
    idle_seconds: float = 75.0
    # Before the state is complete something should come all the time; after that, fall back.
    initial_idle_seconds: float = 30.0
    internal_error_seconds: float = 0.0  # a 500 in a stream is retried without a list for so long
    drop_stale_events: bool = True  # events older than what is known already
    backoff: BackoffPolicy = field(default_factory=BackoffPolicy)

    def __post_init__(self) -> None:
        if self.page_size < 0 or min(self.idle_seconds, self.initial_idle_seconds) <= 0:
            raise ValueError(f"no reflector can follow {self}")

    def watch_timeout(self, random: Random) -> int:
        """What to ask a server to end a watch after: random, so that not all end at once."""
        least = max(self.watch_seconds, LEAST_WATCH_SECONDS)
        return int(least * (1 + random.random()))


class InternalErrorRetry:
    """Whether an internal error in a stream is retried: within a time since the first of a streak.

    A streak ends after a quiet minute.
    """

    QUIET = 60.0

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._first: float | None = None
        self._last: float | None = None

    def should_retry(self, now: float) -> bool:
        """To be asked once for each error, when it came."""
        if self._last is not None and now - self._last >= self.QUIET:
            self._first = None
        if self._first is None:
            self._first = now
        self._last = now
        if self._seconds <= 0:
            return False
        if now - self._first <= self._seconds:
            return True
        self._first = self._last = None
        return False


@dataclass(frozen=True, slots=True)
class ReflectorStatistics:
    """A reflector at one moment; counts since it was made."""

    state: FollowState  # whether it follows the server, and if not, why
    last_sync_resource_version: str  # where the next watch goes on
    lists: int  # lists taken, streaming ones among them
    streaming_lists: int  # of those by a watch
    list_fallbacks: int  # streaming lists given up for a plain one
    watches: int  # watch requests answered with a stream
    short_watches: int  # watches that ended within a second with nothing
    cuts: int  # streams that ended in the middle
    silences: int  # streams ended because nothing came
    expirations: int  # 410s, in either form
    throttlings: int  # 429s, in either form
    refused_connections: int  # nobody listened
    errors: int  # told to the error handler
    events: int  # objects added, modified and deleted
    bookmarks: int
    skipped_events: int  # of a wrong type or kind, or refused by the store
    stale_events: int  # older than what was known already
    backoffs: int  # waits
    backoff_seconds: float  # of all waits


@dataclass(slots=True)
class Counts:
    """The counters behind it."""

    lists: int = 0
    streaming_lists: int = 0
    list_fallbacks: int = 0
    watches: int = 0
    short_watches: int = 0
    cuts: int = 0
    silences: int = 0
    expirations: int = 0
    throttlings: int = 0
    refused_connections: int = 0
    errors: int = 0
    events: int = 0
    bookmarks: int = 0
    skipped_events: int = 0
    stale_events: int = 0
    backoffs: int = 0
    backoff_seconds: float = 0.0
