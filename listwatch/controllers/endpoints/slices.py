"""EndpointSlices: the addresses of a service in pieces, so that one pod changes one small object.

Upstream: pkg/controller/endpointslice. A slice that has room is filled before one is made, and a
slice that does not change is not written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from listwatch.controllers.endpoints.addresses import Backend, Ports, ServiceFollower, is_headless
from listwatch.controllers.references import CONTROLLER, by_controller, controller_reference
from listwatch.informer import split_key
from listwatch.informer.errors import ForbiddenError, NotFoundError
from listwatch.informer.resources import ENDPOINT_SLICES, SERVICES
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import Deleted

MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
SERVICE_NAME, HEADLESS = "kubernetes.io/service-name", "service.kubernetes.io/headless"
MOST = 100  # endpoints in one slice


class EndpointSlices(ServiceFollower):
    """Promises each backend in exactly one slice of its service."""

    name = "endpointslice-controller"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.slices = self.informer(ENDPOINT_SLICES)
        if CONTROLLER not in self.slices.indexer.indexers:
            self.slices.add_indexers({CONTROLLER: by_controller})
        self.slices.add_handler(on_delete=self._slice_gone)

    async def reconcile(self, key: str) -> None:
        """Bring the slices of one service to what its pods are."""
        service = self.services.lister.get_or_none(key)
        if service is None:
            self.unseen.forget(key)  # the slices go with their owner
            return
        if not service["spec"].get("selector") or service["spec"].get("type") == "ExternalName":
            return
        ours = [
            each
            for each in self.slices.lister.by_index(CONTROLLER, service["metadata"]["uid"])
            if labels_of(each).get(MANAGED_BY) == MANAGER
            and "deletionTimestamp" not in each["metadata"]
        ]
        groups: dict[Ports, dict[str, JSONObject]] = {}
        for backend in self.backends(service):
            endpoints = groups.setdefault(backend.ports, {})
            endpoints[backend.pod["metadata"]["uid"]] = _endpoint(service, backend)
        if not groups:
            groups[()] = {}  # a service without pods has one empty slice
        free = list(ours)
        for ports, endpoints in groups.items():
            mine = [each for each in free if _ports_of(each) == ports]
            if not endpoints and free:
                mine = mine or free[:1]
            free = [each for each in free if each not in mine]
            await self._fill(service, key, ports, endpoints, mine)
        for each in free:
            await self._delete(key, each)

    async def _fill(
        self,
        service: JSONObject,
        key: str,
        ports: Ports,
        endpoints: dict[str, JSONObject],
        slices: list[JSONObject],
    ) -> None:
        rest = dict(endpoints)
        contents: list[tuple[JSONObject, list[JSONObject]]] = []
        for each in slices:
            kept = []
            for endpoint in each.get("endpoints") or ():
                fresh = rest.pop(str((endpoint.get("targetRef") or {}).get("uid")), None)
                if fresh is not None:
                    kept.append(fresh)
            contents.append((each, kept))
        new = list(rest.values())
        # Those that are fullest first: few slices, and few of them written.
        for _, kept in sorted(contents, key=lambda pair: -len(pair[1])):
            room = MOST - len(kept)
            kept.extend(new[:room])
            new = new[room:]
        keep_one = not endpoints
        for each, kept in contents:
            if not kept and not keep_one:
                await self._delete(key, each)
                continue
            keep_one = keep_one and bool(kept)
            await self._update(service, key, each, (ports, kept))
        while new or (not contents and not endpoints):
            await self._create(service, key, ports, new[:MOST])
            new = new[MOST:]
            if not new:
                return

    async def _create(
        self, service: JSONObject, key: str, ports: Ports, endpoints: list[JSONObject]
    ) -> None:
        namespace, name = split_key(key)
        made = {
            "metadata": {
                "generateName": f"{name}-",
                "namespace": namespace,
                "labels": _labels(service),
                "ownerReferences": [controller_reference(SERVICES, service)],
            },
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": _port_objects(ports),
        }
        try:
            answer = await self.client.create(ENDPOINT_SLICES, made)
        except ForbiddenError as error:
            if any(cause.reason == "NamespaceTerminating" for cause in error.causes):
                return
            raise
        self.unseen.wrote(key, self.slices, answer)

    async def _update(
        self,
        service: JSONObject,
        key: str,
        found: JSONObject,
        content: tuple[Ports, list[JSONObject]],
    ) -> None:
        ports, endpoints = content
        labels = _labels(service)
        same = (
            (found.get("endpoints") or []) == endpoints
            and labels_of(found) == labels
            and _ports_of(found) == ports
        )
        if same:
            return
        wanted = {
            **found,
            "metadata": {**found["metadata"], "labels": labels},
            "endpoints": endpoints,
            "ports": _port_objects(ports),
        }
        self.unseen.wrote(key, self.slices, await self.client.update(ENDPOINT_SLICES, wanted))

    async def _delete(self, key: str, found: JSONObject) -> None:
        metadata = found["metadata"]
        options = DeleteOptions(uid=metadata["uid"])
        try:
            await self.client.delete(
                ENDPOINT_SLICES, metadata["name"], namespace=metadata["namespace"], options=options
            )
        except NotFoundError:
            return
        self.unseen.deleted(key, self.slices, found)

    def _slice_gone(self, gone: Deleted) -> None:
        name = "" if gone.object is None else labels_of(gone.object).get(SERVICE_NAME, "")
        if name:
            self.queue.add(f"{gone.namespace}/{name}")


def _labels(service: JSONObject) -> dict[str, str]:
    labels = {key: text for key, text in labels_of(service).items() if key != HEADLESS}
    labels |= {SERVICE_NAME: service["metadata"]["name"], MANAGED_BY: MANAGER}
    if is_headless(service):
        labels[HEADLESS] = ""
    return labels


def _endpoint(service: JSONObject, backend: Backend) -> JSONObject:
    endpoint: JSONObject = {
        "addresses": [backend.ip],
        "conditions": {
            "ready": backend.ready,
            "serving": backend.serving,
            "terminating": backend.terminating,
        },
        "targetRef": backend.target,
    }
    if backend.node:
        endpoint["nodeName"] = backend.node
    if backend.hostname(service):
        endpoint["hostname"] = backend.hostname(service)
    return endpoint


def _port_objects(ports: Iterable[tuple[str, int, str, str]]) -> list[JSONObject]:
    return [
        {
            "name": name,
            "port": number,
            "protocol": protocol,
            **({"appProtocol": application} if application else {}),
        }
        for name, number, protocol, application in ports
    ]


def _ports_of(found: JSONObject) -> Ports:
    return tuple(
        (
            each.get("name") or "", each.get("port") or 0, each.get("protocol") or "TCP",
            each.get("appProtocol") or "",
        )
        for each in found.get("ports") or ()
    )  # fmt: skip
