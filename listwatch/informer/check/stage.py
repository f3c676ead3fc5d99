"""What scenarios share: a namespace on the server, short verbs, and what a verdict is.

Used by `protocol` and `informers`, set up by `__main__`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from listwatch.informer.client import Client
from listwatch.informer.list_watch import (
    HTTPListerWatcher,
    ListQuery,
    WatchEvent,
    WatchQuery,
    WatchStream,
)
from listwatch.informer.objects import JSONObject
from listwatch.informer.resources import CONFIG_MAPS
from listwatch.protocol.clock import Clock

PATIENCE = 15.0  # seconds in which a server must have said what it has to say


class CheckFailedError(Exception):
    """The server did not do what it should; the text says what it did."""


class CheckSkippedError(Exception):
    """This server cannot be asked that; the text says why."""


def require(holds: object, why: str) -> None:
    """Fail the scenario unless this holds."""
    if not holds:
        raise CheckFailedError(why)


@dataclass(frozen=True, slots=True)
class Stage:
    """A namespace of the check's own, in which configmaps come and go."""

    client: Client
    namespace: str
    clock: Clock
    random: Random

    def source(self, label_selector: str = "") -> HTTPListerWatcher:
        """Lists and watches the configmaps of the namespace."""
        return HTTPListerWatcher(
            self.client, CONFIG_MAPS, namespace=self.namespace, label_selector=label_selector
        )

    async def create(self, name: str, **labels: str) -> JSONObject:
        """A configmap."""
        metadata = {"name": name, "namespace": self.namespace, "labels": labels}
        return await self.client.create(CONFIG_MAPS, {"metadata": metadata, "data": {"n": "0"}})

    async def change(self, name: str, **labels: str) -> JSONObject:
        """The same, changed."""
        patch: Any = {"data": {"n": str(self.random.random())}}  # Any: a JSON value
        if labels:
            patch["metadata"] = {"labels": labels}
        return await self.client.patch(CONFIG_MAPS, name, patch, namespace=self.namespace)

    async def delete(self, name: str) -> None:
        """Gone."""
        await self.client.delete(CONFIG_MAPS, name, namespace=self.namespace)

    async def clear(self) -> None:
        """No configmaps but those that the cluster itself puts there."""
        await self.client.delete_collection(CONFIG_MAPS, namespace=self.namespace)

    async def version(self) -> str:
        """The resourceVersion of now."""
        return (await self.source().list(ListQuery())).resource_version

    async def events(self, query: WatchQuery, count: int, selector: str = "") -> list[WatchEvent]:
        """The first events of a watch, bookmarks left out unless it begins with the state."""
        stream = await self.source(selector).watch(query)
        try:
            return await self.take(stream, count, bookmarks=query.initial_events)
        finally:
            await stream.close()

    async def take(
        self, stream: WatchStream, count: int, *, bookmarks: bool = False
    ) -> list[WatchEvent]:
        """So many events of an open watch; fails if they do not come."""
        found: list[WatchEvent] = []
        try:
            async with asyncio.timeout(PATIENCE):
                async for event in stream:
                    if event.type != "BOOKMARK" or bookmarks:
                        found.append(event)
                    if len(found) == count:
                        return found
        except TimeoutError:
            pass
        raise CheckFailedError(f"{count} events were due, {len(found)} came")

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until this holds; fails with `what` if it does not in time."""
        end = self.clock.monotonic() + PATIENCE
        while not condition():
            if self.clock.monotonic() > end:
                raise CheckFailedError(what)
            await self.clock.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One promise, and how it is put to the test."""

    title: str
    run: Callable[[Stage], Awaitable[None]]


SCENARIOS: list[Scenario] = []


def scenario(title: str) -> Callable[[Callable[[Stage], Awaitable[None]]], Any]:
    """Take a function among the scenarios."""

    def take(run: Callable[[Stage], Awaitable[None]]) -> Any:  # Any: the function as it was
        SCENARIOS.append(Scenario(title, run))
        return run

    return take
