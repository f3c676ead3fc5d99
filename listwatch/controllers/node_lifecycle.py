"""Nodes whose leases are not renewed become Unknown, and taints keep pods off what is not well.

Upstream: pkg/controller/nodelifecycle and pkg/controller/tainteviction. `scheduler` reads the
taints; pods that do not tolerate one are deleted here.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.controller import Controller
from listwatch.controllers.pods import is_terminating
from listwatch.controllers.scheduler.affinity import tolerates
from listwatch.informer import Scope
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import LEASES, NODES, PODS
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.protocol.objects import JSONObject

GRACE = 50.0  # seconds without a sign of life, as --node-monitor-grace-period
LOOK = 5.0  # seconds between two looks at all nodes
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_PRESSURES = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_OURS = frozenset({NOT_READY, UNREACHABLE, UNSCHEDULABLE, *_PRESSURES.values()})
_BY_NODE = "node"


class NodeLifecycle(Controller):
    """Keys are names of nodes. A sign of life is a lease or a status that changed."""

    name = "node-lifecycle-controller"
    component = "node-controller"
    workers = 4

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.nodes = self.informer(NODES)
        self.leases = self.informer(LEASES, Scope(namespace="kube-node-lease"))
        self.pods = self.informer(PODS)
        if _BY_NODE not in self.pods.indexer.indexers:
            self.pods.add_indexers({_BY_NODE: _node_of})
        self._seen: dict[str, tuple[object, float]] = {}
        self._doomed: dict[str, float] = {}  # uid of a pod, when it has to go
        self.follow(self.nodes)
        self.pods.add_handler(on_add=lambda pod, _: self._pod_came(pod))

    def background(self) -> list[asyncio.Task[None]]:
        """Looks at all nodes now and then: silence tells nobody."""
        return [asyncio.create_task(self._look_at_all(), name=f"{self.name} looks")]

    async def reconcile(self, key: str) -> None:
        """Set conditions, taints, and delete what does not tolerate them."""
        node = self.nodes.lister.get_or_none(key)
        if node is None:
            self.unseen.forget(key)
            self._seen.pop(key, None)
            return
        if self._is_silent(key, node):
            node = await self._set_unknown(key, node)
        node = await self._set_taints(key, node)
        await self._evict(key, node)

    async def _look_at_all(self) -> None:
        while True:
            await self.clock.sleep(LOOK)
            for node in self.nodes.lister.list():
                self.enqueue(node)

    def _is_silent(self, name: str, node: JSONObject) -> bool:
        lease = self.leases.lister.get_or_none(f"kube-node-lease/{name}")
        ready = conditions.find((node.get("status") or {}).get("conditions"), "Ready") or {}
        sign = (
            None if lease is None else (lease.get("spec") or {}).get("renewTime"),
            ready.get("lastHeartbeatTime"),
        )
        now = self.clock.monotonic()
        before = self._seen.get(name)
        if before is None or before[0] != sign:
            self._seen[name] = (sign, now)
            return False
        return now - before[1] > GRACE

    async def _set_unknown(self, key: str, node: JSONObject) -> JSONObject:
        found = (node.get("status") or {}).get("conditions") or []
        changed = []
        for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"):
            old = conditions.find(found, kind)
            if old is not None and old.get("status") != "Unknown":
                changed.append({
                    **old, "status": "Unknown", "reason": "NodeStatusUnknown",
                    "message": "Kubelet stopped posting node status.",
                    "lastTransitionTime": rfc3339(self.clock.now()),
                })  # fmt: skip
        if not changed:
            return node
        answer = await self.client.patch(
            NODES, key, {"status": {"conditions": changed}}, subresource="status", kind="strategic"
        )
        self.unseen.wrote(key, self.nodes, answer)
        # Its own change is no sign of life.
        self.events.record(NODES, node, "NodeNotReady", f"Node {key} status is now: NodeNotReady")
        return answer

    async def _set_taints(self, key: str, node: JSONObject) -> JSONObject:
        old = (node.get("spec") or {}).get("taints") or []
        wanted = _wanted_taints(node)
        kept = [
            taint
            for taint in old
            if taint["key"] not in _OURS or (taint["key"], taint["effect"]) in wanted
        ]
        there = {(taint["key"], taint["effect"]) for taint in kept}
        now = rfc3339(self.clock.now())
        new = [
            {"key": name, "effect": effect, "timeAdded": now}
            for name, effect in wanted
            if (name, effect) not in there
        ]
        if not new and len(kept) == len(old):
            return node
        patch = {
            "metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
            "spec": {"taints": [*kept, *new] or None},
        }
        answer = await self.client.patch(NODES, key, patch)
        self.unseen.wrote(key, self.nodes, answer)
        return answer

    # Pods that do not tolerate their node

    def _pod_came(self, pod: JSONObject) -> None:
        for name in _node_of(pod):
            node = self.nodes.lister.get_or_none(name)
            if node is not None and _evicting(node):
                self.queue.add(name)

    async def _evict(self, key: str, node: JSONObject) -> None:
        taints = _evicting(node)
        pods = self.pods.lister.by_index(_BY_NODE, key)
        if not taints:
            for pod in pods if self._doomed else ():
                self._doomed.pop(pod["metadata"]["uid"], None)
            return
        now = self.clock.monotonic()
        for pod in pods:
            uid = pod["metadata"]["uid"]
            patience = _patience(pod, taints)
            if is_terminating(pod) or patience == math.inf:
                self._doomed.pop(uid, None)
                continue
            due = self._doomed.setdefault(uid, now + patience)
            if due > now:
                self.queue.add_after(key, due - now)
                continue
            del self._doomed[uid]
            await self._delete(pod)

    async def _delete(self, pod: JSONObject) -> None:
        metadata = pod["metadata"]
        self.events.record(
            PODS, pod, "TaintManagerEviction",
            f"Marking for deletion Pod {metadata['namespace']}/{metadata['name']}",
        )  # fmt: skip
        options = DeleteOptions(uid=metadata["uid"])
        try:
            await self.client.delete(
                PODS, metadata["name"], namespace=metadata["namespace"], options=options
            )
        except NotFoundError:
            return


def _wanted_taints(node: JSONObject) -> list[tuple[str, str]]:
    found = (node.get("status") or {}).get("conditions") or ()
    wanted: list[tuple[str, str]] = []
    ready = (conditions.find(found, "Ready") or {}).get("status", "Unknown")
    if ready != "True":
        key = NOT_READY if ready == "False" else UNREACHABLE
        wanted += [(key, "NoSchedule"), (key, "NoExecute")]
    wanted += [
        (taint, "NoSchedule")
        for kind, taint in _PRESSURES.items()
        if conditions.is_true(found, kind)
    ]
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    return wanted


def _evicting(node: JSONObject) -> list[JSONObject]:
    taints = (node.get("spec") or {}).get("taints") or ()
    return [taint for taint in taints if taint.get("effect") == "NoExecute"]


def _patience(pod: JSONObject, taints: list[JSONObject]) -> float:
    """Seconds that the pod stays; infinite if it tolerates all for ever."""
    tolerations = pod["spec"].get("tolerations") or ()
    shortest = math.inf
    for taint in taints:
        matching = [each for each in tolerations if tolerates([each], taint)]
        if not matching:
            return 0.0
        limits = [
            float(each["tolerationSeconds"])
            for each in matching
            if each.get("tolerationSeconds") is not None
        ]
        shortest = min(shortest, *limits) if limits else shortest
    return max(shortest, 0.0)


def _node_of(pod: JSONObject) -> list[str]:
    name = pod["spec"].get("nodeName")
    return [name] if name else []
