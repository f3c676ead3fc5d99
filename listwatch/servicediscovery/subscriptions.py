"""Who listens to which service, and what each was told last.

Both discoveries tell it what they know; it tells the listeners, who route requests by it.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from listwatch.servicediscovery.instances import Instance, Service

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServiceInstancesChangedEvent:
    """All instances that a service has now; none, if it has gone."""

    service: Service
    instances: tuple[Instance, ...]


Listener = Callable[[ServiceInstancesChangedEvent], Awaitable[None] | None]


class Subscription:
    """One listener of one service, served by a task of its own; `remove` ends it.

    What a listener is told is the newest state whenever it is ready for one: a slow one skips
    states, but never the last. One that raises is told the next state all the same.
    """

    def __init__(
        self, service: Service, listener: Listener, remove: Callable[[Subscription], None]
    ) -> None:
        self.service = service
        self.events = 0  # told
        self._listener = listener
        self._remove = remove
        self._newest: tuple[Instance, ...] | None = None
        self._told: tuple[Instance, ...] | None = None
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._serve(), name=f"listener of {service}")

    def remove(self) -> None:
        """Tell it no more; also from the listener itself."""
        self._remove(self)
        if self._task is not asyncio.current_task():
            self._task.cancel()

    def offer(self, instances: tuple[Instance, ...]) -> None:
        """This is the state now."""
        # No compare-and-set on a time: what is offered last wins, and nobody's loss is dropped.
        self._newest = instances
        self._changed.set()

    async def wait(self) -> None:
        """Return when its task has ended; after `remove`."""
        if self._task is not asyncio.current_task():
            await asyncio.gather(self._task, return_exceptions=True)

    async def _serve(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            newest = self._newest
            if newest is None or newest == self._told:
                continue
            self._told = newest
            self.events += 1
            try:
                answer = self._listener(ServiceInstancesChangedEvent(self.service, newest))
                if inspect.isawaitable(answer):
                    await answer
            except Exception:
                logger.exception("a listener of %s failed", self.service)


class Subscriptions:
    """All listeners of one discovery, by the whole name of their service."""

    def __init__(self) -> None:
        self._by_service: dict[Service, list[Subscription]] = {}

    def add(
        self, service: Service, listener: Listener, emptied: Callable[[Service], None]
    ) -> Subscription:
        """One more listener; `emptied` is called when the last one of a service goes."""

        def remove(subscription: Subscription) -> None:
            those = self._by_service.get(service, [])
            if subscription in those:
                those.remove(subscription)
                if not those:
                    del self._by_service[service]
                    emptied(service)

        subscription = Subscription(service, listener, remove)
        self._by_service.setdefault(service, []).append(subscription)
        return subscription

    def tell(self, service: Service, instances: tuple[Instance, ...]) -> None:
        """This is the state of a service now."""
        for subscription in self._by_service.get(service, ()):
            subscription.offer(instances)

    def wants(self, service: Service) -> bool:
        """Whether anybody listens."""
        return service in self._by_service

    def all(self) -> list[Subscription]:
        """Everybody who listens."""
        return [each for those in self._by_service.values() for each in those]

    async def clear(self) -> None:
        """Nobody listens any more; returns when no listener runs."""
        gone = self.all()
        for subscription in gone:
            subscription.remove()
        await asyncio.gather(*(each.wait() for each in gone))
