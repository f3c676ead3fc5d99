"""How many replicas each replica set of a deployment shall have: numbers only, no requests.

Upstream: pkg/controller/deployment/util/deployment_util.go and rolling.go. Used by `controller`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from listwatch.protocol.objects import JSONObject

DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"


def replicas_of(subject: JSONObject) -> int:
    """The replicas that a spec asks for; 1 where it does not say."""
    replicas = subject["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def count(replica_sets: Iterable[JSONObject], field: str = "replicas") -> int:
    """The sum of a field over the status of replica sets."""
    return sum((each.get("status") or {}).get(field) or 0 for each in replica_sets)


def total(replica_sets: Iterable[JSONObject]) -> int:
    """The replicas that all of them ask for."""
    return sum(map(replicas_of, replica_sets))


def is_rolling(deployment: JSONObject) -> bool:
    """Whether new pods come before old ones are gone."""
    strategy = deployment["spec"].get("strategy") or {}
    return bool(strategy.get("type", "RollingUpdate") == "RollingUpdate")


def absolute(value: int | str | None, whole: int, *, up: bool) -> int:
    """A number, or a percentage of the whole, rounded up or down."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    text = value.strip()
    if text.endswith("%"):
        part = int(text[:-1]) * whole / 100
        return math.ceil(part) if up else math.floor(part)
    return int(text)


def limits(deployment: JSONObject) -> tuple[int, int]:
    """MaxSurge and maxUnavailable as numbers; never both 0."""
    replicas = replicas_of(deployment)
    if not is_rolling(deployment) or not replicas:
        return 0, 0
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    surge = absolute(rolling.get("maxSurge", "25%"), replicas, up=True)
    unavailable = absolute(rolling.get("maxUnavailable", "25%"), replicas, up=False)
    if not surge and not unavailable:
        unavailable = 1
    return surge, min(unavailable, replicas)


def new_replicas(
    deployment: JSONObject, every: Sequence[JSONObject], new: JSONObject | None
) -> int:
    """How many replicas the new set may have now."""
    wanted = replicas_of(deployment)
    if not is_rolling(deployment):
        return wanted
    surge, _ = limits(deployment)
    current, most = total(every), wanted + surge
    mine = 0 if new is None else replicas_of(new)
    if current >= most:
        return mine
    return mine + min(most - current, wanted - mine)


def old_reductions(
    deployment: JSONObject, new: JSONObject, old: Sequence[JSONObject]
) -> list[tuple[JSONObject, int]]:
    """Old sets that may shrink now, and to what: first by what is unhealthy, then the rest."""
    current_old = total(old)
    if not current_old:
        return []
    _, unavailable = limits(deployment)
    every = [*old, new]
    least = replicas_of(deployment) - unavailable
    new_missing = replicas_of(new) - count([new], "availableReplicas")
    spare = total(every) - least - new_missing
    if spare <= 0:
        return []
    sizes = {each["metadata"]["uid"]: replicas_of(each) for each in old}
    by_age = sorted(old, key=lambda each: each["metadata"]["creationTimestamp"])
    cleaned = 0
    for each in by_age:
        broken = replicas_of(each) - count([each], "availableReplicas")
        gone = max(min(broken, spare - cleaned), 0)
        sizes[each["metadata"]["uid"]] -= gone
        cleaned += gone
    # A status may be older than the size that was asked for since: what was told to go is no
    # longer there to be counted on, whatever the status says.
    available = sum(min(count([each], "availableReplicas"), replicas_of(each)) for each in every)
    may_go = max(available - least, 0)
    for each in by_age:
        uid = each["metadata"]["uid"]
        gone = min(sizes[uid], may_go)
        sizes[uid] -= gone
        may_go -= gone
    return [
        (each, sizes[each["metadata"]["uid"]])
        for each in by_age
        if sizes[each["metadata"]["uid"]] != replicas_of(each)
    ]


def proportional(deployment: JSONObject, active: Sequence[JSONObject]) -> dict[str, int]:
    """Sizes by uid after the deployment itself was scaled amid a rollout: each gets its share."""
    wanted, (surge, _) = replicas_of(deployment), limits(deployment)
    allowed = wanted + surge if wanted else 0
    current = total(active)
    to_add = allowed - current
    growing = to_add > 0
    # Those that have most get most; among equals the newer one when growing, the older otherwise.
    newest = sorted(active, key=lambda e: e["metadata"]["creationTimestamp"], reverse=growing)
    ordered = sorted(newest, key=replicas_of, reverse=True)
    sizes: dict[str, int] = {}
    added = 0
    for each in ordered:
        share = _share(each, deployment, allowed, to_add, added) if to_add else 0
        sizes[each["metadata"]["uid"]] = replicas_of(each) + share
        added += share
    if ordered and to_add:
        first = ordered[0]["metadata"]["uid"]
        sizes[first] = max(sizes[first] + to_add - added, 0)
    return sizes


def _share(each: JSONObject, deployment: JSONObject, allowed: int, to_add: int, added: int) -> int:
    size = replicas_of(each)
    if not size or added == to_add:
        return 0
    left = to_add - added
    share = _fraction(each, size, replicas_of(deployment), allowed)
    return min(share, left) if to_add > 0 else max(share, left)


def _fraction(each: JSONObject, size: int, wanted: int, allowed: int) -> int:
    if not wanted:
        return -size
    annotations = each["metadata"].get("annotations") or {}
    text = str(annotations.get(MAXIMUM, ""))
    before = int(text) if text.isdecimal() and int(text) else (wanted or 1)
    return round(size * allowed / before) - size
