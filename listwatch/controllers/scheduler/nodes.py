"""What every node has and what its pods have taken: the scheduler's picture of the cluster.

Kept by `controller` from its informers and its own decisions; asked by `filters` and `scores`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from listwatch.controllers.references import controller_of
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.quantities import Quantity

CPU, MEMORY, PODS = "cpu", "memory", "pods"
_LEAST_CPU, _LEAST_MEMORY = 100, 200 * 1024 * 1024  # for scores, of pods that request nothing


class Amounts(NamedTuple):
    """CPU in thousandths, everything else in whole units."""

    cpu: int = 0
    memory: int = 0
    others: tuple[tuple[str, int], ...] = ()


class Demand(NamedTuple):
    """What one pod takes; worked out once for each pod."""

    requests: Amounts
    ports: frozenset[tuple[str, int, str]]
    owner: str  # uid of its controller


def amounts(quantities: JSONObject) -> Amounts:
    """Amounts from a resource list."""
    others = sorted(
        (name, Quantity.of(text).value)
        for name, text in quantities.items()
        if name not in (CPU, MEMORY, PODS)
    )
    return Amounts(
        Quantity.of(quantities.get(CPU) or "0").milli,
        Quantity.of(quantities.get(MEMORY) or "0").value,
        tuple(others),
    )


def demand_of(pod: JSONObject) -> Demand:
    """What a pod takes: its containers together, or a greater init container, and overhead."""
    spec = pod["spec"]
    totals: Counter[str] = Counter()
    for container in spec.get("containers") or ():
        totals.update(_requests(container))
    highest: Counter[str] = Counter()
    sidecars: Counter[str] = Counter()
    for container in spec.get("initContainers") or ():
        mine = Counter(_requests(container))
        if container.get("restartPolicy") == "Always":
            sidecars.update(mine)
            mine = sidecars
        else:
            mine.update(sidecars)
        highest |= mine
    totals.update(sidecars)
    totals |= highest
    if spec.get("overhead"):
        totals.update(_plain(spec["overhead"]))
    owner = controller_of(pod)
    others = tuple(sorted((k, v) for k, v in totals.items() if k not in (CPU, MEMORY) and v))
    return Demand(
        Amounts(totals[CPU], totals[MEMORY], others),
        _ports(spec),
        str(owner["uid"]) if owner else "",
    )


def _requests(container: JSONObject) -> dict[str, int]:
    return _plain((container.get("resources") or {}).get("requests") or {})


def _plain(quantities: JSONObject) -> dict[str, int]:
    if not quantities:
        return {}
    found = amounts(quantities)
    return {CPU: found.cpu, MEMORY: found.memory, **dict(found.others)}


def _ports(spec: JSONObject) -> frozenset[tuple[str, int, str]]:
    return frozenset(
        (port.get("hostIP") or "0.0.0.0", port["hostPort"], port.get("protocol") or "TCP")  # noqa: S104
        for container in spec.get("containers") or ()
        for port in container.get("ports") or ()
        if port.get("hostPort")
    )


@dataclass(slots=True)
class NodeInfo:
    """One node and the pods that are, or will be, on it."""

    node: JSONObject
    allocatable: Amounts = field(default_factory=Amounts)
    room: int = 0  # pods it takes at most
    cpu: int = 0
    memory: int = 0
    score_cpu: int = 0  # as `cpu`, with a little for pods that request nothing
    score_memory: int = 0
    others: Counter[str] = field(default_factory=Counter)
    pods: dict[str, tuple[JSONObject, Demand]] = field(default_factory=dict)
    owners: Counter[str] = field(default_factory=Counter)
    ports: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    anti: set[str] = field(default_factory=set)  # uids of pods that want to be apart from others

    def set_node(self, node: JSONObject) -> None:
        """The node is now this one."""
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        self.node = node
        self.allocatable = amounts(allocatable)
        self.room = Quantity.of(allocatable.get(PODS) or "0").value

    def add(self, pod: JSONObject, demand: Demand) -> None:
        """A pod is on it; nothing if it was known."""
        uid = pod["metadata"]["uid"]
        if uid in self.pods:
            self.pods[uid] = (pod, demand)
            return
        self.pods[uid] = (pod, demand)
        self._count(demand, 1)
        if (pod["spec"].get("affinity") or {}).get("podAntiAffinity"):
            self.anti.add(uid)

    def remove(self, uid: str) -> None:
        """A pod is gone from it; nothing if it was not known."""
        entry = self.pods.pop(uid, None)
        if entry is not None:
            self._count(entry[1], -1)
            self.anti.discard(uid)

    def copied(self) -> NodeInfo:
        """The same, to try something on."""
        return replace(
            self, others=Counter(self.others), pods=dict(self.pods), owners=Counter(self.owners),
            ports=Counter(self.ports), anti=set(self.anti),
        )  # fmt: skip

    def _count(self, demand: Demand, sign: int) -> None:
        requests = demand.requests
        self.cpu += sign * requests.cpu
        self.memory += sign * requests.memory
        self.score_cpu += sign * (requests.cpu or _LEAST_CPU)
        self.score_memory += sign * (requests.memory or _LEAST_MEMORY)
        for name, amount in requests.others:
            self.others[name] += sign * amount
        if demand.owner:
            self.owners[demand.owner] += sign
            if not self.owners[demand.owner]:
                del self.owners[demand.owner]
        for port in demand.ports:
            self.ports[port] += sign
            if not self.ports[port]:
                del self.ports[port]


class Nodes:
    """All nodes by name, and where every pod is. One event loop.

    Pods on a node that is not known are kept, in case it comes.
    """

    def __init__(self) -> None:
        self.by_name: dict[str, NodeInfo] = {}
        self._known: set[str] = set()
        self._places: dict[str, str] = {}  # uid of a pod, its node

    def set_node(self, node: JSONObject) -> None:
        """A node is there, or has changed."""
        name = node["metadata"]["name"]
        self._info(name).set_node(node)
        self._known.add(name)

    def remove_node(self, name: str) -> None:
        """A node is gone."""
        self._known.discard(name)
        self._sweep(name)

    def place(self, pod: JSONObject, demand: Demand, node: str) -> None:
        """A pod is on a node, and on no other."""
        uid = pod["metadata"]["uid"]
        before = self._places.get(uid)
        if before is not None and before != node:
            self.take(uid)
        self._places[uid] = node
        self._info(node).add(pod, demand)

    def take(self, uid: str) -> bool:
        """A pod is on no node any more; whether it was on one."""
        node = self._places.pop(uid, None)
        if node is None:
            return False
        self.by_name[node].remove(uid)
        self._sweep(node)
        return True

    def place_of(self, uid: str) -> str | None:
        """The node that a pod is on."""
        return self._places.get(uid)

    def known(self) -> list[NodeInfo]:
        """The nodes that there are."""
        return [self.by_name[name] for name in self._known]

    def __len__(self) -> int:
        return len(self._known)

    def _info(self, name: str) -> NodeInfo:
        info = self.by_name.get(name)
        if info is None:
            info = self.by_name[name] = NodeInfo({"metadata": {"name": name}})
        return info

    def _sweep(self, name: str) -> None:
        info = self.by_name.get(name)
        if info is not None and name not in self._known and not info.pods:
            del self.by_name[name]
