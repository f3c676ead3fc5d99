"""Room for a pod that fits nowhere, made by taking away pods of lower priority.

Upstream: pkg/scheduler/framework/preemption. Asked by `controller`, which does what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from listwatch.controllers.scheduler.filters import Neighbours, refusal
from listwatch.controllers.scheduler.nodes import Demand, NodeInfo
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.selectors import LabelSelector


@dataclass(frozen=True, slots=True)
class Preemption:
    """A node, and the pods that have to go from it."""

    node: str
    victims: tuple[JSONObject, ...]


def priority_of(pod: JSONObject) -> int:
    """A pod's priority; 0 where it has none."""
    return int(pod["spec"].get("priority") or 0)


def may_preempt(pod: JSONObject) -> bool:
    """Whether a pod may take away others at all."""
    return bool(pod["spec"].get("preemptionPolicy") != "Never")


def find(
    pod: JSONObject,
    demand: Demand,
    nodes: Sequence[NodeInfo],
    budgets: Iterable[JSONObject] = (),
) -> Preemption | None:
    """The node where least is lost: budgets first, then priorities, then the number of pods."""
    used_up = [each for each in budgets if not _allows(each)]
    best: tuple[tuple[int, int, int, int], Preemption] | None = None
    for info in nodes:
        victims = _victims(pod, demand, info, nodes)
        if not victims:
            continue
        priorities = [priority_of(each) for each in victims]
        harm = sum(_is_guarded(each, used_up) for each in victims)
        loss = (harm, max(priorities), sum(priorities), len(victims))
        if best is None or loss < best[0]:
            best = (loss, Preemption(info.node["metadata"]["name"], tuple(victims)))
    return None if best is None else best[1]


def _victims(
    pod: JSONObject, demand: Demand, info: NodeInfo, nodes: Sequence[NodeInfo]
) -> list[JSONObject]:
    """The fewest pods of one node that have to go; [] if that does not help."""
    mine = priority_of(pod)
    lower = [other for other, _ in info.pods.values() if priority_of(other) < mine]
    if not lower:
        return []
    empty = info.copied()
    demands = {other["metadata"]["uid"]: info.pods[other["metadata"]["uid"]][1] for other in lower}
    for uid in demands:
        empty.remove(uid)
    if not _takes(pod, demand, info, empty, nodes):
        return []
    victims: list[JSONObject] = []
    # Those that matter most are put back first, as long as the pod still fits.
    for other in sorted(lower, key=_importance):
        uid = other["metadata"]["uid"]
        empty.add(other, demands[uid])
        if not _takes(pod, demand, info, empty, nodes):
            empty.remove(uid)
            victims.append(other)
    return victims


def _takes(
    pod: JSONObject, demand: Demand, info: NodeInfo, changed: NodeInfo, nodes: Sequence[NodeInfo]
) -> bool:
    if refusal(pod, demand, changed):
        return False
    neighbours = Neighbours(pod, [changed if each is info else each for each in nodes])
    return not (neighbours.matter and neighbours.refusal(changed))


def _importance(pod: JSONObject) -> tuple[int, str]:
    started = (pod.get("status") or {}).get("startTime")
    return -priority_of(pod), str(started or pod["metadata"].get("creationTimestamp") or "")


def _allows(budget: JSONObject) -> bool:
    return bool((budget.get("status") or {}).get("disruptionsAllowed"))


def _is_guarded(pod: JSONObject, budgets: Sequence[JSONObject]) -> bool:
    for budget in budgets:
        if budget["metadata"]["namespace"] != pod["metadata"]["namespace"]:
            continue
        selector = LabelSelector.of(budget["spec"].get("selector"))
        if selector is not None and selector.matches(labels_of(pod)):
            return True
    return False
