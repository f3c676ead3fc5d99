"""The two discoveries beside each other: requests, bytes and delays for 1, 100 and 1,000 consumers.

    python -m tests.benchmarks.bench_servicediscovery > table.md

A server of its own, ten services of five instances, and consumers that listen to two services
each, with connections of their own. They share this process, so at a thousand much of a delay is
its own; requests, bytes and the server's processor time are what they are.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from listwatch.informer import Client, ClientConfig
from listwatch.servicediscovery import (
    InformerDiscovery,
    Instance,
    Registrar,
    Service,
    ServiceDiscovery,
    ServiceInstancesChangedEvent,
    WatchDiscovery,
)
from tests.servers import Server, running

NAMESPACE = "default"
SERVICES = [Service(NAMESPACE, f"service-{number}") for number in range(10)]
EACH = 2  # services that a consumer listens to
WAYS = ("bare watch", "informer of each service", "informer of the namespace")
READS = 2000  # of get_instances, by all consumers together
HEAD = (
    "consumers", "way", "requests at the start", "requests a change", "KiB a change",
    "delay ms", "p99", "get_instances ms", "server CPU ms a change",
)  # fmt: skip


def instance(service: Service, number: int, revision: int = 0) -> Instance:
    metadata = {"dubbo.metadata.revision": str(revision), "version": "1.0.0", "side": "provider"}
    return Instance(service, f"192.0.2.{number}", 20880, "dubbo", metadata)


@dataclass
class Consumer:
    """Knows of each of its services which revision it was told last, and when."""

    discovery: ServiceDiscovery
    client: Client
    services: list[Service]
    revisions: dict[Service, int] = field(default_factory=dict)
    when: dict[Service, float] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, event: ServiceInstancesChangedEvent) -> None:
        revisions = [int(each.metadata["dubbo.metadata.revision"]) for each in event.instances]
        self.revisions[event.service] = max(revisions, default=-1)
        self.when[event.service] = time.monotonic()
        self.changed.set()

    async def until(self, service: Service, revision: int) -> float:
        while self.revisions.get(service, -1) < revision:
            self.changed.clear()
            await self.changed.wait()
        return self.when[service]


def discovery(way: str, client: Client) -> ServiceDiscovery:
    if way == WAYS[0]:
        return WatchDiscovery(client)
    return InformerDiscovery(client, namespace=NAMESPACE, each_service=way == WAYS[1])


def traffic(consumers: Sequence[Consumer]) -> tuple[int, int]:
    """Requests and bytes so far."""
    counts = [each.client.statistics() for each in consumers]
    requests = sum(each.requests + each.streams for each in counts)
    return requests, sum(each.bytes_received for each in counts)


def quantile(values: list[float], part: float) -> float:
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


async def measure(server: Server, way: str, number: int, changes: int) -> list[str]:
    config = ClientConfig(server.url, token=server.token)
    async with AsyncExitStack() as stack:
        registrar = Registrar(await stack.enter_async_context(Client(config)))
        for service in SERVICES:
            for each in range(1, 6):
                await registrar.register(instance(service, each))
        consumers = []
        for each in range(number):
            client = await stack.enter_async_context(Client(config))
            services = [SERVICES[(each + more) % len(SERVICES)] for more in range(EACH)]
            consumer = Consumer(discovery(way, client), client, services)
            for service in services:
                consumer.discovery.add_listener(service, consumer)
            consumers.append(consumer)
            await consumer.discovery.start()
            stack.push_async_callback(consumer.discovery.stop)
        for consumer in consumers:
            for service in consumer.services:
                await consumer.until(service, 0)
        await asyncio.sleep(1.0)  # watches that are being opened
        gc.collect()
        gc.freeze()  # a thousand informers are many objects to look through
        begun = traffic(consumers)
        cpu = server.processor_seconds()
        delays: list[float] = []
        for change in range(1, changes + 1):
            service = SERVICES[change % len(SERVICES)]
            at = time.monotonic()
            await registrar.register(instance(service, 1, revision=change))
            told = [each for each in consumers if service in each.services]
            delays += [await each.until(service, change) - at for each in told]
        await asyncio.sleep(0.5)
        ended = traffic(consumers)
        cpu = server.processor_seconds() - cpu
        gc.unfreeze()
        reads = [await timed(each, read) for each, read in spread(consumers)]
        for service in SERVICES:
            for each in range(1, 6):
                await registrar.unregister(instance(service, each))
        return [
            f"{number:,}", way, f"{begun[0]:,}", f"{(ended[0] - begun[0]) / changes:,.1f}",
            f"{(ended[1] - begun[1]) / changes / 1024:,.1f}",
            # One consumer hears of two changes in ten only.
            *(f"{quantile(delays or [0.0], part) * 1000:,.1f}" for part in (0.5, 0.99)),
            f"{quantile(reads, 0.5) * 1000:,.3f}", f"{cpu / changes * 1000:,.1f}",
        ]  # fmt: skip


def spread(consumers: Sequence[Consumer]) -> Iterator[tuple[Consumer, Service]]:
    for read in range(READS):
        consumer = consumers[read % len(consumers)]
        yield consumer, consumer.services[read % EACH]


async def timed(consumer: Consumer, service: Service) -> float:
    begun = time.perf_counter()
    assert len(await consumer.discovery.get_instances(service)) == 5
    return time.perf_counter() - begun


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Service discovery by informer and by bare watch.")
    parser.add_argument("--consumers", default="1,100,1000")
    parser.add_argument("--changes", type=int, default=20)
    given = parser.parse_args(arguments)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print("| " + " | ".join(HEAD) + " |")
    print("| ---: | --- |" + " ---: |" * (len(HEAD) - 2))
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), "--no-controllers") as server,
    ):
        for number in (int(each) for each in given.consumers.split(",")):
            for way in WAYS:
                row = asyncio.run(measure(server, way, number, given.changes))
                print("| " + " | ".join(row) + " |", flush=True)
                print(*row, file=sys.stderr)


if __name__ == "__main__":
    main()
