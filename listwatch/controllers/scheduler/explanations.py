"""What a pod that fits nowhere is told: why of each node, and why no other pod goes for it.

In the words of kube-scheduler. Filled by `controller` while it looks for a node.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from listwatch.controllers.scheduler.nodes import Demand, NodeInfo
from listwatch.controllers.scheduler.preemption import may_preempt
from listwatch.protocol.objects import JSONObject

# What fewer pods on a node could change; everything else is about the node itself.
_ABOUT_PODS = (
    "Too many pods",
    "node(s) didn't have free ports for the requested pod ports",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
)
_SHORT = "Insufficient "
_NO_HELP = "Preemption is not helpful for scheduling"
_NO_VICTIMS = "No preemption victims found for incoming pod"


@dataclass(slots=True)
class Unfit:
    """Why none of so many nodes takes a pod."""

    nodes: int
    why: str = ""  # no node was asked, for this reason
    reasons: Counter[str] = field(default_factory=Counter)
    helpful: int = 0  # nodes where fewer pods might make room

    def refused(self, why: str, demand: Demand, info: NodeInfo) -> None:
        """A node does not take it."""
        self.reasons[why] += 1
        self.helpful += why in _ABOUT_PODS or _is_short_for_now(why, demand, info)

    def text(self) -> str:
        """Why, in one sentence."""
        if not self.nodes:
            return "no nodes available to schedule pods"
        return _sentence(self.nodes, self.why or _counted(self.reasons))

    def text_without_victims(self, pod: JSONObject, *, waits: bool) -> str:
        """The same, and why nothing else makes room; `waits`: for victims that still end."""
        if not self.nodes:
            return self.text()
        if not may_preempt(pod):
            why = "not eligible due to preemptionPolicy=Never."
        elif waits:
            why = "not eligible due to a terminating pod on the nominated node."
        else:
            counts = {_NO_VICTIMS: self.helpful, _NO_HELP: self.nodes - self.helpful}
            why = _sentence(self.nodes, _counted(Counter(counts)))
        return f"{self.text()} no new claims to deallocate, preemption: {why}"


def _sentence(nodes: int, why: str) -> str:
    return f"0/{nodes} nodes are available: {why}."


def _counted(reasons: Counter[str]) -> str:
    return ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items() if number))


def _is_short_for_now(why: str, demand: Demand, info: NodeInfo) -> bool:
    """Whether an empty node had enough of what is short."""
    if not why.startswith(_SHORT):
        return False
    name, requests, have = why.removeprefix(_SHORT), demand.requests, info.allocatable
    wanted = {"cpu": requests.cpu, "memory": requests.memory, **dict(requests.others)}
    there = {"cpu": have.cpu, "memory": have.memory, **dict(have.others)}
    return wanted.get(name, 0) <= there.get(name, 0)
