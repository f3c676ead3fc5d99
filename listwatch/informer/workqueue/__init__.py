"""Work queues: keys that need work, each by one worker at a time, once however often it was added.

Filled by the handlers of informers, emptied by the workers of controllers. `WorkQueue` alone keeps
keys apart; `DelayingQueue` adds later; `RateLimitingQueue`, which controllers want, backs off.
"""

from __future__ import annotations

from listwatch.informer.workqueue.delaying import DelayingQueue
from listwatch.informer.workqueue.limiters import (
    BucketLimiter,
    ExponentialLimiter,
    FastSlowLimiter,
    MaxOfLimiter,
    MaxWaitLimiter,
    RateLimiter,
    default_limiter,
    item_limiter,
)
from listwatch.informer.workqueue.metrics import WorkQueueStatistics
from listwatch.informer.workqueue.parallel import parallelize
from listwatch.informer.workqueue.queue import ShutDownError, WorkQueue
from listwatch.informer.workqueue.rate_limiting import RateLimitingQueue

__all__ = [
    "BucketLimiter",
    "DelayingQueue",
    "ExponentialLimiter",
    "FastSlowLimiter",
    "MaxOfLimiter",
    "MaxWaitLimiter",
    "RateLimiter",
    "RateLimitingQueue",
    "ShutDownError",
    "WorkQueue",
    "WorkQueueStatistics",
    "default_limiter",
    "item_limiter",
    "parallelize",
]
