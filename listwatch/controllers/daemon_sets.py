"""DaemonSets: one pod on every node that its template fits on.

Upstream: pkg/controller/daemon. The pods name their node by affinity; `scheduler` binds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.batches import BURST, slow_start
from listwatch.controllers.deployments.scaling import absolute
from listwatch.controllers.pods import (
    is_available,
    is_finished,
    is_ready,
    is_terminating,
    ready_since,
)
from listwatch.controllers.revisions import HASH, History, Revisions
from listwatch.controllers.scheduler.affinity import matches_node, untolerated
from listwatch.controllers.status import write_status
from listwatch.controllers.templates import pod_from
from listwatch.controllers.workloads import Workloads
from listwatch.informer.resources import DAEMON_SETS, NODES, PODS
from listwatch.protocol.objects import JSONObject, labels_of

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import Deleted

_ALWAYS = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_BY_NODES = {
    "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at one set."""

    key: str
    owner: JSONObject
    wanted: set[str]  # names of the nodes that shall have a pod
    by_node: dict[str, list[JSONObject]]  # the pods there are
    revisions: Revisions

    @property
    def hash(self) -> str:
        """What marks the pods of the template of now."""
        return labels_of(self.revisions.current)[HASH]

    @property
    def least(self) -> int:
        """Seconds that a pod has to be ready for before it counts as available."""
        return self.owner["spec"].get("minReadySeconds") or 0


