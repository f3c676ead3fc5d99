"""Whether a node can take a pod, and if not, why: in the words of kube-scheduler.

Asked by `controller` of every node for every pod; the cheap questions come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from listwatch.controllers.scheduler.affinity import (
    matches_node,
    pod_terms,
    untolerated,
    wants_pod,
)
from listwatch.controllers.scheduler.nodes import Demand, NodeInfo
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.selectors import LabelSelector

_HARD = frozenset({"NoSchedule", "NoExecute"})
_UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_ANY = "0.0.0.0"  # noqa: S104 -- a host port on every address


def refusal(pod: JSONObject, demand: Demand, info: NodeInfo) -> str:
    """Why this node by itself cannot take the pod; '' if it can."""
    spec, node = pod["spec"], info.node
    node_spec = node.get("spec") or {}
    if node_spec.get("unschedulable") and untolerated(
        spec, {"spec": {"taints": [_UNSCHEDULABLE]}}, _HARD
    ):
        return "node(s) were unschedulable"
    if node_spec.get("taints"):
        taint = untolerated(spec, node, _HARD)
        if taint is not None:
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value') or ''}}}"
    if (spec.get("nodeSelector") or spec.get("affinity")) and not matches_node(spec, node):
        return "node(s) didn't match Pod's node affinity/selector"
    if demand.ports and any(_clashes(port, info.ports) for port in demand.ports):
        return "node(s) didn't have free ports for the requested pod ports"
    return _fit(demand, info)


def _fit(demand: Demand, info: NodeInfo) -> str:
    if len(info.pods) + 1 > info.room:
        return "Too many pods"
    requests, have = demand.requests, info.allocatable
    if requests.cpu and info.cpu + requests.cpu > have.cpu:
        return "Insufficient cpu"
    if requests.memory and info.memory + requests.memory > have.memory:
        return "Insufficient memory"
    if requests.others:
        there = dict(have.others)
        for name, amount in requests.others:
            if info.others[name] + amount > there.get(name, 0):
                return f"Insufficient {name}"
    return ""


def _clashes(port: tuple[str, int, str], taken: Iterable[tuple[str, int, str]]) -> bool:
    address, number, protocol = port
    return any(
        number == other and protocol == kind and (_ANY in (address, where) or address == where)
        for where, other, kind in taken
    )


class Neighbours:
    """What a pod's own terms and those of others say about domains of nodes; made for one pod."""

    def __init__(self, pod: JSONObject, nodes: Sequence[NodeInfo]) -> None:
        self._pod = pod
        spec = pod["spec"]
        self._spread = [
            (each, LabelSelector.of(each.get("labelSelector")))
            for each in spec.get("topologySpreadConstraints") or ()
            if each.get("whenUnsatisfiable") == "DoNotSchedule"
        ]
        self._counts = [_count(pod, each, selector, nodes) for each, selector in self._spread]
        self._apart = [
            (term["topologyKey"], _domains(pod, term, nodes))
            for term in pod_terms(spec, "podAntiAffinity")
        ]
        self._together = [
            (term, _domains(pod, term, nodes)) for term in pod_terms(spec, "podAffinity")
        ]
        self._closed = _closed_domains(pod, nodes)
        self.matter = bool(self._spread or self._apart or self._together or self._closed)

    def refusal(self, info: NodeInfo) -> str:
        """Why the pods on this and other nodes speak against it; '' if they do not."""
        labels = labels_of(info.node)
        for (constraint, _), counts in zip(self._spread, self._counts, strict=True):
            key = constraint["topologyKey"]
            if key not in labels:
                return (
                    "node(s) didn't match pod topology spread constraints (missing required label)"
                )
            if counts[labels[key]] + 1 - min(counts.values()) > constraint["maxSkew"]:
                return "node(s) didn't match pod topology spread constraints"
        for term, domains in self._together:
            value = labels.get(term["topologyKey"])
            first = not domains and wants_pod(term, self._pod, self._pod)
            if value is None or (value not in domains and not first):
                return "node(s) didn't match pod affinity rules"
        if any(labels.get(key) in domains for key, domains in self._apart):
            return "node(s) didn't match pod anti-affinity rules"
        if any(labels.get(key) == value for key, value in self._closed):
            return "node(s) didn't satisfy existing pods anti-affinity rules"
        return ""


def _count(
    pod: JSONObject,
    constraint: JSONObject,
    selector: LabelSelector | None,
    nodes: Sequence[NodeInfo],
) -> Counter[str]:
    key, namespace = constraint["topologyKey"], pod["metadata"]["namespace"]
    counts: Counter[str] = Counter()
    for info in nodes:
        value = labels_of(info.node).get(key)
        if value is None or not matches_node(pod["spec"], info.node):
            continue
        counts[value] += sum(
            1
            for other, _ in info.pods.values()
            if selector is not None
            and other["metadata"]["namespace"] == namespace
            and "deletionTimestamp" not in other["metadata"]
            and selector.matches(labels_of(other))
        )
    return counts


def _domains(pod: JSONObject, term: JSONObject, nodes: Sequence[NodeInfo]) -> set[str | None]:
    key = term["topologyKey"]
    return {
        labels_of(info.node).get(key)
        for info in nodes
        if any(wants_pod(term, pod, other) for other, _ in info.pods.values())
    } - {None}


def _closed_domains(pod: JSONObject, nodes: Sequence[NodeInfo]) -> set[tuple[str, str]]:
    found = set()
    for info in nodes:
        for uid in info.anti:
            other, _ = info.pods[uid]
            for term in pod_terms(other["spec"], "podAntiAffinity"):
                value = labels_of(info.node).get(term["topologyKey"])
                if value is not None and wants_pod(term, other, pod):
                    found.add((term["topologyKey"], value))
    return found
