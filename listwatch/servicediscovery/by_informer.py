"""Discovery by informer: one watch for all services, answers from memory.

An informer of `listwatch.informer` keeps the Endpoints; its handler tells `subscriptions`.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from listwatch.informer.client import Client
from listwatch.informer.errors import NotFoundError
from listwatch.informer.handlers import HandlerOptions
from listwatch.informer.list_watch import HTTPListerWatcher
from listwatch.informer.objects import Deleted, JSONObject, object_key
from listwatch.informer.resources import ENDPOINTS
from listwatch.informer.shared_informer import (
    InformerOptions,
    InformerStatistics,
    SharedIndexInformer,
)
from listwatch.servicediscovery.discovery import Counts, DiscoveryStatistics
from listwatch.servicediscovery.instances import Instance, Service, instances_of
from listwatch.servicediscovery.subscriptions import Listener, Subscription, Subscriptions


class InformerDiscovery:
    """A ServiceDiscovery that asks for a list once and hears the rest by one watch.

    `namespace` bounds what it caches; '' caches all. Services out of it cannot be listened to.
    """

    def __init__(
        self, client: Client, *, namespace: str = "", options: InformerOptions | None = None
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._informer = SharedIndexInformer(
            HTTPListerWatcher(client, ENDPOINTS, namespace=namespace),
            resource=ENDPOINTS, options=options, clock=client.clock,
        )  # fmt: skip
        # A state in between is of no use to whoever routes requests.
        self._informer.add_handler(
            on_add=self._added, on_update=self._updated, on_delete=self._deleted,
            options=HandlerOptions("service discovery", policy="coalesce"),
        )  # fmt: skip
        self._subscriptions = Subscriptions()
        self._counts = Counts()
        self._synced: asyncio.Task[None] | None = None

    async def get_instances(self, service: Service) -> tuple[Instance, ...]:
        """From the store; asked of the server only if the store has nothing of that name.

        That is so before the first list, out of the namespace, and for a service so new that its
        event is still under way. What the answer is stays out of the store, which has one writer.
        """
        found = self._informer.lister.get_or_none(f"{service.namespace}/{service.name}")
        if found is not None:
            self._counts.cached_reads += 1
            return instances_of(service, found)
        self._counts.asked_reads += 1
        try:
            found = await self._client.get(ENDPOINTS, service.name, namespace=service.namespace)
        except NotFoundError:
            return ()
        return instances_of(service, found)

    def add_listener(self, service: Service, listener: Listener) -> Subscription:
        """Tell this one of the service; at once, if the store is filled already."""
        if self._namespace not in ("", service.namespace):
            raise ValueError(
                f"{service} is not in {self._namespace}, which is all that is followed"
            )
        subscription = self._subscriptions.add(service, listener, lambda _: None)
        if self._informer.has_synced:
            subscription.offer(self._stored(service))
        return subscription

    async def start(self) -> None:
        """Begin; returns at once."""
        self._informer.start()
        if self._synced is None:
            self._synced = asyncio.create_task(self._tell_of_nothing())

    async def wait_synced(self) -> None:
        """Return when the first list is in the store."""
        await self._informer.wait_synced()

    async def stop(self) -> None:
        """End, and wait for it."""
        if self._synced is not None:
            self._synced.cancel()
            await asyncio.gather(self._synced, return_exceptions=True)
        await self._informer.stop()
        await self._subscriptions.clear()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    def statistics(self) -> DiscoveryStatistics:
        """A record of now."""
        listeners = self._subscriptions.all()
        return DiscoveryStatistics(
            len({each.service for each in listeners}), len(listeners), self._counts.events,
            self._informer.statistics().reflector.lists, self._counts.cached_reads,
            self._counts.asked_reads,
        )  # fmt: skip

    def informer_statistics(self) -> InformerStatistics:
        """What the informer behind it counts."""
        return self._informer.statistics()

    async def _tell_of_nothing(self) -> None:
        # No event comes of what is not there: who listens to it must learn that, too.
        await self._informer.wait_synced()
        for subscription in self._subscriptions.all():
            subscription.offer(self._stored(subscription.service))

    def _stored(self, service: Service) -> tuple[Instance, ...]:
        stored = self._informer.lister.get_or_none(f"{service.namespace}/{service.name}")
        return instances_of(service, stored)

    def _added(self, subject: JSONObject, is_in_initial_list: bool) -> None:
        self._changed(object_key(subject))

    def _updated(self, old: JSONObject, new: JSONObject) -> None:
        self._changed(object_key(new))

    def _deleted(self, gone: Deleted) -> None:
        self._changed(gone.key)

    def _changed(self, key: str) -> None:
        # From the store, never from the event: the object of a deletion still has its addresses,
        # and publishing them again is how consumers come to call the dead.
        self._counts.events += 1
        namespace, _, name = key.partition("/")
        service = Service(namespace, name)
        if self._subscriptions.wants(service):
            self._subscriptions.tell(service, self._stored(service))
