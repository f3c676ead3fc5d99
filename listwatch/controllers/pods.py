"""What controllers ask of a pod: whether it works, is ready, for how long, and which goes first.

Pure functions over pods as the API has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from listwatch.controllers import conditions
from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.objects import JSONObject

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def phase_of(pod: JSONObject) -> str:
    """The phase; '' where none was written."""
    return str((pod.get("status") or {}).get("phase") or "")


def is_finished(pod: JSONObject) -> bool:
    """Whether its containers have ended for good."""
    return phase_of(pod) in ("Succeeded", "Failed")


def is_terminating(pod: JSONObject) -> bool:
    """Whether it was deleted and is still there."""
    return "deletionTimestamp" in pod["metadata"]


def is_stopping(pod: JSONObject) -> bool:
    """Whether it was deleted and its containers have not ended yet."""
    return is_terminating(pod) and not is_finished(pod)


def is_active(pod: JSONObject) -> bool:
    """Whether it counts as one of the replicas."""
    return not is_finished(pod) and not is_terminating(pod)


def is_ready(pod: JSONObject) -> bool:
    """Whether it may be sent work."""
    return conditions.is_true((pod.get("status") or {}).get("conditions"), "Ready")


def ready_since(pod: JSONObject) -> float | None:
    """When it became ready, in seconds since 1970; None if it is not."""
    ready = conditions.find((pod.get("status") or {}).get("conditions"), "Ready")
    if ready is None or ready.get("status") != "True":
        return None
    return parse_rfc3339(ready["lastTransitionTime"]) if ready.get("lastTransitionTime") else 0.0


def is_available(pod: JSONObject, min_ready_seconds: int, now: float) -> bool:
    """Whether it has been ready for long enough."""
    if not min_ready_seconds:
        return is_ready(pod)
    since = ready_since(pod)
    return since is not None and since + min_ready_seconds <= now


def restarts_of(pod: JSONObject) -> int:
    """How often its containers were started again."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return max((status.get("restartCount") or 0 for status in statuses), default=0)


def in_order_of_deletion(pods: Iterable[JSONObject]) -> list[JSONObject]:
    """Those that are missed least first; upstream: ActivePodsWithRanks.Less."""
    candidates = list(pods)
    company: dict[str, int] = {}
    for pod in candidates:
        node = pod["spec"].get("nodeName") or ""
        company[node] = company.get(node, 0) + 1
    return sorted(candidates, key=lambda pod: _rank(pod, company))


def _rank(pod: JSONObject, company: dict[str, int]) -> tuple[Any, ...]:  # Any: a sort key
    node = pod["spec"].get("nodeName") or ""
    since = ready_since(pod)
    cost = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    return (
        bool(node),
        _PHASES.get(phase_of(pod), 0),
        since is not None,
        int(cost) if cost.lstrip("-").isdecimal() else 0,
        -company[node] if since is not None else 0,
        -(since or 0.0),
        -restarts_of(pod),
        _reversed(pod["metadata"].get("creationTimestamp") or ""),
    )


def _reversed(timestamp: str) -> float:
    return -parse_rfc3339(timestamp) if timestamp else 0.0
