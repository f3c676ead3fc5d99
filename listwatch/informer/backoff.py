"""Back-off with jitter: how long to wait after the n-th failure in a row.

Used by `reflector` and `leader_election`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from listwatch.protocol.clock import Clock


@dataclass(frozen=True, slots=True)
class BackoffPolicy:
    """Delays grow from `initial` by `factor` to `cap`, each plus up to `jitter` times itself.

    They start again after `quiet` seconds without a failure. Upstream measures those from the last
    start instead, which makes a saw-tooth of a long outage: `from_last_reset` does as upstream.
    """

    initial: float = 0.8
    factor: float = 2.0
    cap: float = 30.0
    jitter: float = 1.0
    quiet: float = 120.0
    from_last_reset: bool = False

    def __post_init__(self) -> None:
        if self.initial < 0 or self.cap < self.initial or self.factor < 1 or self.jitter < 0:
            raise ValueError(f"no back-off can follow {self}")


class Backoff:
    """The delays of one client. Deterministic for a given clock and random."""

    def __init__(self, policy: BackoffPolicy, clock: Clock, random: Random) -> None:
        self.policy = policy
        self._clock = clock
        self._random = random
        self._step = 0
        self._since = clock.monotonic()

    @property
    def failures(self) -> int:
        """How many delays were given since the last start."""
        return self._step

    def next(self, at_least: float = 0.0) -> float:
        """The delay to wait now, after one more failure."""
        policy, now = self.policy, self._clock.monotonic()
        if now - self._since > policy.quiet:
            self._step = 0
            self._since = now
        # The exponent is bounded: a float does not hold 2.0 ** 2000.
        base = min(policy.initial * policy.factor ** min(self._step, 64), policy.cap)
        self._step += 1
        delay = max(base * (1 + policy.jitter * self._random.random()), at_least)
        if not policy.from_last_reset:
            self._since = now + delay  # the quiet begins when the waiting is over
        return delay

    def reset(self) -> None:
        """Start again: things went well."""
        self._step = 0
