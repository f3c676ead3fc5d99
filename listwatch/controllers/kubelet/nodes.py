"""The nodes of the stand-in: registered with what they have, alive as long as their leases say.

Started by `controller`; the scheduler sees what is registered here.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from listwatch.controllers.batches import at_once
from listwatch.controllers.kubelet.addresses import NodeAddresses
from listwatch.informer.errors import AlreadyExistsError, ApiError, NotFoundError, TransportError
from listwatch.informer.resources import LEASES, NODES
from listwatch.protocol.clock import rfc3339

if TYPE_CHECKING:
    from listwatch.controllers.options import ControllerOptions
    from listwatch.informer import Client
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.objects import JSONObject

logger = logging.getLogger(__name__)

VERSION = "v1.36.0"
LEASE_NAMESPACE = "kube-node-lease"
LEASE_SECONDS, HEARTBEAT_SECONDS = 40, 10.0  # as the kubelet's
_GOOD = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


@dataclass(slots=True)
class StandInNode:
    """One node: its name, addresses, and its lease as last written."""

    name: str
    addresses: NodeAddresses
    lease: JSONObject | None = None


class StandInNodes:
    """All nodes of this process."""

    def __init__(self, client: Client, options: ControllerOptions, clock: Clock) -> None:
        self._client = client
        self._options = options
        self._clock = clock
        self.by_name = {
            name: StandInNode(name, NodeAddresses(number, options.node_pods))
            for number in range(options.nodes)
            for name in [f"{options.node_prefix}{number + 1}"]
        }
        self.heartbeats = 0

    async def register(self) -> None:
        """Make the nodes that are missing, and say of all that they are ready."""
        _, error = await at_once(self.by_name.values(), self._register)
        if error is not None:
            raise error

    async def keep_alive(self) -> None:
        """Renew the leases of the nodes that are there, until cancelled."""
        while True:
            _, error = await at_once(self.by_name.values(), self._renew)
            if error is not None:
                logger.info("a lease was not renewed: %s", error)
            await self._clock.sleep(HEARTBEAT_SECONDS)

    async def _register(self, node: StandInNode) -> None:
        now = rfc3339(self._clock.now())
        wanted = self._node(node, now)
        try:
            found = await self._client.create(NODES, wanted)
        except AlreadyExistsError:
            found = await self._client.get(NODES, node.name)
        status = found.get("status") or {}
        if any(status.get(key) != wanted["status"][key] for key in ("allocatable", "addresses")):
            patch = {"status": wanted["status"]}
            await self._client.patch(NODES, node.name, patch, subresource="status")

    def _node(self, node: StandInNode, now: str) -> JSONObject:
        options, cidr = self._options, node.addresses.network
        capacity = {
            "cpu": options.node_cpu,
            "memory": options.node_memory,
            "pods": str(options.node_pods),
            "ephemeral-storage": "100Gi",
        }
        return {
            "metadata": {
                "name": node.name,
                "labels": {
                    "kubernetes.io/hostname": node.name,
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/arch": "amd64",
                    "beta.kubernetes.io/os": "linux",
                    "beta.kubernetes.io/arch": "amd64",
                },
                "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
            },
            "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
            "status": {
                "capacity": capacity,
                "allocatable": dict(capacity),
                "conditions": _conditions(now),
                "addresses": [
                    {"type": "InternalIP", "address": node.addresses.host_ip},
                    {"type": "Hostname", "address": node.name},
                ],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": {
                    "machineID": node.name,
                    "systemUUID": node.name,
                    "bootID": node.name,
                    "kernelVersion": "none",
                    "osImage": "listwatch stand-in",
                    "containerRuntimeVersion": "listwatch://0.1.0",
                    "kubeletVersion": VERSION,
                    "kubeProxyVersion": "",
                    "operatingSystem": "linux",
                    "architecture": "amd64",
                },
            },
        }

    async def _renew(self, node: StandInNode) -> None:
        try:
            if node.lease is None:
                node.lease = await self._first_lease(node)
            else:
                node.lease["spec"] = self._lease_spec(node)
                node.lease = await self._client.update(LEASES, node.lease)
        except (ApiError, TransportError):
            node.lease = None  # whatever happened to it, the next time begins anew
            raise
        self.heartbeats += node.lease is not None

    async def _first_lease(self, node: StandInNode) -> JSONObject | None:
        # The Node may have been deleted, or made anew, since it was registered. A lease of one that
        # is not there would be garbage as soon as it is made; None then, as the kubelet makes none.
        try:
            found = await self._client.get(NODES, node.name)
        except NotFoundError:
            return None
        uid = found["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": uid}
        try:
            lease = await self._client.get(LEASES, node.name, namespace=LEASE_NAMESPACE)
        except NotFoundError:
            lease = {
                "metadata": {
                    "name": node.name,
                    "namespace": LEASE_NAMESPACE,
                    "ownerReferences": [owner],
                },
                "spec": self._lease_spec(node),
            }
            return await self._client.create(LEASES, lease)
        lease["metadata"]["ownerReferences"] = [owner]
        lease["spec"] = self._lease_spec(node)
        return await self._client.update(LEASES, lease)

    def _lease_spec(self, node: StandInNode) -> JSONObject:
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        return {
            "holderIdentity": node.name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }


def _conditions(now: str) -> list[JSONObject]:
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    found: list[JSONObject] = [
        {"type": kind, "status": "False", "reason": reason, "message": message, **times}
        for kind, (reason, message) in _GOOD.items()
    ]
    ready = {"reason": "KubeletReady", "message": "kubelet is posting ready status"}
    return [*found, {"type": "Ready", "status": "True", **ready, **times}]
