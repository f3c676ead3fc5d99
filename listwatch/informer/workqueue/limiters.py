"""How long an item that failed waits; used by `rate_limiting`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from listwatch.protocol.clock import Clock, SystemClock


class RateLimiter(Protocol):
    """Answers for one queue. `when` counts as one more failure of the item."""

    def when(self, item: Hashable) -> float:
        """Seconds until it may be tried again."""

    def forget(self, item: Hashable) -> None:
        """It succeeded, or it shall not be tried any more."""

    def num_requeues(self, item: Hashable) -> int:
        """Its failures in a row."""


class ExponentialLimiter:
    """`base`, twice that, four times that, up to `cap`: for each item by itself."""

    def __init__(self, base: float = 0.005, cap: float = 1000.0) -> None:
        self._base = base
        self._cap = cap
        self._failures: dict[Hashable, int] = {}

    def when(self, item: Hashable) -> float:
        """Seconds until it may be tried again."""
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        # Beyond 2**64 every base has reached its cap, and a float its end.
        return min(self._base * 2.0 ** min(failures, 64), self._cap)

    def forget(self, item: Hashable) -> None:
        """Start again."""
        self._failures.pop(item, None)

    def num_requeues(self, item: Hashable) -> int:
        """Its failures in a row."""
        return self._failures.get(item, 0)


class FastSlowLimiter:
    """`fast` for the first `attempts` failures of an item, `slow` from then on."""

    def __init__(self, fast: float, slow: float, attempts: int) -> None:
        self._fast = fast
        self._slow = slow
        self._attempts = attempts
        self._failures: dict[Hashable, int] = {}

    def when(self, item: Hashable) -> float:
        """Seconds until it may be tried again."""
        self._failures[item] = self._failures.get(item, 0) + 1
        return self._fast if self._failures[item] <= self._attempts else self._slow

    def forget(self, item: Hashable) -> None:
        """Start again."""
        self._failures.pop(item, None)

    def num_requeues(self, item: Hashable) -> int:
        """Its failures in a row."""
        return self._failures.get(item, 0)


class BucketLimiter:
    """A bucket of `burst` tokens, filled at `rate` a second, for all items together."""

    def __init__(self, rate: float = 10.0, burst: int = 100, *, clock: Clock | None = None) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock or SystemClock()
        self._tokens = float(burst)
        self._at = self._clock.monotonic()

    def when(self, item: Hashable) -> float:
        """Seconds until the token is there that was reserved now."""
        del item  # all share the bucket
        now = self._clock.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        self._tokens -= 1
        return 0.0 if self._tokens >= 0 else -self._tokens / self._rate

    def forget(self, item: Hashable) -> None:
        """Nothing is kept of items."""

    def num_requeues(self, item: Hashable) -> int:
        """Nothing is kept of items."""
        del item
        return 0


class MaxOfLimiter:
    """The longest that any of these says; each counts the failure."""

    def __init__(self, *limiters: RateLimiter) -> None:
        self._limiters = limiters

    def when(self, item: Hashable) -> float:
        """Seconds until it may be tried again."""
        return max(limiter.when(item) for limiter in self._limiters)

    def forget(self, item: Hashable) -> None:
        """Start again, in all of them."""
        for limiter in self._limiters:
            limiter.forget(item)

    def num_requeues(self, item: Hashable) -> int:
        """The most that any of them counted."""
        return max(limiter.num_requeues(item) for limiter in self._limiters)


class MaxWaitLimiter:
    """What another says, but never more than `most`."""

    def __init__(self, limiter: RateLimiter, most: float) -> None:
        self._limiter = limiter
        self._most = most

    def when(self, item: Hashable) -> float:
        """Seconds until it may be tried again."""
        return min(self._limiter.when(item), self._most)

    def forget(self, item: Hashable) -> None:
        """Start again."""
        self._limiter.forget(item)

    def num_requeues(self, item: Hashable) -> int:
        """What the other counted."""
        return self._limiter.num_requeues(item)


def default_limiter(clock: Clock | None = None) -> RateLimiter:
    """Upstream's for controllers: 5 ms doubling to 1,000 s, and 10 retries a second over 100."""
    return MaxOfLimiter(ExponentialLimiter(0.005, 1000.0), BucketLimiter(10.0, 100, clock=clock))


def item_limiter() -> RateLimiter:
    """Upstream's without the bucket: 1 ms doubling to 1,000 s."""
    return ExponentialLimiter(0.001, 1000.0)
