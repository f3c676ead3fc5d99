"""Delay, requests and bytes of the three ways, as clients and changes grow.

Everything runs in one event loop against a server elsewhere: writers and clients share a clock, so
delays are exact, and the processor, so at the greatest numbers they are this process's own as much
as the server's. Records go to `manage.py compare` and to the dashboard.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random

from listwatch.informer.client import Client
from listwatch.informer.client_config import ClientConfig
from listwatch.informer.list_watch import HTTPListerWatcher
from listwatch.informer.objects import JSONObject
from listwatch.informer.resources import CONFIG_MAPS, NAMESPACES
from listwatch.informer.three_ways.ways import WAYS, Asking
from listwatch.protocol.clock import Clock, SystemClock

LABEL = "listwatch.example/three-ways"
NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure: every way with every number of clients at every rate."""

    ways: Sequence[str] = tuple(WAYS)
    clients: Sequence[int] = (1, 10, 100)
    rates: Sequence[float] = (1.0, 10.0)  # changes a second
    changes: int = 30  # of each run
    objects: int = 100  # that there are, and a poll lists
    interval: float = 1.0  # seconds between two polls of a client
    payload: int = 500  # bytes of each object

    def __post_init__(self) -> None:
        unknown = set(self.ways) - set(WAYS)
        if unknown:
            raise ValueError(f"no such way: {', '.join(sorted(unknown))}")
        if min(self.changes, self.objects, self.payload, *self.clients) < 1:
            raise ValueError("clients, changes, objects and payload are at least 1")
        if min(self.interval, *self.rates) <= 0:
            raise ValueError("rates and the interval are more than 0")


@dataclass(frozen=True, slots=True)
class Record:
    """One way with so many clients at one rate, and what it cost all clients together.

    Requests and bytes are those of the run, its first lists left out. Bytes are those of bodies,
    before compression. A delay is from the start of a write until a client has that state or one
    after it; `unseen` counts the states that a client never had.
    """

    way: str
    clients: int
    rate: float
    changes: int
    seconds: float
    requests: int
    received: int  # bytes
    delay_median: float  # seconds, of all clients and changes
    delay_p99: float
    delay_most: float
    unseen: int  # of clients times changes

    @property
    def requests_per_change(self) -> float:
        """Of one client."""
        return self.requests / self.changes / self.clients

    @property
    def bytes_per_change(self) -> float:
        """Of one client."""
        return self.received / self.changes / self.clients


async def measure(
    config: ClientConfig,
    options: Options,
    *,
    clock: Clock | None = None,
    random: Random | None = None,
) -> AsyncIterator[Record]:
    """A record for each combination, as they come; works in a namespace that it makes and removes.

    Raises ApiError or TransportError if the server refuses.
    """
    clock = clock or SystemClock()
    namespace = f"three-ways-{secrets.token_hex(4)}"
    async with Client(config, clock=clock) as client:
        await client.create(NAMESPACES, {"metadata": {"name": namespace}})
        try:
            writer = _Writer(client, namespace, options, clock)
            writer.random = random or writer.random
            await writer.prepare()
            for rate in options.rates:
                for clients in options.clients:
                    for way in options.ways:
                        run = _Run(config, writer, way, clients)
                        yield await run.measured(rate)
        finally:
            await client.delete(NAMESPACES, namespace)


class _Writer:
    """Changes one object after the other, each time to the next number."""

    def __init__(self, client: Client, namespace: str, options: Options, clock: Clock) -> None:
        self.client = client
        self.namespace = namespace
        self.options = options
        self.clock = clock
        self.random = Random()  # noqa: S311 -- spreads writes, guards nothing
        self.written: dict[int, float] = {}  # number, when its write began
        self.objects: dict[int, str] = {}  # number, name of the object
        self._next = 1

    async def prepare(self) -> None:
        text = "x" * self.options.payload
        for number in range(self.options.objects):
            metadata = {
                "name": _name(number),
                "namespace": self.namespace,
                "labels": {LABEL: "yes"},
            }
            subject = {"metadata": metadata, "data": {NUMBER: "0", "text": text}}
            await self.client.create(CONFIG_MAPS, subject)

    async def write(self, rate: float) -> list[int]:
        """So many changes at about this rate; returns their numbers. None is made up for."""
        numbers = []
        for _ in range(self.options.changes):
            begun = self.clock.monotonic()
            number, self._next = self._next, self._next + 1
            name = _name(number % self.options.objects)
            self.written[number] = begun
            self.objects[number] = name
            numbers.append(number)
            patch = {"data": {NUMBER: str(number)}}
            await self.client.patch(CONFIG_MAPS, name, patch, namespace=self.namespace)
            # Uneven, or writer and pollers would keep step, and each poll come right after a write.
            gap = self.random.uniform(0.5, 1.5) / rate
            await self.clock.sleep(max(0.0, begun + gap - self.clock.monotonic()))
        return numbers


