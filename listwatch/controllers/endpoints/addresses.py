"""The pods behind a service, their addresses and ports: what endpoints are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.controller import Controller
from listwatch.controllers.pods import is_finished, is_ready, is_terminating
from listwatch.informer import object_key
from listwatch.informer.resources import PODS, SERVICES
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.selectors import LabelSelector

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import Deleted

PAUSE = 0.05  # seconds in which changes of many pods become one write
LONG_PAUSE = 0.5  # the same for services with very many pods
MANY = 200
Ports = tuple[tuple[str, int, str, str], ...]  # name, number, protocol, application protocol


@dataclass(frozen=True, slots=True)
class Backend:
    """One pod behind a service."""

    pod: JSONObject
    ip: str
    ports: Ports
    ready: bool
    serving: bool
    terminating: bool

    @property
    def target(self) -> JSONObject:
        """The reference to the pod."""
        metadata = self.pod["metadata"]
        return {
            "kind": "Pod",
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
        }

    @property
    def node(self) -> str:
        """The node it is on."""
        return str(self.pod["spec"].get("nodeName") or "")

    def hostname(self, service: JSONObject) -> str:
        """Its own name below a headless service."""
        spec = self.pod["spec"]
        if spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]:
            return str(spec["hostname"])
        return ""


class ServiceFollower(Controller):
    """A controller of services that hears of the pods which a service selects, before and after."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.services = self.informer(SERVICES)
        self.pods = self.informer(PODS)
        self._sizes: dict[str, int] = {}
        self.follow(self.services)
        self.pods.add_handler(
            on_add=lambda pod, _: self._pod_changed(pod),
            on_update=self._pod_updated,
            on_delete=self._pod_gone,
        )

    def backends(self, service: JSONObject) -> list[Backend]:
        """The pods behind it, in the order of their names."""
        selector = LabelSelector.of_set(service["spec"].get("selector"))
        namespace = service["metadata"]["namespace"]
        pods = self.pods.lister.in_namespace(namespace, selector)
        found = [backend for pod in pods for backend in _backend(service, pod)]
        self._sizes[object_key(service)] = len(found)
        return sorted(found, key=lambda each: str(each.pod["metadata"]["name"]))

    def _pod_changed(self, pod: JSONObject) -> None:
        namespace, labels = pod["metadata"]["namespace"], labels_of(pod)
        for service in self.services.lister.in_namespace(namespace):
            selector = service["spec"].get("selector")
            if selector and all(labels.get(key) == text for key, text in selector.items()):
                key = object_key(service)
                many = self._sizes.get(key, 0) > MANY
                self.queue.add_after(key, LONG_PAUSE if many else PAUSE)

    def _pod_updated(self, old: JSONObject, new: JSONObject) -> None:
        if _face(old) == _face(new):
            return
        if labels_of(old) != labels_of(new):
            self._pod_changed(old)
        self._pod_changed(new)

    def _pod_gone(self, gone: Deleted) -> None:
        if gone.object is not None:
            self._pod_changed(gone.object)


def _face(pod: JSONObject) -> tuple[object, ...]:
    """What of a pod a service shows."""
    status = pod.get("status") or {}
    return (
        labels_of(pod), status.get("podIP"), is_ready(pod), is_finished(pod), is_terminating(pod),
        pod["spec"].get("nodeName"),
    )  # fmt: skip


def _backend(service: JSONObject, pod: JSONObject) -> Iterator[Backend]:
    ip = (pod.get("status") or {}).get("podIP")
    if not ip or is_finished(pod):
        return
    anyway = bool(service["spec"].get("publishNotReadyAddresses"))
    serving = is_ready(pod) or anyway
    going = is_terminating(pod)
    yield Backend(
        pod=pod,
        ip=ip,
        ports=tuple(_ports(service, pod)),
        ready=(serving and not going) or anyway,
        serving=serving,
        terminating=going,
    )


def _ports(service: JSONObject, pod: JSONObject) -> Iterator[tuple[str, int, str, str]]:
    for port in service["spec"].get("ports") or ():
        protocol = port.get("protocol") or "TCP"
        target = port.get("targetPort") or port["port"]
        number = _named(pod, target, protocol) if isinstance(target, str) else int(target)
        if number:
            yield port.get("name") or "", number, protocol, port.get("appProtocol") or ""


def _named(pod: JSONObject, name: str, protocol: str) -> int:
    containers: Iterable[JSONObject] = pod["spec"].get("containers") or ()
    for container in containers:
        for port in container.get("ports") or ():
            if port.get("name") == name and (port.get("protocol") or "TCP") == protocol:
                return int(port["containerPort"])
    return 0


def is_headless(service: JSONObject) -> bool:
    """Whether a service has no address of its own."""
    return bool(service["spec"].get("clusterIP") == "None")
