"""Which of the nodes that can take a pod is best: free, away from its siblings, and preferred.

Asked by `controller`; higher is better. Weights follow kube-scheduler's default profile.
"""

from __future__ import annotations

from listwatch.controllers.scheduler.affinity import matches_term, tolerates
from listwatch.controllers.scheduler.nodes import Demand, NodeInfo
from listwatch.protocol.objects import JSONObject

_TAINT_WEIGHT, _SPREAD_WEIGHT, _AFFINITY_WEIGHT = 3, 2, 2


def score(pod: JSONObject, demand: Demand, info: NodeInfo) -> float:
    """How good the node is for the pod."""
    spec = pod["spec"]
    have, requests = info.allocatable, demand.requests
    free = 0.0
    if have.cpu:
        free += 50 * max(have.cpu - info.score_cpu - requests.cpu, 0) / have.cpu
    if have.memory:
        free += 50 * max(have.memory - info.score_memory - requests.memory, 0) / have.memory
    siblings = info.owners[demand.owner] if demand.owner and demand.owner in info.owners else 0
    points = free - _SPREAD_WEIGHT * siblings
    if (info.node.get("spec") or {}).get("taints"):
        points -= 10 * _TAINT_WEIGHT * _untolerated(spec, info.node)
    if spec.get("affinity"):
        points += _AFFINITY_WEIGHT * _preference(spec, info.node)
    return points


def _untolerated(spec: JSONObject, node: JSONObject) -> int:
    tolerations = spec.get("tolerations") or ()
    return sum(
        taint.get("effect") == "PreferNoSchedule" and not tolerates(tolerations, taint)
        for taint in node["spec"]["taints"]
    )


def _preference(spec: JSONObject, node: JSONObject) -> int:
    affinity = spec["affinity"].get("nodeAffinity") or {}
    return sum(
        each["weight"]
        for each in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        if matches_term(each["preference"], node)
    )
