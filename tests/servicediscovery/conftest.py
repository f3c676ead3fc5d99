"""Consumers and providers of the tests: each test has a namespace of its own on one server."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import pytest

from listwatch.informer import Client, ClientConfig, InformerOptions, ReflectorOptions
from listwatch.informer.backoff import BackoffPolicy
from listwatch.informer.resources import NAMESPACES
from listwatch.servicediscovery import (
    InformerDiscovery,
    Instance,
    Registrar,
    Service,
    ServiceDiscovery,
    ServiceInstancesChangedEvent,
    WatchDiscovery,
)
from tests.informer.proxy import Proxy, proxied
from tests.servers import Server

Discover = Callable[[Client], ServiceDiscovery]
QUICK = BackoffPolicy(initial=0.05, cap=0.2)
_numbers = itertools.count(1)


@dataclass
class Shop:
    """A namespace, who provides in it, and what goes between consumers and the server."""

    service: Service
    client: Client  # straight to the server, for providers
    consumer: Client  # through the proxy
    proxy: Proxy
    registrar: Registrar

    def at(self, host: str, **metadata: str) -> Instance:
        return Instance(self.service, host, 20880, "dubbo", metadata)


@dataclass
class Told:
    """A listener that keeps what it is told."""

    events: list[ServiceInstancesChangedEvent] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, event: ServiceInstancesChangedEvent) -> None:
        self.events.append(event)
        self.changed.set()

    @property
    def hosts(self) -> list[str]:
        """Of the last event."""
        return [each.host for each in self.events[-1].instances] if self.events else ["never told"]

    async def until(self, *hosts: str) -> None:
        """Wait until these are the hosts that it was told last."""
        try:
            async with asyncio.timeout(20):
                while self.hosts != list(hosts):
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise AssertionError(f"expected {hosts}, was told {self.hosts}") from None


@pytest.fixture(scope="module")
def proxy(server: Server) -> Iterator[Proxy]:
    with proxied(server.port) as made:
        yield made


@pytest.fixture(scope="module")
def token(server: Server) -> str:
    return server.token


@pytest.fixture
async def shop(server: Server, proxy: Proxy, token: str) -> AsyncIterator[Shop]:
    namespace = f"discovery-{next(_numbers)}"
    async with (
        Client(ClientConfig(server.url, token=token)) as client,
        Client(ClientConfig(proxy.url, token=token)) as consumer,
    ):
        await client.create(NAMESPACES, {"metadata": {"name": namespace}})
        yield Shop(Service(namespace, "shop"), client, consumer, proxy, Registrar(client))
        await client.delete(NAMESPACES, namespace)


def by_informer(client: Client) -> InformerDiscovery:
    options = InformerOptions(reflector=ReflectorOptions(backoff=QUICK))
    return InformerDiscovery(client, options=options)


def by_informers(client: Client) -> InformerDiscovery:
    options = InformerOptions(reflector=ReflectorOptions(backoff=QUICK))
    return InformerDiscovery(client, each_service=True, options=options)


def by_watch(client: Client) -> WatchDiscovery:
    return WatchDiscovery(client, backoff=QUICK)


@pytest.fixture(
    params=[by_informer, by_informers, by_watch], ids=["informer", "informers", "watch"]
)
async def discovery(request: pytest.FixtureRequest, shop: Shop) -> AsyncIterator[ServiceDiscovery]:
    """Each of them, started."""
    made: ServiceDiscovery = request.param(shop.consumer)
    await made.start()
    yield made
    await made.stop()