class DaemonSets(Workloads):
    """Promises no more than one pod of a set on a node, but for those that are ending.

    A set that may surge has two where a new one comes before the old one goes.
    """

    name = "daemonset-controller"
    resource = DAEMON_SETS

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.nodes = self.informer(NODES)
        self._history = History(self, self.owners)
        self.nodes.add_handler(
            on_add=lambda *_: self._look_at_all(),
            on_update=self._node_changed,
            on_delete=self._node_gone,
        )

    async def reconcile(self, key: str) -> None:
        """Create and delete pods, roll out a new template, write the status."""
        found = self.owner_of(key)
        if found is None:
            return
        owner, selector = found
        claimed = await self.claims.claim(owner, selector, key)
        revisions = await self._history.of(owner, selector, key)
        by_node: dict[str, list[JSONObject]] = {}
        for pod in claimed:
            by_node.setdefault(_node_of(pod), []).append(pod)
        wanted = [node for node in self.nodes.lister.list() if _fits(owner, node)]
        names = {node["metadata"]["name"] for node in wanted}
        look = _Look(key, owner, names, by_node, revisions)
        failure: Exception | None = None
        if "deletionTimestamp" not in owner["metadata"]:
            failure = await self._manage(look)
            if failure is None and self.unseen.seen(key):
                failure = await self._roll(look)
        await self._write_status(look)
        live = {labels_of(pod).get(HASH, "") for pod in claimed}
        names_of_live = [
            each["metadata"]["name"] for each in revisions.every if labels_of(each)[HASH] in live
        ]
        await self._history.clean_up(owner, revisions, names_of_live, key)
        if failure is not None:
            raise failure

    async def _manage(self, look: _Look) -> Exception | None:
        doomed: list[JSONObject] = []
        missing: list[str] = []
        for node in sorted(look.wanted | look.by_node.keys()):
            pods = [pod for pod in look.by_node.get(node, ()) if not is_terminating(pod)]
            finished = [pod for pod in pods if is_finished(pod)]
            alive = sorted(
                (pod for pod in pods if not is_finished(pod)),
                key=lambda pod: pod["metadata"]["creationTimestamp"],
            )
            doomed += finished
            if node not in look.wanted:
                doomed += alive
            elif not alive and not look.by_node.get(node):
                missing.append(node)
            elif len(alive) > 1 and _surge(look.owner, len(look.wanted)):
                doomed += self._superfluous(look, alive)
            else:
                doomed += alive[1:]
        error = await self.delete_pods(look.owner, doomed, look.key)
        return await self._create(look, missing[:BURST]) or error

    def _superfluous(self, look: _Look, alive: list[JSONObject]) -> list[JSONObject]:
        """Of the pods on one node all but a new one that comes and an old one that still works."""
        new = [pod for pod in alive if labels_of(pod).get(HASH) == look.hash]
        old = [pod for pod in alive if pod not in new]
        doomed = new[1:] + old[1:]
        if not new or not old:
            return doomed
        now = self.clock.now()
        if not is_ready(old[0]) or is_available(new[0], look.least, now):
            return [*doomed, old[0]]
        since = ready_since(new[0])
        if since is not None:
            self.queue.add_after(look.key, max(since + look.least - now, 0.1))
        return doomed

    async def _roll(self, look: _Look) -> Exception | None:
        """Replace as many pods of older templates as may be missing, or be double, at a time."""
        strategy = look.owner["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return None
        surge = _surge(look.owner, len(look.wanted))
        if surge:
            nodes = self._surging(look, surge)
            return await self._create(look, nodes[:BURST])
        most = absolute(
            (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1),
            len(look.wanted),
            up=True,
        )
        now = self.clock.now()
        unavailable = 0
        old: list[JSONObject] = []
        broken: list[JSONObject] = []
        for node in look.wanted:
            alive = [pod for pod in look.by_node.get(node, ()) if not is_terminating(pod)]
            available = [pod for pod in alive if is_available(pod, look.least, now)]
            unavailable += not available
            for pod in alive:
                if labels_of(pod).get(HASH) != look.hash:
                    (old if pod in available else broken).append(pod)
        room = max(most - unavailable, 0)
        # What does not work yet is replaced at once: nobody misses it.
        return await self.delete_pods(look.owner, broken + old[:room], look.key)

    def _surging(self, look: _Look, surge: int) -> list[str]:
        """The nodes that get a new pod beside their old one now."""
        now = self.clock.now()
        coming = 0
        broken: list[str] = []
        candidates: list[str] = []
        for node in sorted(look.wanted):
            alive = [pod for pod in look.by_node.get(node, ()) if not is_terminating(pod)]
            new = [pod for pod in alive if labels_of(pod).get(HASH) == look.hash]
            old = [pod for pod in alive if pod not in new]
            if new:
                coming += bool(old) and not is_available(new[0], look.least, now)
            elif old:
                works = is_available(old[0], look.least, now)
                (candidates if works else broken).append(node)
        return broken + candidates[: max(surge - coming, 0)]

    async def _create(self, look: _Look, nodes: list[str]) -> Exception | None:
        async def create(number: int) -> JSONObject:
            return await self.client.create(PODS, _pod_for(look.owner, nodes[number], look.hash))

        made, error = await slow_start(len(nodes), create)
        self.tell_created(look.owner, made, error, look.key)
        return error

    async def _write_status(self, look: _Look) -> None:
        now = self.clock.now()
        counts = dict.fromkeys(("scheduled", "ready", "available", "updated"), 0)
        for node in look.wanted:
            alive = [pod for pod in look.by_node.get(node, ()) if not is_terminating(pod)]
            counts["scheduled"] += bool(alive)
            counts["ready"] += any(map(is_ready, alive))
            counts["available"] += any(is_available(pod, look.least, now) for pod in alive)
            counts["updated"] += any(labels_of(pod).get(HASH) == look.hash for pod in alive)
            for pod in alive:
                since = ready_since(pod)
                if look.least and since is not None and since + look.least > now:
                    self.queue.add_after(look.key, since + look.least - now)
        status = {
            **(look.owner.get("status") or {}),
            "desiredNumberScheduled": len(look.wanted),
            "currentNumberScheduled": counts["scheduled"],
            "numberMisscheduled": sum(
                any(not is_terminating(pod) for pod in pods)
                for node, pods in look.by_node.items()
                if node not in look.wanted
            ),
            "numberReady": counts["ready"],
            "numberAvailable": counts["available"],
            "numberUnavailable": len(look.wanted) - counts["available"],
            "updatedNumberScheduled": counts["updated"],
            "observedGeneration": look.owner["metadata"].get("generation") or 0,
        }
        answer = await write_status(self.client, DAEMON_SETS, look.owner, status, keep=_BY_NODES)
        if answer is not None:
            self.unseen.wrote(look.key, self.owners, answer)

    def _look_at_all(self) -> None:
        for owner in self.owners.lister.list():
            self.enqueue(owner)

    def _node_changed(self, old: JSONObject, new: JSONObject) -> None:
        same = labels_of(old) == labels_of(new) and old.get("spec") == new.get("spec")
        if not same:
            self._look_at_all()

    def _node_gone(self, _: Deleted) -> None:
        self._look_at_all()


def _surge(owner: JSONObject, nodes: int) -> int:
    """How many nodes may have two pods during an update; 0 for a set that deletes first."""
    strategy = owner["spec"].get("updateStrategy") or {}
    return absolute((strategy.get("rollingUpdate") or {}).get("maxSurge"), nodes, up=True)


def _tolerations(owner: JSONObject) -> list[JSONObject]:
    spec = owner["spec"]["template"].get("spec") or {}
    added = [{"key": k, "operator": "Exists", "effect": effect} for k, effect in _ALWAYS]
    if spec.get("hostNetwork"):
        key = "node.kubernetes.io/network-unavailable"
        added.append({"key": key, "operator": "Exists", "effect": "NoSchedule"})
    return [*(spec.get("tolerations") or ()), *added]


def _fits(owner: JSONObject, node: JSONObject) -> bool:
    spec = {**(owner["spec"]["template"].get("spec") or {}), "tolerations": _tolerations(owner)}
    if spec.get("nodeName") and spec["nodeName"] != node["metadata"]["name"]:
        return False
    if not matches_node(spec, node):
        return False
    return untolerated(spec, node, ("NoSchedule", "NoExecute")) is None


def _pod_for(owner: JSONObject, node: str, value: str) -> JSONObject:
    pod = pod_from(owner["spec"]["template"], owner, DAEMON_SETS)
    pod["metadata"]["labels"] |= {
        HASH: value,
        "pod-template-generation": str(owner["metadata"].get("generation") or 1),
    }
    spec = pod["spec"]
    spec["tolerations"] = _tolerations(owner)
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    required = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms = required.get("nodeSelectorTerms") or [{}]
    required["nodeSelectorTerms"] = [{**term, "matchFields": [field]} for term in terms]
    return pod


def _node_of(pod: JSONObject) -> str:
    """The node that a pod is on, or is meant for."""
    spec = pod["spec"]
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field.get("key") == "metadata.name" and field.get("values"):
                return str(field["values"][0])
    return ""
