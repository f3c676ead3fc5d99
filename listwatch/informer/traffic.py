"""What a `client` counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClientStatistics:
    """A client at one moment; counts since it was made."""

    requests: int  # sent, streams not among them, retries among them
    streams: int  # asked for
    open_streams: int  # open now
    retries: int  # requests sent again, because the server asked to or could not be reached
    refusals: int  # answers of 400 and above
    failures: int  # no answer, or one that was cut
    bytes_received: int  # of bodies, after decompression


@dataclass(slots=True)
class Traffic:
    """The counters behind it."""

    requests: int = 0
    streams: int = 0
    open_streams: int = 0
    retries: int = 0
    refusals: int = 0
    failures: int = 0
    bytes_received: int = 0

    def statistics(self) -> ClientStatistics:
        """A record of now."""
        return ClientStatistics(
            self.requests, self.streams, self.open_streams, self.retries, self.refusals,
            self.failures, self.bytes_received,
        )  # fmt: skip
