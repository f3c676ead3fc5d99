"""What a consumer sees of a discovery, whichever way it works.

Filled by `by_informer` and `by_watch`; tests and benchmarks run the same against both.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from listwatch.informer.client import Client
from listwatch.informer.list_watch import HTTPListerWatcher
from listwatch.informer.resources import ENDPOINTS
from listwatch.servicediscovery.instances import Instance, Service
from listwatch.servicediscovery.subscriptions import Listener, Subscription, Subscriptions


@dataclass(frozen=True, slots=True)
class DiscoveryStatistics:
    """A discovery at one moment; counts since it was made."""

    services: int  # with a listener
    listeners: int
    events: int  # changes told by the server, of services with a listener or not
    lists: int  # asked of the server to learn a state, after each event or at a start
    cached_reads: int  # answers of get_instances from memory
    asked_reads: int  # answers of get_instances that took a request


class ServiceDiscovery(Protocol):
    """The instances of services, and word of their changes. One event loop.

    Promises: a listener is told the state when it is added, and every state after it that lasts;
    the same list is not told twice in a row; none are told for a service that has gone; services
    of one name in two namespaces are two. After whatever happens to server or network the last
    state told is the server's.
    """

    async def get_instances(self, service: Service) -> tuple[Instance, ...]:
        """The instances of now; raises ApiError or TransportError if the server must be asked."""

    def add_listener(self, service: Service, listener: Listener) -> Subscription:
        """Tell this one of the service until its subscription is removed."""

    async def start(self) -> None:
        """Begin; returns at once. What was added before is told, too."""

    async def stop(self) -> None:
        """End, and wait for it: no listener runs any more."""

    def statistics(self) -> DiscoveryStatistics:
        """A record of now."""


@dataclass(slots=True)
class Counts:
    """The counters behind it."""

    events: int = 0
    lists: int = 0
    cached_reads: int = 0
    asked_reads: int = 0


class Discovery:
    """What both ways share: listeners, counters, and a life from `start` to `stop`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._subscriptions = Subscriptions()
        self._counts = Counts()
        self._started = False

    async def start(self) -> None:
        """Begin; returns at once."""
        raise NotImplementedError

    async def stop(self) -> None:
        """End, and wait for it."""
        raise NotImplementedError

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
        listeners, counts = self._subscriptions.all(), self._counts
        return DiscoveryStatistics(
            len({each.service for each in listeners}), len(listeners), counts.events,
            counts.lists + self._lists(), counts.cached_reads, counts.asked_reads,
        )  # fmt: skip

    def _lists(self) -> int:
        """Lists that others took in its name."""
        return 0

    def _source(self, service: Service | None, namespace: str = "") -> HTTPListerWatcher:
        """Endpoints of one service, or of all in a namespace."""
        if service is None:
            return HTTPListerWatcher(self._client, ENDPOINTS, namespace=namespace)
        return HTTPListerWatcher(
            self._client, ENDPOINTS, namespace=service.namespace,
            field_selector=f"metadata.name={service.name}",
        )  # fmt: skip
