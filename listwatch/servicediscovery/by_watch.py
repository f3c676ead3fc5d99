"""Discovery by bare watch, the old way: a watch for each service, and a list for each event.

Kept to be compared with `by_informer`, and made as sound as the way allows: it lists before it
watches, from that list's version, and again after whatever ended the watch. Tells `subscriptions`.
"""

from __future__ import annotations

import asyncio
import logging
from random import Random

from listwatch.informer.backoff import Backoff, BackoffPolicy
from listwatch.informer.client import Client
from listwatch.informer.errors import ApiError, TransportError, api_error
from listwatch.informer.list_watch import HTTPListerWatcher, ListQuery, WatchQuery
from listwatch.informer.waiting import watchdog
from listwatch.protocol.events import EventType
from listwatch.servicediscovery.discovery import Discovery
from listwatch.servicediscovery.instances import Instance, Service, instances_of
from listwatch.servicediscovery.subscriptions import Listener, Subscription

logger = logging.getLogger(__name__)

WATCH_SECONDS = 300
SHORT_SECONDS = 1.0  # a watch that ends sooner is the sign of a dying server
IDLE_SECONDS = 75.0  # bookmarks come each minute: what is silent for longer is dead


class WatchDiscovery(Discovery):
    """A ServiceDiscovery that keeps nothing: each answer and each event is a list of one object.

    The original takes a GET of Endpoints, a GET of the Service and a list of Pods each time, and
    three watches for each service; one of each is the least that this way can do with.
    """

    def __init__(self, client: Client, *, backoff: BackoffPolicy | None = None) -> None:
        super().__init__(client)
        self._policy = backoff or BackoffPolicy()
        self._watches: dict[Service, asyncio.Task[None]] = {}
        self._ended: set[asyncio.Task[None]] = set()

    async def get_instances(self, service: Service) -> tuple[Instance, ...]:
        """Asked of the server."""
        self._counts.asked_reads += 1
        return (await self._list(service, self._source(service)))[0]

    def add_listener(self, service: Service, listener: Listener) -> Subscription:
        """Tell this one of the service: a list and a watch for it, unless there is one."""
        subscription = self._subscriptions.add(service, listener, self._emptied)
        if self._started:
            self._follow_again(service)
        return subscription

    async def start(self) -> None:
        """Begin; returns at once."""
        self._started = True
        for service in {each.service for each in self._subscriptions.all()}:
            self._follow_again(service)

    async def stop(self) -> None:
        """End, and wait for it."""
        self._started = False
        await self._subscriptions.clear()
        await asyncio.gather(*self._ended, return_exceptions=True)

    def _follow_again(self, service: Service) -> None:
        # A late listener learns the state by a list, as it must: nothing is kept.
        self._emptied(service)
        task = asyncio.create_task(self._follow(service), name=f"watch of {service}")
        self._watches[service] = task

    def _emptied(self, service: Service) -> None:
        task = self._watches.pop(service, None)
        if task is not None:
            task.cancel()
            self._ended.add(task)
            task.add_done_callback(self._ended.discard)

    async def _follow(self, service: Service) -> None:
        random = Random()  # noqa: S311 -- spreads load, guards nothing
        clock = self._client.clock
        backoff = Backoff(self._policy, clock, random)
        source = self._source(service)
        while True:
            try:
                instances, version = await self._list(service, source)
                self._subscriptions.tell(service, instances)
                begun = clock.monotonic()
                await self._watch(service, source, version)
                if clock.monotonic() - begun < SHORT_SECONDS:
                    raise TransportError("the watch ended at once")
                backoff.reset()
            except (ApiError, TransportError, TimeoutError) as error:
                # Whatever it was, a list will tell the truth. The original ends here for ever.
                logger.info("%s: lists again after %s", service, error)
                await clock.sleep(backoff.next())

    async def _watch(self, service: Service, source: HTTPListerWatcher, version: str) -> None:
        clock, query = self._client.clock, WatchQuery(version, timeout_seconds=WATCH_SECONDS)
        async with watchdog(clock, IDLE_SECONDS):  # whoever does not even begin is dead, too
            stream = await source.watch(query)
        try:
            async with watchdog(clock, IDLE_SECONDS) as dog:
                async for event in stream:
                    dog.heard()
                    if event.type == EventType.ERROR:
                        raise api_error(event.object)
                    if event.type == EventType.BOOKMARK:
                        continue
                    self._counts.events += 1
                    self._subscriptions.tell(service, (await self._list(service, source))[0])
        finally:
            await stream.close()

    async def _list(
        self, service: Service, source: HTTPListerWatcher
    ) -> tuple[tuple[Instance, ...], str]:
        self._counts.lists += 1
        page = await source.list(ListQuery())
        found = page.items[0] if page.items else None
        return instances_of(service, found), page.resource_version