@dataclass(slots=True)
class _Follower:
    """One client: what number it has of each object, and when it first had each."""

    clock: Clock
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    numbers: dict[str, int] = field(default_factory=dict)
    seen: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def saw(self, subject: JSONObject) -> None:
        if LABEL not in (subject["metadata"].get("labels") or {}):
            return
        name, number = subject["metadata"]["name"], int(subject["data"][NUMBER])
        if number > self.numbers.get(name, -1):
            self.numbers[name] = number
            self.seen.setdefault(name, []).append((number, self.clock.monotonic()))
            self.changed.set()

    async def until(self, wanted: dict[str, int]) -> None:
        while any(self.numbers.get(name, -1) < number for name, number in wanted.items()):
            self.changed.clear()
            await self.changed.wait()


class _Run:
    """One way, with so many clients, each with connections of its own."""

    def __init__(self, config: ClientConfig, writer: _Writer, way: str, clients: int) -> None:
        self._config = config
        self._writer = writer
        self._way = way
        self._clients: list[Client] = []
        self._followers = [_Follower(writer.clock) for _ in range(clients)]

    async def measured(self, rate: float) -> Record:
        clock = self._writer.clock
        async with AsyncExitStack() as stack:
            tasks = []
            for follower in self._followers:
                client = await stack.enter_async_context(Client(self._config, clock=clock))
                self._clients.append(client)
                tasks.append(asyncio.create_task(self._follow(client, follower)))
            working = asyncio.create_task(self._work(rate))
            try:
                # A client that fails ends the run: its numbers would be of nothing.
                await asyncio.wait([working, *tasks], return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    if task.done():
                        task.result()
                return await working
            finally:
                working.cancel()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(working, *tasks, return_exceptions=True)

    async def _follow(self, client: Client, follower: _Follower) -> None:
        source = HTTPListerWatcher(client, CONFIG_MAPS, namespace=self._writer.namespace)
        interval = self._writer.options.interval
        phase = self._writer.random.random() * interval
        await WAYS[self._way](
            Asking(source, follower.saw, follower.ready, self._writer.clock, interval, phase)
        )

    async def _work(self, rate: float) -> Record:
        clock = self._writer.clock
        for follower in self._followers:
            await follower.ready.wait()
        requests, received = self._traffic()
        begun = clock.monotonic()
        numbers = await self._writer.write(rate)
        last = {self._writer.objects[number]: number for number in numbers}
        for follower in self._followers:
            await follower.until(last)
        seconds = clock.monotonic() - begun
        after, bytes_after = self._traffic()
        delays, unseen = self._delays(numbers)
        return Record(
            self._way, len(self._followers), rate, len(numbers), seconds,
            after - requests, bytes_after - received,
            _quantile(delays, 0.5), _quantile(delays, 0.99), delays[-1], unseen,
        )  # fmt: skip

    def _traffic(self) -> tuple[int, int]:
        all_of = [client.statistics() for client in self._clients]
        requests = sum(each.requests + each.streams for each in all_of)
        return requests, sum(each.bytes_received for each in all_of)

    def _delays(self, numbers: list[int]) -> tuple[list[float], int]:
        delays, unseen = [], 0
        for follower in self._followers:
            for number in numbers:
                states = follower.seen[self._writer.objects[number]]
                had, when = next(state for state in states if state[0] >= number)
                delays.append(when - self._writer.written[number])
                unseen += had != number
        return sorted(delays), unseen


def _name(number: int) -> str:
    return f"object-{number:05}"


def _quantile(values: list[float], part: float) -> float:
    return values[min(int(len(values) * part), len(values) - 1)]
