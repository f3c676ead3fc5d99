"""What every controller of a process shares: connections, informers, recorders, clock, options.

Made by `manager`, given to each `controller`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from listwatch.controllers.events import EventRecorder
from listwatch.controllers.references import CONTROLLER, by_controller
from listwatch.controllers.slots import EVENTS_IN_FLIGHT, IN_FLIGHT, Aside
from listwatch.informer import Client, Scope, SharedInformerFactory
from listwatch.informer.resources import CONTROLLER_REVISIONS, JOBS, PODS, REPLICA_SETS

if TYPE_CHECKING:
    from listwatch.controllers.options import ControllerOptions
    from listwatch.informer import APIResource, ClientConfig, SharedIndexInformer
    from listwatch.informer.indices import IndexFunction
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.objects import JSONObject

_OWNED = frozenset({PODS, REPLICA_SETS, JOBS, CONTROLLER_REVISIONS})
_KUBELET_EVENTS = 50.0  # a second, as a kubelet's eventRecordQPS
_MANAGER = "kube-controller-manager/v1.36.0"


class Environment:
    """One for a process. Each part of a cluster that speaks for itself has its own client."""

    def __init__(self, config: ClientConfig, options: ControllerOptions, clock: Clock) -> None:
        self.options = options
        self.clock = clock
        work = asyncio.Semaphore(IN_FLIGHT)
        tales = Aside(EVENTS_IN_FLIGHT, work)
        self.client = Client(config, user_agent=_MANAGER, slots=work)
        self.scheduler_client = Client(config, user_agent="kube-scheduler/v1.36.0", slots=work)
        self.kubelet_client = Client(config, user_agent="kubelet/v1.36.0", slots=work)
        self.events_client = Client(config, user_agent=_MANAGER, slots=tales)
        self.informers = SharedInformerFactory(self.client)
        self._recorders: dict[str, EventRecorder] = {}
        self._made: set[int] = set()  # informers, which live as long as their factory

    @property
    def clients(self) -> tuple[Client, ...]:
        """All of them."""
        return (self.client, self.scheduler_client, self.kubelet_client, self.events_client)

    @property
    def recorders(self) -> tuple[EventRecorder, ...]:
        """All so far."""
        return tuple(self._recorders.values())

    def informer(
        self,
        resource: APIResource,
        *,
        scope: Scope | None = None,
        indexers: Mapping[str, IndexFunction] | None = None,
    ) -> SharedIndexInformer:
        """The shared informer; of what others own it has an index by controller."""
        indexes = dict(indexers or {})
        if resource in _OWNED:
            indexes[CONTROLLER] = by_controller
        informer = self.informers.informer_for(resource, scope=scope, indexers=indexes)
        if id(informer) not in self._made:
            self._made.add(id(informer))
            informer.set_transform(_without_managed_fields)
        return informer

    def recorder(self, component: str) -> EventRecorder:
        """The recorder of a component, made when first asked for."""
        recorder = self._recorders.get(component)
        if recorder is None:
            rate = _KUBELET_EVENTS if component == "kubelet" else 0.0
            recorder = EventRecorder(self.events_client, component, self.clock, rate=rate)
            self._recorders[component] = recorder
        return recorder

    async def close(self) -> None:
        """Close all connections."""
        for client in self.clients:
            await client.close()


def _without_managed_fields(subject: JSONObject) -> JSONObject:
    """An object as caches keep it, a third smaller; writes without them leave them as they are."""
    subject["metadata"].pop("managedFields", None)
    return subject
