"""What keeps a cache from following its server: by a name that can be shown, and in the log.

Kept by `reflector`; the name is `informer.state`, and part of its statistics.
"""

from __future__ import annotations

import logging
from enum import StrEnum

from listwatch.informer.errors import (
    ApiError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    TooManyRequestsError,
    TransportError,
    UnauthorizedError,
)
from listwatch.protocol.clock import Clock

logger = logging.getLogger("listwatch.informer.reflector")

AGAIN_SECONDS = 600.0  # until a failure that lasts is told again


class FollowState(StrEnum):
    """Whether a cache follows its server, and if not, why."""

    STARTING = "starting"  # nothing was answered yet
    FOLLOWING = "following"
    RELISTING = "relisting"  # what it knew is too old: a list comes next
    NOT_SERVED = "kind not served"  # 404: no such kind, or not any more
    NOT_ALLOWED = "not allowed"  # 401 or 403
    THROTTLED = "throttled"  # 429
    UNREACHABLE = "server not reached"  # no answer at all
    FAILING = "failing"  # any other refusal


_WORDS = {
    FollowState.NOT_SERVED: "the server does not serve this kind",
    FollowState.NOT_ALLOWED: "the server does not allow it",
    FollowState.UNREACHABLE: "the server is not reached",
}


def state_after(error: Exception) -> FollowState:
    """The state that a failure puts a cache into."""
    match error:
        case NotFoundError():
            return FollowState.NOT_SERVED
        case UnauthorizedError() | ForbiddenError():
            return FollowState.NOT_ALLOWED
        case TooManyRequestsError():
            return FollowState.THROTTLED
        case GoneError():
            return FollowState.RELISTING
        case ApiError():
            return FollowState.FAILING
        case TransportError():
            return FollowState.UNREACHABLE
    return FollowState.FAILING


class Following:
    """The state of one reflector. A failure is logged when it begins, and now and then after that.

    One line when it is over says how long it took. What is answered by a list alone (410) is no
    failure.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self.name = name
        self.state = FollowState.STARTING
        self._clock = clock
        self._since = 0.0
        self._told: FollowState | None = None
        self._told_at = 0.0
        self._times = 0

    def failed(self, error: Exception) -> None:
        """List or watch was not answered, for this reason."""
        self.state = state_after(error)

    def tell(self, error: Exception) -> None:
        """Log it, unless the log has it already."""
        state, now = state_after(error), self._clock.monotonic()
        if state is FollowState.RELISTING:
            logger.info("%s: a list is needed: %s", self.name, error)
            return
        self._times += 1
        if state is self._told and now - self._told_at < AGAIN_SECONDS:
            logger.debug("%s: failed to list or watch: %s", self.name, error)
            return
        if self._told is None:
            self._since = now
        self._told, self._told_at = state, now
        level = logging.ERROR if state is FollowState.FAILING else logging.WARNING
        words = _WORDS.get(state, "failed to list or watch")
        logger.log(
            level, "%s: %s, and is asked again with growing gaps: %s", self.name, words, error
        )

    def succeeded(self) -> None:
        """A state is complete, or a watch goes on from it."""
        self.state = FollowState.FOLLOWING
        if self._told is None:
            return
        seconds = self._clock.monotonic() - self._since
        logger.info(
            "%s: follows again after %d failures in %.0f s", self.name, self._times, seconds
        )
        self._told, self._times = None, 0
