"""How many requests at a time: a bound, so that an avalanche is refused and not swallowed.

Watches wait rather than work and are not counted. `handler` gives a place back when the answer
has been sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rest_framework.throttling import BaseThrottle

from listwatch.api.wrapping import plain
from listwatch.protocol.errors import too_many_requests

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.views import APIView

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
RETRY_AFTER = 1


@dataclass(frozen=True, slots=True)
class InFlightStatistics:
    """One look at what is being worked on."""

    reading: int  # requests that read
    writing: int  # requests that write
    refused: int  # requests answered with 429 since the start


class InFlight:
    """Counts the requests being worked on; belongs to one event loop.

    The bounds are upstream's 400 and 200 times five: a request here costs a fraction of a thread.
    """

    def __init__(self, reads: int = 2_000, writes: int = 1_000) -> None:
        self._bounds = {True: reads, False: writes}
        self._counts = {True: 0, False: 0}
        self._refused = 0

    def enter(self, method: str) -> bool:
        """Take a place; False if there is none."""
        reads = method in _READS
        if self._counts[reads] >= self._bounds[reads]:
            self._refused += 1
            return False
        self._counts[reads] += 1
        return True

    def leave(self, method: str) -> None:
        """Give the place back."""
        self._counts[method in _READS] -= 1

    def statistics(self) -> InFlightStatistics:
        """One look at the counts."""
        return InFlightStatistics(self._counts[True], self._counts[False], self._refused)


class InFlightThrottle(BaseThrottle):
    """DRF's throttle that takes a place for the request."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """True, or 429 with the time to wait."""
        ours = plain(request)
        if ours.info.verb == "watch":
            return True
        if not ours.services.in_flight.enter(ours.method or ""):
            raise too_many_requests("Too many requests, please try again later.", RETRY_AFTER)
        ours.counted = True
        return True
