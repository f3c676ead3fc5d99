"""The kubelets of all stand-in nodes: each watches the pods of its node, and plays their runs.

Each node watches `spec.nodeName=<node>`, as a kubelet does. What is written here, `endpoints` and
the controllers of workloads read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.controller import Controller
from listwatch.controllers.events import WARNING
from listwatch.controllers.kubelet.containers import BACKING_OFF, RUNNING, ContainerRun
from listwatch.controllers.kubelet.nodes import StandInNode, StandInNodes
from listwatch.controllers.kubelet.pod_run import PodRun
from listwatch.informer import Scope
from listwatch.informer.errors import ApiError
from listwatch.informer.resources import PODS
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import Deleted, SharedIndexInformer
    from listwatch.protocol.objects import JSONObject

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KubeletStatistics:
    """The kubelets at one moment; counts since they were made."""

    nodes: int
    pods: int  # runs that go on
    statuses: int  # pod statuses written
    removed: int  # pods whose deletion was completed
    heartbeats: int  # leases renewed


class Kubelets(Controller):
    """Promises to every pod of its nodes a status that follows its scenario, and an end in time."""

    name = "kubelet"
    workers = 48

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.client = environment.kubelet_client
        self.nodes = StandInNodes(self.client, environment.options, environment.clock)
        self._where: dict[str, SharedIndexInformer] = {}  # key of a pod, informer of its node
        self._runs: dict[str, PodRun] = {}  # by key
        self._statuses = self._removed = 0
        for node in self.nodes.by_name.values():
            self._follow(node)

    async def prepare(self) -> None:
        """The nodes are there before the first pod is looked at."""
        await self.nodes.register()

    def background(self) -> list[asyncio.Task[None]]:
        """The heartbeats."""
        return [asyncio.create_task(self.nodes.keep_alive(), name="heartbeats")]

    def running(self) -> KubeletStatistics:
        """A record of now."""
        return KubeletStatistics(
            len(self.nodes.by_name), len(self._runs), self._statuses, self._removed,
            self.nodes.heartbeats,
        )  # fmt: skip

    async def reconcile(self, key: str) -> None:
        """Bring the run of a pod to the state of now, and tell it."""
        informer = self._where.get(key)
        pod = None if informer is None else informer.indexer.get_by_key(key)
        run = self._runs.get(key)
        if run is not None and (pod is None or pod["metadata"]["uid"] != run.uid):
            self._drop(key, run)
            run = None
        if pod is None or informer is None:
            self._where.pop(key, None)
            self.unseen.forget(key)
            return
        now = self.clock.now()
        if run is None:
            if _is_over(pod):
                await self._remove_if_asked(pod)
                return
            run = self._runs[key] = self._begin(pod, now)
        run.look_for_more(pod)
        due = None if run.stops_at is not None and run.finished else run.step(now)
        if "deletionTimestamp" in pod["metadata"]:
            due = await self._stop(key, pod, run, now)
        else:
            due = _earliest(due, self._deadline(pod, run, now))
            await self._tell(key, pod, run, now)
        if due is not None:
            self.queue.add_after(key, max(due - now, 0.0))

    # A run

    def _begin(self, pod: JSONObject, now: float) -> PodRun:
        node = self.nodes.by_name[pod["spec"]["nodeName"]]
        uid, known = pod["metadata"]["uid"], (pod.get("status") or {}).get("podIP") or ""
        host = node.addresses.host_ip
        ip = host if pod["spec"].get("hostNetwork") else node.addresses.take(uid, known)
        return PodRun.of(pod, node.name, (host, ip), now)

    def _drop(self, key: str, run: PodRun) -> None:
        del self._runs[key]
        self.nodes.by_name[run.node].addresses.give_back(run.ip, run.uid)

    def _deadline(self, pod: JSONObject, run: PodRun, now: float) -> float | None:
        seconds = pod["spec"].get("activeDeadlineSeconds")
        if not seconds or run.finished:
            return None
        end = run.began + float(seconds)
        if end > now:
            return end
        run.stop(now)
        run.failed = "DeadlineExceeded"
        return None

    async def _stop(self, key: str, pod: JSONObject, run: PodRun, now: float) -> float | None:
        """Let the pod end within its grace period, then let its deletion be completed."""
        metadata = pod["metadata"]
        grace = float(metadata.get("deletionGracePeriodSeconds") or 0)
        wanted = max((each.plan.stop_seconds for each in run.containers), default=0.0)
        if run.stops_at is None:
            for each in run.everything:
                if each.state == RUNNING:
                    self._event(pod, run, "Killing", f"Stopping container {each.name}", each)
            run.stops_at = now + min(wanted, grace)
        # The period may have been shortened since.
        run.stops_at = min(run.stops_at, now + grace)
        if run.stops_at > now:
            await self._tell(key, pod, run, now)
            return run.stops_at
        if metadata.get("finalizers"):
            # It stays: whoever holds it wants to see how it ended.
            run.stop(now)
            await self._tell(key, pod, run, now)
            if not grace:
                return None
        await self._remove(pod)
        return None

    async def _remove_if_asked(self, pod: JSONObject) -> None:
        metadata = pod["metadata"]
        if "deletionTimestamp" in metadata and metadata.get("deletionGracePeriodSeconds"):
            await self._remove(pod)

    async def _remove(self, pod: JSONObject) -> None:
        metadata = pod["metadata"]
        options = DeleteOptions(grace_period_seconds=0, uid=metadata["uid"])
        try:
            await self.client.delete(
                PODS, metadata["name"], namespace=metadata["namespace"], options=options
            )
        except ApiError as error:
            if error.code not in (404, 409):
                raise
        else:
            self._removed += 1

    async def _tell(self, key: str, pod: JSONObject, run: PodRun, now: float) -> None:
        status = run.status(pod, now)
        before = run.sent if run.sent is not None else pod.get("status") or {}
        if all(before.get(name) == value for name, value in status.items()):
            return
        metadata = pod["metadata"]
        patch = {"metadata": {"uid": metadata["uid"]}, "status": status}
        try:
            await self.client.patch(
                PODS, metadata["name"], patch, namespace=metadata["namespace"],
                subresource="status", kind="strategic",
            )  # fmt: skip
        except ApiError as error:
            if error.code not in (404, 409):
                raise
            return  # it is gone, or another pod has its name
        run.sent = status
        self._statuses += 1
        self._tell_events(pod, run)

    def _tell_events(self, pod: JSONObject, run: PodRun) -> None:
        for each in run.everything:
            entry = f"{each.name}/{each.restarts}/{each.state}"
            if entry in run.told:
                continue
            run.told.add(entry)
            image, name = each.spec.get("image"), each.name
            if each.state == RUNNING:
                message = f'Container image "{image}" already present on machine'
                self._event(pod, run, "Pulled", message, each)
                self._event(pod, run, "Created", f"Container created: {name}", each)
                self._event(pod, run, "Started", f"Container started: {name}", each)
            elif each.state == BACKING_OFF:
                message = f"Back-off restarting failed container {name} in pod {each.pod_name}"
                self._event(pod, run, "BackOff", f"{message}({each.pod_uid})", each, WARNING)
            elif each.plan.pull_fails:
                message = f'Failed to pull image "{image}": not found'
                self._event(pod, run, "Failed", message, each, WARNING)

    def _event(
        self,
        pod: JSONObject,
        run: PodRun,
        reason: str,
        message: str,
        container: ContainerRun,
        kind: str = "Normal",
    ) -> None:
        path = f"spec.{container.kind}{{{container.name}}}"
        self.events.record(PODS, pod, reason, message, kind=kind, field_path=path, host=run.node)

    # The pods of a node

    def _follow(self, node: StandInNode) -> None:
        informer = self.informer(PODS, Scope(field_selector=f"spec.nodeName={node.name}"))

        def told(key_of: Callable[[JSONObject], str], pod: JSONObject) -> None:
            key = key_of(pod)
            self._where[key] = informer
            self.queue.add(key)

        def gone(deleted: Deleted) -> None:
            self.queue.add(deleted.key)

        key_of = informer.indexer.key_of
        informer.add_handler(
            on_add=lambda pod, _: told(key_of, pod),
            on_update=lambda _, pod: told(key_of, pod),
            on_delete=gone,
        )


def _is_over(pod: JSONObject) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _earliest(*times: float | None) -> float | None:
    return min((each for each in times if each is not None), default=None)
