"""The load under which the dashboard is measured: many watchers, and a steady stream of writes.

Clients are bare sockets: what reads a thousand streams must not be what the machine is busy with.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
import time
from typing import Self

from tests.servers import Server

SELECTORS = 100  # that the watchers share: an event is due to a hundredth of them
WRITERS = 8  # connections that write
PER_OBJECT = 10  # objects of each selector
TIMED = re.compile(rb'"wrote":"([0-9.]+)"')

PATH = "/api/v1/namespaces/default/configmaps"


class Load:
    """Watchers and writers of one server, from `async with` until its end.

    `latencies` grows by one for every event that a watcher hears, in seconds since before the
    write was sent; `written` counts the answers.
    """

    def __init__(self, server: Server, *, watchers: int, rate: float) -> None:
        self._server = server
        self._watchers = watchers
        self.rate = rate
        self._tasks: list[asyncio.Task[None]] = []
        self._numbers = itertools.count()
        self._begun = asyncio.Semaphore(0)  # one for each watch that is open
        self.latencies: list[float] = []
        self.written = 0

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._watch(number)) for number in range(self._watchers)]
        for _ in range(self._watchers):
            await self._begun.acquire()
        self._tasks += [asyncio.create_task(self._write()) for _ in range(WRITERS)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _watch(self, number: int) -> None:
        reader, writer = await self._connect()
        selector = f"labelSelector=group%3Dg{number % SELECTORS}"
        agent = f"bench-{number % 37}/v1"
        writer.write(self._request("GET", f"{PATH}?watch=true&{selector}", agent=agent))
        await reader.readuntil(b"\r\n\r\n")
        self._begun.release()
        while data := await reader.read(65536):
            now = time.time()
            self.latencies += [now - float(wrote) for wrote in TIMED.findall(data)]

    async def _write(self) -> None:
        reader, writer = await self._connect()
        there: set[str] = set()
        chance = random.Random(len(self._tasks))
        due = time.monotonic()
        me = next(self._numbers)
        while True:
            due = max(due + WRITERS / self.rate, time.monotonic() - 1)
            await asyncio.sleep(max(due - time.monotonic(), 0))
            group = chance.randrange(SELECTORS)
            name = f"bench-{me}-{group}-{chance.randrange(PER_OBJECT)}"
            body = json.dumps({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "labels": {"group": f"g{group}"}},
                "data": {"wrote": f"{time.time():.6f}", "padding": "x" * 800},
            }).encode()  # fmt: skip
            method, path = ("PUT", f"{PATH}/{name}") if name in there else ("POST", PATH)
            there.add(name)
            writer.write(self._request(method, path, body=body) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            self.written += 1

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._server.port)

    def _request(self, method: str, path: str, *, body: bytes = b"", agent: str = "bench") -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: {agent}\r\n"
            f"Authorization: Bearer {self._server.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
