"""The status of a deployment: counts, and the conditions that `kubectl rollout status` reads.

Upstream: pkg/controller/deployment/progress.go and sync.go. Used by `controller`.
"""

from __future__ import annotations

from collections.abc import Sequence

from listwatch.controllers import conditions
from listwatch.controllers.deployments.scaling import count, limits, replicas_of
from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.objects import JSONObject

PROGRESSING, AVAILABLE = "Progressing", "Available"
TIMED_OUT, FINISHED = "ProgressDeadlineExceeded", "NewReplicaSetAvailable"
PAUSED, RESUMED = "DeploymentPaused", "DeploymentResumed"
NO_DEADLINE = 2**31 - 1
KEPT = ("terminatingReplicas",)  # told also when there are none


def status_of(
    deployment: JSONObject, every: Sequence[JSONObject], new: JSONObject | None, now: float
) -> JSONObject:
    """The counts, with the condition Available; Progressing stays as it is."""
    old = deployment.get("status") or {}
    available = count(every, "availableReplicas")
    asked = sum(map(replicas_of, every))
    _, unavailable = limits(deployment)
    enough = available >= replicas_of(deployment) - unavailable
    made = conditions.condition(
        AVAILABLE,
        enough,
        "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        f"Deployment {'has' if enough else 'does not have'} minimum availability.",
    )
    found = conditions.put(list(old.get("conditions") or ()), made, rfc3339(now), updated=True)
    status = {
        "observedGeneration": deployment["metadata"].get("generation") or 0,
        "replicas": count(every),
        "updatedReplicas": count([new] if new else []),
        "readyReplicas": count(every, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(asked - available, 0),
        "terminatingReplicas": stopping(every),
        "collisionCount": old.get("collisionCount"),
        "conditions": found,
    }
    return {
        key: value for key, value in status.items() if value or (value is not None and key in KEPT)
    }


def stopping(replica_sets: Sequence[JSONObject]) -> int | None:
    """Their pods that were deleted and still run; None while one of them has not told."""
    statuses = [each.get("status") or {} for each in replica_sets]
    # Nobody has looked at a new one yet: it has had no pods.
    told = [each for each in statuses if each.get("observedGeneration") or KEPT[0] in each]
    numbers = [each.get(KEPT[0]) for each in told]
    return None if None in numbers else sum(filter(None, numbers))


def is_complete(deployment: JSONObject, status: JSONObject) -> bool:
    """Whether all replicas are new and available, and no old one is left."""
    wanted = replicas_of(deployment)
    return all(
        (status.get(field) or 0) == wanted
        for field in ("updatedReplicas", "replicas", "availableReplicas")
    ) and (status.get("observedGeneration") or 0) >= (deployment["metadata"].get("generation") or 0)


def is_progressing(old: JSONObject, new: JSONObject) -> bool:
    """Whether the new status is better than the old one by any count."""
    gone_before = (old.get("replicas") or 0) - (old.get("updatedReplicas") or 0)
    gone_now = (new.get("replicas") or 0) - (new.get("updatedReplicas") or 0)
    better = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return gone_now < gone_before or any((new.get(k) or 0) > (old.get(k) or 0) for k in better)


def with_progress(
    deployment: JSONObject,
    status: JSONObject,
    new: JSONObject | None,
    now: float,
) -> JSONObject:
    """The status with the condition Progressing as it is now."""
    if not has_deadline(deployment):
        return {**status, "conditions": conditions.without(status["conditions"], PROGRESSING)}
    current = conditions.find(status["conditions"], PROGRESSING)
    name = new["metadata"]["name"] if new else ""
    settled = (status.get("replicas") or 0) == (status.get("updatedReplicas") or 0)
    if settled and current is not None and current.get("reason") == FINISHED:
        return status  # no rollout goes on
    what = f'ReplicaSet "{name}"' if name else f'Deployment "{deployment["metadata"]["name"]}"'
    stamp, found = rfc3339(now), status["conditions"]
    if is_complete(deployment, status):
        made = conditions.condition(
            PROGRESSING, True, FINISHED, f"{what} has successfully progressed."
        )
        found = conditions.put(found, made, stamp, updated=True)
    elif is_progressing(deployment.get("status") or {}, status):
        made = conditions.condition(
            PROGRESSING, True, "ReplicaSetUpdated", f"{what} is progressing."
        )
        # Told anew each time: its lastUpdateTime is what the deadline counts from.
        found = _refreshed(found, made, stamp)
    elif is_late(deployment, current, now):
        made = conditions.condition(
            PROGRESSING, False, TIMED_OUT, f"{what} has timed out progressing."
        )
        found = conditions.put(found, made, stamp, updated=True)
    return {**status, "conditions": found}


def has_deadline(deployment: JSONObject) -> bool:
    """Whether a rollout can take too long."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return seconds is not None and seconds != NO_DEADLINE


def is_late(deployment: JSONObject, current: JSONObject | None, now: float) -> bool:
    """Whether nothing has moved for longer than the deadline."""
    if current is None or current.get("reason") in (FINISHED, PAUSED):
        return False
    if current.get("reason") == TIMED_OUT:
        return True
    return seconds_left(deployment, current, now) < 0


def seconds_left(deployment: JSONObject, current: JSONObject, now: float) -> float:
    """Seconds until the deadline."""
    since = parse_rfc3339(current.get("lastUpdateTime") or current["lastTransitionTime"])
    return float(since + deployment["spec"]["progressDeadlineSeconds"] - now)


def paused_condition(deployment: JSONObject) -> JSONObject | None:
    """What Progressing has to say of a pause that began or ended; None if it says so already."""
    if not has_deadline(deployment):
        return None
    found = (deployment.get("status") or {}).get("conditions")
    current = conditions.find(found, PROGRESSING)
    reason = None if current is None else current.get("reason")
    if reason == TIMED_OUT:
        return None
    paused = bool(deployment["spec"].get("paused"))
    if paused and reason != PAUSED:
        made = conditions.condition(PROGRESSING, False, PAUSED, "Deployment is paused")
        return {**made, "status": "Unknown"}
    if not paused and reason == PAUSED:
        made = conditions.condition(PROGRESSING, False, RESUMED, "Deployment is resumed")
        return {**made, "status": "Unknown"}
    return None


def _refreshed(found: conditions.Conditions, made: JSONObject, stamp: str) -> conditions.Conditions:
    old = conditions.find(found, PROGRESSING)
    moved = old is None or old.get("status") != made["status"]
    since = stamp if moved or old is None else old["lastTransitionTime"]
    fresh = {**made, "lastUpdateTime": stamp, "lastTransitionTime": since}
    return [*conditions.without(found, PROGRESSING), fresh]
