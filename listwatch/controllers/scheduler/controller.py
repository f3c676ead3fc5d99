"""The scheduler's loop: take a pod, choose a node, say so through `pods/binding`.

It watches `spec.nodeName=`: a pod that is bound leaves that watch. Bound pods go on to `kubelet`.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.controller import Controller
from listwatch.controllers.events import WARNING
from listwatch.controllers.pods import is_finished, is_terminating
from listwatch.controllers.scheduler.explanations import Unfit
from listwatch.controllers.scheduler.filters import Neighbours, refusal
from listwatch.controllers.scheduler.nodes import Demand, Nodes, demand_of
from listwatch.controllers.scheduler.preemption import Preemption, may_preempt, priority_of
from listwatch.controllers.scheduler.preemption import find as find_preemption
from listwatch.controllers.scheduler.queue import SchedulingQueue, SchedulingQueueStatistics
from listwatch.controllers.scheduler.scores import score
from listwatch.controllers.scheduler.volumes import PodVolumes, Volumes, VolumesNotBoundError
from listwatch.controllers.volumes.protection import claim_keys
from listwatch.informer import Scope
from listwatch.informer.errors import ApiError, TransportError
from listwatch.informer.resources import NODES, POD_DISRUPTION_BUDGETS, PODS
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.controllers.scheduler.nodes import NodeInfo
    from listwatch.informer import Deleted
    from listwatch.protocol.objects import JSONObject

logger = logging.getLogger(__name__)

NAME = "default-scheduler"
BINDINGS = 48  # requests at a time
TURN = 16  # decisions at a stretch, before others get their turn
UNASSIGNED = "spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed"


@dataclass(frozen=True, slots=True)
class SchedulerStatistics:
    """A scheduler at one moment; counts since it was made."""

    nodes: int
    bound: int  # pods that were given a node
    unschedulable: int  # decisions that no node could take the pod
    errors: int  # bindings that were refused
    queue: SchedulingQueueStatistics


class Scheduler(Controller):
    """Decides for one pod after the other, by what it has decided itself, too.

    Promises that no node is given more than it has, as far as this scheduler knows.
    """

    name = "scheduler"
    component = NAME
    workers = 0

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.client = environment.scheduler_client
        self.nodes = Nodes()
        self.pending = SchedulingQueue(environment.clock)
        self._assumed: set[str] = set()
        self._nominated: dict[str, tuple[str, JSONObject]] = {}  # by uid: a node, and the pod
        self.budgets = self.informer(POD_DISRUPTION_BUDGETS)
        self.volumes = Volumes(self.client, self.informer, self._volumes_changed)
        self._free = asyncio.Semaphore(BINDINGS)
        self._binding: set[asyncio.Task[None]] = set()
        self._bound = self._unschedulable = self._failed = 0
        waiting = self.informer(PODS, Scope(field_selector=UNASSIGNED))
        waiting.add_handler(
            on_add=lambda pod, _: self._wait(pod),
            on_update=lambda _, pod: self._wait(pod),
            on_delete=self._wait_over,
        )
        self.informer(PODS).add_handler(
            on_add=lambda pod, _: self._placed(pod),
            on_update=lambda _, pod: self._placed(pod),
            on_delete=self._gone,
        )
        self.informer(NODES).add_handler(
            on_add=lambda node, _: self._node_changed(None, node),
            on_update=self._node_changed,
            on_delete=lambda gone: self.nodes.remove_node(gone.name),
        )

    def background(self) -> list[asyncio.Task[None]]:
        """The loop."""
        return [asyncio.create_task(self._schedule(), name="scheduler")]

    def scheduling(self) -> SchedulerStatistics:
        """A record of now."""
        return SchedulerStatistics(
            len(self.nodes), self._bound, self._unschedulable, self._failed,
            self.pending.statistics(),
        )  # fmt: skip

    # What happens

    def _wait(self, pod: JSONObject) -> None:
        spec = pod["spec"]
        if (spec.get("schedulerName") or NAME) != NAME or is_terminating(pod):
            self.pending.remove(pod["metadata"]["uid"])
            return
        if spec.get("schedulingGates") or pod["metadata"]["uid"] in self._assumed:
            return
        self.pending.add(pod)

    def _wait_over(self, gone: Deleted) -> None:
        if gone.object is not None:
            self.pending.remove(gone.object["metadata"]["uid"])
            self._nominated.pop(gone.object["metadata"]["uid"], None)

    def _placed(self, pod: JSONObject) -> None:
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        if not node:
            return
        self._assumed.discard(uid)
        if is_finished(pod):
            if self.nodes.take(uid):
                self.pending.cluster_changed()
        elif self.nodes.place_of(uid) != node:
            self.nodes.place(pod, demand_of(pod), node)

    def _gone(self, gone: Deleted) -> None:
        if gone.object is None:
            return
        uid = gone.object["metadata"]["uid"]
        self._assumed.discard(uid)
        if self.nodes.take(uid):
            self.pending.cluster_changed()

    def _node_changed(self, old: JSONObject | None, node: JSONObject) -> None:
        self.nodes.set_node(node)
        if old is None or _matters(old) != _matters(node):
            self.pending.cluster_changed()

    def _volumes_changed(self, key: str) -> None:
        """A claim has changed, or any volume (''): pods may have waited for it."""
        self.pending.wake(
            lambda pod: key in claim_keys(pod) if key else bool(pod["spec"].get("volumes"))
        )

    # The loop

    async def _schedule(self) -> None:
        turn = 0
        try:
            while True:
                pod = await self.pending.take()
                await self._free.acquire()
                self._decide(pod)
                turn += 1
                if turn % TURN == 0:
                    await asyncio.sleep(0)
        finally:
            for task in self._binding:
                task.cancel()
            await asyncio.gather(*self._binding, return_exceptions=True)

    def _decide(self, pod: JSONObject) -> None:
        """Choose, and start what follows; frees its place when that is done."""
        try:
            demand, volumes = demand_of(pod), self.volumes.of(pod)
            unfit = Unfit(len(self.nodes), volumes.why)
            node = self._choose(pod, demand, volumes, unfit)
        except Exception:
            logger.exception("no decision on pod %s", pod["metadata"]["name"])
            self.pending.retry(pod["metadata"]["uid"])
            self._free.release()
            return
        if node is None:
            self._unschedulable += 1
            # Parked before anything is awaited: what it waits for may come at any moment.
            self.pending.park(pod["metadata"]["uid"])
            room = self._room_for(pod, demand, volumes)
            waits = pod["metadata"]["uid"] in self._nominated
            why = unfit.text() if room else unfit.text_without_victims(pod, waits=waits)
            following = self._tell_unschedulable(pod, why, room)
        else:
            # From now on it counts as there, or the next pod would be given the same room.
            self.nodes.place(pod, demand, node)
            self._assumed.add(pod["metadata"]["uid"])
            following = self._bind(pod, node, volumes)
        task = asyncio.create_task(following)
        self._binding.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._binding.discard(task)
        self._free.release()

    def _kept_for_others(self, pod: JSONObject, info: NodeInfo) -> NodeInfo:
        """The node as it is with the pods that others were taken away for."""
        name, uid = info.node["metadata"]["name"], pod["metadata"]["uid"]
        coming = [
            other
            for of, (node, other) in self._nominated.items()
            if node == name and of != uid and priority_of(other) >= priority_of(pod)
        ]
        if not coming:
            return info
        changed = info.copied()
        for other in coming:
            changed.add(other, demand_of(other))
        return changed

    def _choose(
        self, pod: JSONObject, demand: Demand, volumes: PodVolumes, unfit: Unfit
    ) -> str | None:
        """The node for a pod; None if there is none, as `unfit` then tells."""
        if volumes.why:
            return None
        nodes = self.nodes.known()
        neighbours = Neighbours(pod, nodes)
        best: tuple[float, NodeInfo] | None = None
        for info in nodes:
            there = self._kept_for_others(pod, info) if self._nominated else info
            why = refusal(pod, demand, there)
            if not why and volumes.matter:
                why = self.volumes.refusal(volumes, info.node)
            if not why and neighbours.matter:
                why = neighbours.refusal(info)
            if why:
                unfit.refused(why, demand, info)
                continue
            points = score(pod, demand, info)
            if best is None or points > best[0]:
                best = (points, info)
        return None if best is None else str(best[1].node["metadata"]["name"])

    async def _bind(self, pod: JSONObject, node: str, volumes: PodVolumes) -> None:
        metadata = pod["metadata"]
        uid = metadata["uid"]
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": metadata["name"], "namespace": metadata["namespace"], "uid": uid,
            },
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }  # fmt: skip
        try:
            if volumes.delayed:
                await self.volumes.bind(volumes, node)
            await self.client.create(PODS, binding, name=metadata["name"], subresource="binding")
        except (ApiError, TransportError, VolumesNotBoundError) as error:
            self._failed += 1
            logger.debug("pod %s not bound: %s", metadata["name"], error)
            self._assumed.discard(uid)
            self.nodes.take(uid)
            if isinstance(error, ApiError) and error.code == 404:
                self.pending.remove(uid)
            else:
                self.pending.retry(uid)
            return
        self._bound += 1
        self.pending.remove(uid)
        message = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {node}"
        self.events.record(PODS, pod, "Scheduled", message)

    def _room_for(self, pod: JSONObject, demand: Demand, volumes: PodVolumes) -> Preemption | None:
        """Which pods may go for this one; None while those of an earlier decision still end."""
        if volumes.why or not may_preempt(pod):
            return None
        nominated = self._nominated.get(pod["metadata"]["uid"])
        if nominated is not None:
            info = self.nodes.by_name.get(nominated[0])
            mine = priority_of(pod)
            if info is not None and any(
                is_terminating(other) and priority_of(other) < mine
                for other, _ in info.pods.values()
            ):
                return None
        nodes = [
            info
            for info in self.nodes.known()
            if not volumes.matter or not self.volumes.refusal(volumes, info.node)
        ]
        found = find_preemption(pod, demand, nodes, self.budgets.lister.list())
        if found is None:
            self._nominated.pop(pod["metadata"]["uid"], None)
        return found

    async def _preempt(self, pod: JSONObject, preemption: Preemption) -> None:
        """Take the victims away; when they are gone the pod comes back, and its place was kept."""
        metadata = pod["metadata"]
        self._nominated[metadata["uid"]] = (preemption.node, pod)
        patch = {
            "metadata": {"uid": metadata["uid"]},
            "status": {"nominatedNodeName": preemption.node},
        }
        await self.client.patch(
            PODS, metadata["name"], patch, namespace=metadata["namespace"], subresource="status"
        )
        await asyncio.gather(
            *(self._take_away(pod, each, preemption) for each in preemption.victims)
        )

    async def _take_away(self, pod: JSONObject, victim: JSONObject, preemption: Preemption) -> None:
        metadata, now = victim["metadata"], rfc3339(self.clock.now())
        message = f"{NAME}: preempting to accommodate a higher priority pod"
        made = conditions.condition("DisruptionTarget", True, "PreemptionByScheduler", message)
        patch = {
            "metadata": {"uid": metadata["uid"]},
            "status": {"conditions": [{**made, "lastTransitionTime": now}]},
        }
        try:
            await self.client.patch(
                PODS, metadata["name"], patch, namespace=metadata["namespace"],
                subresource="status", kind="strategic",
            )  # fmt: skip
            await self.client.delete(
                PODS, metadata["name"], namespace=metadata["namespace"],
                options=DeleteOptions(uid=metadata["uid"]),
            )  # fmt: skip
        except ApiError as error:
            if error.code not in (404, 409):
                raise
            return
        message = f"Preempted by pod {pod['metadata']['uid']} on node {preemption.node}"
        self.events.record(PODS, victim, "Preempted", message)

    async def _tell_unschedulable(
        self, pod: JSONObject, why: str, preemption: Preemption | None
    ) -> None:
        metadata = pod["metadata"]
        if preemption is not None:
            try:
                await self._preempt(pod, preemption)
            except (ApiError, TransportError) as error:
                logger.debug("pod %s: nothing preempted: %s", metadata["name"], error)
        self.events.record(PODS, pod, "FailedScheduling", why, kind=WARNING)
        found = (pod.get("status") or {}).get("conditions") or []
        made = conditions.condition("PodScheduled", False, "Unschedulable", why)
        if metadata.get("generation"):
            made["observedGeneration"] = metadata["generation"]
        now = rfc3339(self.clock.now())
        wanted = conditions.put(list(found), made, now)
        if wanted == found:
            return
        patch = {
            "metadata": {"uid": metadata["uid"]},
            "status": {"conditions": [conditions.find(wanted, "PodScheduled")]},
        }
        try:
            await self.client.patch(
                PODS, metadata["name"], patch, namespace=metadata["namespace"],
                subresource="status", kind="strategic",
            )  # fmt: skip
        except (ApiError, TransportError) as error:
            logger.debug("pod %s: condition not written: %s", metadata["name"], error)


def _matters(node: JSONObject) -> tuple[object, ...]:
    """What of a node decides on pods: heartbeats do not."""
    status = node.get("status") or {}
    return (
        node.get("spec"),
        node["metadata"].get("labels"),
        status.get("allocatable"),
    )
