"""DaemonSets: one pod on every node that its template fits on.

Upstream: pkg/controller/daemon. The pods name their node by affinity; `scheduler` binds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers.batches import BURST, at_once, slow_start
from listwatch.controllers.claims import Claims
from listwatch.controllers.controller import Controller
from listwatch.controllers.deployments.scaling import absolute
from listwatch.controllers.events import WARNING
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
from listwatch.informer.errors import ApiError, NotFoundError
from listwatch.informer.resources import DAEMON_SETS, NODES, PODS
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.options import DeleteOptions
from listwatch.protocol.selectors import LabelSelector

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


class DaemonSets(Controller):
    """Promises no more than one pod of a set on a node, but for those that are ending."""

    name = "daemonset-controller"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.sets = self.informer(DAEMON_SETS)
        self.pods = self.informer(PODS)
        self.nodes = self.informer(NODES)
        self._claims = Claims(self, self.sets, self.pods)
        self._history = History(self, self.sets)
        self.follow(self.sets)
        self._claims.listen(_selector_of, self.queue.add)
        self.nodes.add_handler(
            on_add=lambda *_: self._look_at_all(),
            on_update=self._node_changed,
            on_delete=self._node_gone,
        )

    async def reconcile(self, key: str) -> None:
        """Create and delete pods, roll out a new template, write the status."""
        owner = self.sets.lister.get_or_none(key)
        if owner is None:
            self.unseen.forget(key)
            return
        selector = _selector_of(owner)
        if selector is None or selector.empty:
            return
        claimed = await self._claims.claim(owner, selector, key)
        revisions = await self._history.of(owner, selector, key)
        by_node: dict[str, list[JSONObject]] = {}
        for pod in claimed:
            by_node.setdefault(_node_of(pod), []).append(pod)
        wanted = [node for node in self.nodes.lister.list() if _fits(owner, node)]
        names = {node["metadata"]["name"] for node in wanted}
        failure: Exception | None = None
        if "deletionTimestamp" not in owner["metadata"]:
            failure = await self._manage(owner, names, by_node, revisions, key)
            if failure is None and self.unseen.seen(key):
                failure = await self._roll(owner, names, by_node, revisions, key)
        await self._write_status(owner, names, by_node, revisions, key)
        live = {labels_of(pod).get(HASH, "") for pod in claimed}
        names_of_live = [
            each["metadata"]["name"] for each in revisions.every if labels_of(each)[HASH] in live
        ]
        await self._history.clean_up(owner, revisions, names_of_live, key)
        if failure is not None:
            raise failure

    async def _manage(
        self,
        owner: JSONObject,
        wanted: set[str],
        by_node: dict[str, list[JSONObject]],
        revisions: Revisions,
        key: str,
    ) -> Exception | None:
        doomed: list[JSONObject] = []
        missing: list[str] = []
        for node in sorted(wanted | by_node.keys()):
            pods = [pod for pod in by_node.get(node, ()) if not is_terminating(pod)]
            finished = [pod for pod in pods if is_finished(pod)]
            alive = sorted(
                (pod for pod in pods if not is_finished(pod)),
                key=lambda pod: pod["metadata"]["creationTimestamp"],
            )
            doomed += finished
            if node not in wanted:
                doomed += alive
            elif not alive and not by_node.get(node):
                missing.append(node)
            else:
                doomed += alive[1:]
        error = await self._delete(owner, doomed, key)
        return await self._create(owner, missing[:BURST], revisions, key) or error

    async def _roll(
        self,
        owner: JSONObject,
        wanted: set[str],
        by_node: dict[str, list[JSONObject]],
        revisions: Revisions,
        key: str,
    ) -> Exception | None:
        """Delete as many pods of older templates as may be missing at a time."""
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return None
        most = absolute(
            (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1), len(wanted), up=True
        )
        least, now = owner["spec"].get("minReadySeconds") or 0, self.clock.now()
        current = labels_of(revisions.current)[HASH]
        unavailable = 0
        old: list[JSONObject] = []
        broken: list[JSONObject] = []
        for node in wanted:
            alive = [pod for pod in by_node.get(node, ()) if not is_terminating(pod)]
            available = [pod for pod in alive if is_available(pod, least, now)]
            unavailable += not available
            for pod in alive:
                if labels_of(pod).get(HASH) != current:
                    (old if pod in available else broken).append(pod)
        room = max(most - unavailable, 0)
        # What does not work yet is replaced at once: nobody misses it.
        return await self._delete(owner, broken + old[:room], key)

    async def _create(
        self, owner: JSONObject, nodes: list[str], revisions: Revisions, key: str
    ) -> Exception | None:
        value = labels_of(revisions.current)[HASH]

        async def create(number: int) -> JSONObject:
            return await self.client.create(PODS, _pod_for(owner, nodes[number], value))

        made, error = await slow_start(len(nodes), create)
        for pod in made:
            self.unseen.wrote(key, self.pods, pod)
            message = f"Created pod: {pod['metadata']['name']}"
            self.events.record(DAEMON_SETS, owner, "SuccessfulCreate", message)
        if error is not None:
            why = error.message if isinstance(error, ApiError) else str(error)
            message = f"Error creating: {why}"
            self.events.record(DAEMON_SETS, owner, "FailedCreate", message, kind=WARNING)
        return error

    async def _delete(
        self, owner: JSONObject, doomed: list[JSONObject], key: str
    ) -> Exception | None:
        async def delete(pod: JSONObject) -> None:
            metadata = pod["metadata"]
            try:
                await self.client.delete(
                    PODS, metadata["name"], namespace=metadata["namespace"],
                    options=DeleteOptions(uid=metadata["uid"]),
                )  # fmt: skip
            except NotFoundError:
                return
            self.unseen.deleted(key, self.pods, pod)
            message = f"Deleted pod: {metadata['name']}"
            self.events.record(DAEMON_SETS, owner, "SuccessfulDelete", message)

        return (await at_once(doomed, delete))[1]

    async def _write_status(
        self,
        owner: JSONObject,
        wanted: set[str],
        by_node: dict[str, list[JSONObject]],
        revisions: Revisions,
        key: str,
    ) -> None:
        least, now = owner["spec"].get("minReadySeconds") or 0, self.clock.now()
        current = labels_of(revisions.current)[HASH]
        counts = dict.fromkeys(("scheduled", "ready", "available", "updated"), 0)
        for node in wanted:
            alive = [pod for pod in by_node.get(node, ()) if not is_terminating(pod)]
            counts["scheduled"] += bool(alive)
            counts["ready"] += any(map(is_ready, alive))
            counts["available"] += any(is_available(pod, least, now) for pod in alive)
            counts["updated"] += any(labels_of(pod).get(HASH) == current for pod in alive)
            for pod in alive:
                since = ready_since(pod)
                if least and since is not None and since + least > now:
                    self.queue.add_after(key, since + least - now)
        status = {
            **(owner.get("status") or {}),
            "desiredNumberScheduled": len(wanted),
            "currentNumberScheduled": counts["scheduled"],
            "numberMisscheduled": sum(
                any(not is_terminating(pod) for pod in pods)
                for node, pods in by_node.items()
                if node not in wanted
            ),
            "numberReady": counts["ready"],
            "numberAvailable": counts["available"],
            "numberUnavailable": len(wanted) - counts["available"],
            "updatedNumberScheduled": counts["updated"],
            "observedGeneration": owner["metadata"].get("generation") or 0,
        }
        answer = await write_status(self.client, DAEMON_SETS, owner, status, keep=_BY_NODES)
        if answer is not None:
            self.unseen.wrote(key, self.sets, answer)

    def _look_at_all(self) -> None:
        for owner in self.sets.lister.list():
            self.enqueue(owner)

    def _node_changed(self, old: JSONObject, new: JSONObject) -> None:
        same = labels_of(old) == labels_of(new) and old.get("spec") == new.get("spec")
        if not same:
            self._look_at_all()

    def _node_gone(self, _: Deleted) -> None:
        self._look_at_all()


def _selector_of(owner: JSONObject) -> LabelSelector | None:
    return LabelSelector.of(owner["spec"].get("selector"))


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
