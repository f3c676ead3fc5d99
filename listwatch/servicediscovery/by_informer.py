"""Discovery by informer: one watch for all services, answers from memory.

An informer of `listwatch.informer` keeps the Endpoints; its handler tells `subscriptions`.
"""

from __future__ import annotations

import asyncio

from listwatch.informer.client import Client
from listwatch.informer.errors import NotFoundError
from listwatch.informer.handlers import HandlerOptions
from listwatch.informer.objects import Deleted, JSONObject, object_key
from listwatch.informer.resources import ENDPOINTS
from listwatch.informer.shared_informer import (
    InformerOptions,
    InformerStatistics,
    SharedIndexInformer,
)
from listwatch.servicediscovery.discovery import Discovery
from listwatch.servicediscovery.instances import Instance, Service, instances_of
from listwatch.servicediscovery.subscriptions import Listener, Subscription


class InformerDiscovery(Discovery):
    """A ServiceDiscovery that asks for a list once and hears the rest by one watch.

    `namespace` bounds what it caches; '' caches all. Services out of it cannot be listened to.
    With `each_service` it has an informer for each service that is listened to, and hears of no
    other: less to receive for who needs few of many, and more watches for who needs most.
    """

    def __init__(
        self,
        client: Client,
        *,
        namespace: str = "",
        each_service: bool = False,
        options: InformerOptions | None = None,
    ) -> None:
        super().__init__(client)
        self._namespace = namespace
        self._each_service = each_service
        self._options = options
        self._informers: dict[Service | None, SharedIndexInformer] = {}  # None: of all
        self._tasks: set[asyncio.Task[None]] = set()
        if not each_service:
            self._follow(None)

    async def get_instances(self, service: Service) -> tuple[Instance, ...]:
        """From the store; asked of the server only if the store has nothing of that name.

        That is so before the first list, out of the namespace, and for a service so new that its
        event is still under way. What the answer is stays out of the store, which has one writer.
        """
        found = self._stored(service)
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
        if self._each_service and service not in self._informers:
            self._follow(service)
        subscription = self._subscriptions.add(service, listener, self._emptied)
        if self._informers[self._scope_of(service)].has_synced:
            subscription.offer(instances_of(service, self._stored(service)))
        return subscription

    async def start(self) -> None:
        """Begin; returns at once."""
        self._started = True
        for informer in self._informers.values():
            self._run(informer)

    async def wait_synced(self) -> None:
        """Return when the first lists are in the store."""
        await asyncio.gather(*(each.wait_synced() for each in self._informers.values()))

    async def stop(self) -> None:
        """End, and wait for it."""
        self._started = False
        informers = list(self._informers.values())
        await asyncio.gather(*(each.stop() for each in informers))
        await self._subscriptions.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def informer_statistics(self) -> tuple[InformerStatistics, ...]:
        """What the informers behind it count."""
        return tuple(each.statistics() for each in self._informers.values())

    def _lists(self) -> int:
        return sum(each.reflector.lists for each in self.informer_statistics())

    def _scope_of(self, service: Service) -> Service | None:
        return service if self._each_service else None

    def _follow(self, service: Service | None) -> None:
        informer = SharedIndexInformer(
            self._source(service, self._namespace),
            resource=ENDPOINTS, options=self._options, clock=self._client.clock,
        )  # fmt: skip
        # A state in between is of no use to whoever routes requests.
        informer.add_handler(
            on_add=self._added, on_update=self._updated, on_delete=self._deleted,
            options=HandlerOptions("service discovery", policy="coalesce"),
        )  # fmt: skip
        self._informers[service] = informer
        if self._started:
            self._run(informer)

    def _run(self, informer: SharedIndexInformer) -> None:
        if not informer.starting:
            informer.start()
            self._keep(asyncio.create_task(self._tell_of_nothing(informer)))

    def _emptied(self, service: Service) -> None:
        informer = self._informers.pop(service, None)
        if informer is not None:
            self._keep(asyncio.create_task(informer.stop()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell_of_nothing(self, informer: SharedIndexInformer) -> None:
        # No event comes of what is not there: who listens to it must learn that, too.
        await informer.wait_synced()
        for subscription in self._subscriptions.all():
            service = subscription.service
            if self._informers.get(self._scope_of(service)) is informer:
                subscription.offer(instances_of(service, self._stored(service)))

    def _stored(self, service: Service) -> JSONObject | None:
        informer = self._informers.get(self._scope_of(service))
        if informer is None:
            return None
        return informer.lister.get_or_none(f"{service.namespace}/{service.name}")

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
            self._subscriptions.tell(service, instances_of(service, self._stored(service)))
