"""How long the next pod of a job has to wait after those that failed.

Upstream: pkg/controller/job/backoff_utils.go. Asked by `controller`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from listwatch.controllers import conditions
from listwatch.controllers.jobs.accounting import ended
from listwatch.controllers.jobs.failure_policy import IGNORE, judge
from listwatch.controllers.jobs.indexes import failures_before
from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.objects import JSONObject

FIRST_BACKOFF, LAST_BACKOFF = 10.0, 360.0  # seconds after a pod that failed


def delay(job: JSONObject, pods: Iterable[JSONObject], now: float) -> float:
    """Seconds until any pod may be made, by those that failed since one succeeded."""
    ends = sorted(
        (finished_at(pod), ended(pod))
        for pod in pods
        if ended(pod) and judge(job, pod)[0] != IGNORE
    )
    failures = 0
    for _, kind in reversed(ends):
        if kind == "succeeded":
            break
        failures += 1
    return _left(failures, ends[-1][0], now) if failures else 0.0


def delays_of_indexes(last: Mapping[int, JSONObject], now: float) -> dict[int, float]:
    """Seconds until each index may have its next pod; `last` are those that failed."""
    return {
        index: _left(sum(failures_before(pod)) + 1, finished_at(pod), now)
        for index, pod in last.items()
    }


def finished_at(pod: JSONObject) -> float:
    """When it ended: its containers say it, else its readiness, its deletion or its creation."""
    status, metadata = pod.get("status") or {}, pod["metadata"]
    times: list[str] = [
        ((each.get("state") or {}).get("terminated") or {}).get("finishedAt") or ""
        for each in status.get("containerStatuses") or ()
    ]
    if times and all(times):
        return max(parse_rfc3339(text) for text in times)
    ready = conditions.find(status.get("conditions"), "Ready")
    if ready is not None and ready.get("status") == "False" and ready.get("lastTransitionTime"):
        return parse_rfc3339(ready["lastTransitionTime"])
    if metadata.get("deletionTimestamp"):
        grace = metadata.get("deletionGracePeriodSeconds") or 0
        return parse_rfc3339(metadata["deletionTimestamp"]) - float(grace)
    created = metadata.get("creationTimestamp")
    return parse_rfc3339(created) if created else 0.0


def _left(failures: int, last: float, now: float) -> float:
    backoff = min(FIRST_BACKOFF * 2.0 ** min(failures - 1, 10), LAST_BACKOFF)
    return max(last + backoff - now, 0.0)
