"""The way of a pod, hop by hop: who heard of what by which watch, and what it did then.

Looks on from outside, by watches of its own, while the controllers work. `manage.py demo` prints
what it tells.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.pods import is_ready
from listwatch.informer import Scope, SharedInformerFactory
from listwatch.informer.resources import (
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SERVICES,
)

if TYPE_CHECKING:
    from listwatch.informer import APIResource, Client, Deleted
    from listwatch.protocol.objects import JSONObject

LABELS = {"app": "web"}


@dataclass(frozen=True, slots=True)
class Hop:
    """One step: when it was seen, who took it, by which watch it knew, and what it did."""

    seconds: float  # since the way began
    revision: str  # resourceVersion of what it wrote
    actor: str
    watched: str  # '' for a person, who needs no watch
    did: str


class PodsWay:
    """One deployment in one namespace, from its first write until nothing of it is left.

    `replicas` pods come up, `hops` tells how; then `leave` takes all of it away.
    """

    def __init__(self, client: Client, namespace: str, replicas: int) -> None:
        self.namespace = namespace
        self.replicas = replicas
        self._client = client
        self._clock = client.clock
        self._began = 0.0
        self._hops: asyncio.Queue[Hop] = asyncio.Queue()
        self._available = False
        self._published: set[str] = set()
        self._told: set[tuple[str, str]] = set()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[PodsWay]:
        """Make the namespace, and look on inside the block."""
        await self._client.create(NAMESPACES, {"metadata": {"name": self.namespace}})
        factory = SharedInformerFactory(self._client, scope=Scope(namespace=self.namespace))
        for resource, seen in (
            (DEPLOYMENTS, self._deployment), (REPLICA_SETS, self._replica_set),
            (PODS, self._pod), (ENDPOINT_SLICES, self._slice),
        ):  # fmt: skip
            self._look_on(factory, resource, seen)
        async with factory.running():
            await factory.wait_for_cache_sync()
            yield self

    async def hops(self) -> AsyncIterator[Hop]:
        """Create a service and a deployment; every hop until all pods are ready and published."""
        self._began = self._clock.monotonic()
        metadata = {"name": "web", "namespace": self.namespace}
        service = await self._client.create(
            SERVICES,
            {"metadata": metadata, "spec": {"selector": LABELS, "ports": [{"port": 80}]}},
        )
        self._tell(service, "you", "", "create service web")
        container = {"name": "web", "image": "web:1"}
        template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container]}}
        spec = {
            "replicas": self.replicas,
            "selector": {"matchLabels": LABELS},
            "template": template,
        }
        deployment = await self._client.create(DEPLOYMENTS, {"metadata": metadata, "spec": spec})
        self._tell(deployment, "you", "", f"create deployment web of {self.replicas} replicas")
        while not self._is_up() or not self._hops.empty():
            yield await self._hops.get()

    async def leave(self) -> AsyncIterator[Hop]:
        """Delete the deployment; every hop until its last pod is gone, then the namespace goes."""
        answer = await self._client.delete(DEPLOYMENTS, "web", namespace=self.namespace)
        self._tell(answer, "you", "", "delete deployment web")
        gone = 0
        while gone < self.replicas:
            hop = await self._hops.get()
            gone += hop.did.startswith("ends pod")
            yield hop
        await self._client.delete(NAMESPACES, self.namespace)

    def _is_up(self) -> bool:
        return self._available and len(self._published) >= self.replicas

    def _look_on(
        self,
        factory: SharedInformerFactory,
        resource: APIResource,
        seen: Callable[[JSONObject, bool], None],
    ) -> None:
        def gone(deleted: Deleted) -> None:
            if deleted.object is not None:
                seen(deleted.object, True)

        factory.informer_for(resource).add_handler(
            on_add=lambda subject, _: seen(subject, False),
            on_update=lambda _, subject: seen(subject, False),
            on_delete=gone,
        )

    # What is seen, once each

    def _deployment(self, subject: JSONObject, gone: bool) -> None:
        status = subject.get("status") or {}
        enough = (status.get("availableReplicas") or 0) >= self.replicas
        if not gone and enough and conditions.is_true(status.get("conditions"), "Available"):
            self._available = True
            did = f"says in the status of web: {self.replicas} of {self.replicas} available"
            self._once("available", subject, "deployment controller", "replica sets", did)

    def _replica_set(self, subject: JSONObject, gone: bool) -> None:
        name = subject["metadata"]["name"]
        if gone:
            did = f"deletes replica set {name}, whose owner is gone"
            self._once("gone", subject, "garbage collector", "every kind", did)
            return
        did = f"creates replica set {name}"
        self._once("made", subject, "deployment controller", "deployments", did)
        ready = (subject.get("status") or {}).get("readyReplicas") or 0
        if ready == self.replicas:
            did = f"says in the status of {name}: {ready} of {self.replicas} ready"
            self._once("ready", subject, "replica set controller", "pods", did)

    def _pod(self, subject: JSONObject, gone: bool) -> None:
        metadata, node = subject["metadata"], subject["spec"].get("nodeName")
        name, kubelet = metadata["name"], f"kubelet of {node}"
        mine = f"pods with spec.nodeName={node}"
        if gone:
            self._once("gone", subject, kubelet, mine, f"ends pod {name}")
            return
        self._once("made", subject, "replica set controller", "replica sets", f"creates pod {name}")
        if node:
            did = f"binds pod {name} to {node}"
            self._once("bound", subject, "scheduler", "pods with spec.nodeName=", did)
        if is_ready(subject):
            did = f"runs pod {name} as {subject['status']['podIP']}"
            self._once("ready", subject, kubelet, mine, did)
        if "deletionTimestamp" in metadata:
            did = f"deletes pod {name}, whose owner is gone"
            self._once("going", subject, "garbage collector", "every kind", did)

    def _slice(self, subject: JSONObject, gone: bool) -> None:
        if gone:
            return
        fresh = {
            endpoint["targetRef"]["uid"]
            for endpoint in subject.get("endpoints") or ()
            if endpoint["conditions"].get("ready")
        } - self._published
        if fresh:
            self._published |= fresh
            many = f"{len(self._published)} of {self.replicas}"
            did = f"publishes {many} addresses of service web"
            self._tell(subject, "endpoint slice controller", "services and pods", did)

    def _once(self, what: str, subject: JSONObject, actor: str, watched: str, did: str) -> None:
        entry = (what, str(subject["metadata"]["uid"]))
        if entry not in self._told:
            self._told.add(entry)
            self._tell(subject, actor, watched, did)

    def _tell(self, subject: JSONObject, actor: str, watched: str, did: str) -> None:
        revision = str(subject.get("metadata", {}).get("resourceVersion") or "")
        at = self._clock.monotonic() - self._began
        self._hops.put_nowait(Hop(at, revision, actor, watched, did))
