"""Endpoints: one object for each service with a selector. Upstream: pkg/controller/endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers.endpoints.addresses import Backend, Ports, ServiceFollower, is_headless
from listwatch.informer import split_key
from listwatch.informer.errors import AlreadyExistsError, ForbiddenError, NotFoundError
from listwatch.informer.resources import ENDPOINTS
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.protocol.objects import JSONObject

MANAGED_BY, MANAGER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
HEADLESS = "service.kubernetes.io/headless"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MOST = 1000  # addresses; more are left out, as upstream's


class EndpointsController(ServiceFollower):
    """Promises an object with no dead address soon after a pod is gone; none for no service."""

    name = "endpoints-controller"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.endpoints = self.informer(ENDPOINTS)
        self.endpoints.add_handler(on_delete=self.enqueue_deleted)

    async def reconcile(self, key: str) -> None:
        """Write the addresses of one service, if they have changed."""
        service = self.services.lister.get_or_none(key)
        found = self.endpoints.lister.get_or_none(key)
        if service is None:
            await self._remove(key, found)
            return
        if not service["spec"].get("selector"):
            return
        backends = [each for each in self.backends(service) if not each.terminating or each.ready]
        subsets = _subsets(service, backends[:MOST])
        labels = {**(service["metadata"].get("labels") or {}), MANAGED_BY: MANAGER}
        labels.pop(HEADLESS, None)
        if is_headless(service):
            labels[HEADLESS] = ""
        annotations = {OVER_CAPACITY: "truncated"} if len(backends) > MOST else {}
        if found is None:
            await self._create(key, labels, annotations, subsets)
            return
        metadata = found["metadata"]
        same = (
            (found.get("subsets") or []) == subsets
            and (metadata.get("labels") or {}) == labels
            and (metadata.get("annotations") or {}).get(OVER_CAPACITY)
            == annotations.get(OVER_CAPACITY)
        )
        if same:
            return
        kept = {k: v for k, v in (metadata.get("annotations") or {}).items() if k != OVER_CAPACITY}
        wanted = {
            **found,
            "metadata": {**metadata, "labels": labels, "annotations": {**kept, **annotations}},
            "subsets": subsets,
        }
        self.unseen.wrote(key, self.endpoints, await self.client.update(ENDPOINTS, wanted))

    async def _create(
        self, key: str, labels: JSONObject, annotations: JSONObject, subsets: list[JSONObject]
    ) -> None:
        namespace, name = split_key(key)
        metadata: JSONObject = {"name": name, "namespace": namespace, "labels": labels}
        if annotations:
            metadata["annotations"] = annotations
        try:
            made = await self.client.create(ENDPOINTS, {"metadata": metadata, "subsets": subsets})
        except AlreadyExistsError:
            raise
        except ForbiddenError as error:
            if any(cause.reason == "NamespaceTerminating" for cause in error.causes):
                return
            raise
        self.unseen.wrote(key, self.endpoints, made)

    async def _remove(self, key: str, found: JSONObject | None) -> None:
        self.unseen.forget(key)
        if found is None:
            return
        if (found["metadata"].get("labels") or {}).get(MANAGED_BY) != MANAGER:
            return  # somebody else's, of a name that no service has
        namespace, name = split_key(key)
        options = DeleteOptions(uid=found["metadata"]["uid"])
        try:
            await self.client.delete(ENDPOINTS, name, namespace=namespace, options=options)
        except NotFoundError:
            return


def _subsets(service: JSONObject, backends: list[Backend]) -> list[JSONObject]:
    """Addresses by the ports they have: pods may name theirs differently."""
    groups: dict[Ports, tuple[list[JSONObject], list[JSONObject]]] = {}
    for each in backends:
        if not each.ports and not is_headless(service):
            continue
        address: JSONObject = {"ip": each.ip, "targetRef": each.target}
        if each.node:
            address["nodeName"] = each.node
        if each.hostname(service):
            address["hostname"] = each.hostname(service)
        ready, waiting = groups.setdefault(each.ports, ([], []))
        (ready if each.ready else waiting).append(address)
    return [_subset(ports, *groups[ports]) for ports in sorted(groups)]


def _subset(ports: Ports, ready: list[JSONObject], waiting: list[JSONObject]) -> JSONObject:
    subset: JSONObject = {}
    if ready:
        subset["addresses"] = sorted(ready, key=lambda each: str(each["ip"]))
    if waiting:
        subset["notReadyAddresses"] = sorted(waiting, key=lambda each: str(each["ip"]))
    if ports:
        subset["ports"] = [
            {
                **({"name": name} if name else {}),
                "port": number,
                "protocol": protocol,
                **({"appProtocol": application} if application else {}),
            }
            for name, number, protocol, application in ports
        ]
    return subset
