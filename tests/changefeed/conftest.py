"""A store and caches that the pump connects, on the real database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from listwatch.changefeed.history import LogHistory
from listwatch.changefeed.pump import Pump
from listwatch.protocol.clock import SystemClock
from listwatch.protocol.kinds import GroupResource, Resource
from listwatch.protocol.objects import encode
from listwatch.protocol.versions import Change
from listwatch.store.group_commit import GroupCommitter
from listwatch.store.operations import Create, Delete, Update
from listwatch.store.readers import Readers
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress

CONFIGMAPS = GroupResource("", "configmaps")


def nothing_served(_: GroupResource) -> Resource | None:
    return None


def document(name: str, **labels: str) -> dict[str, object]:
    metadata = {"name": name, "namespace": "blue", "labels": labels}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}


@dataclass
class Feed:
    """Store, pump and caches of one process."""

    committer: GroupCommitter
    readers: Readers
    caches: Caches
    pump: Pump

    async def create(self, name: str, **labels: str) -> Change:
        encoded = encode(document(name, **labels))
        return await self.committer.submit(Create(CONFIGMAPS, "blue", name, name, encoded))

    async def update(self, name: str, expected: int, **labels: str) -> Change:
        encoded = encode(document(name, **labels))
        return await self.committer.submit(Update(CONFIGMAPS, "blue", name, expected, encoded))

    async def delete(self, name: str, expected: int) -> Change:
        encoded = encode(document(name))
        return await self.committer.submit(Delete(CONFIGMAPS, "blue", name, expected, encoded))

    async def reached(self, revision: int) -> None:
        await self.caches.progress.wait_until(revision, 5.0)

    @property
    def names(self) -> dict[str, int]:
        from listwatch.watchcache.requests import ListRequest

        listed = self.caches.cacher(CONFIGMAPS).list(ListRequest())
        return {version.name: version.revision for version in listed.versions}


def made_feed() -> Feed:
    clock = SystemClock()
    readers = Readers()
    caches = Caches(
        Progress(clock), history=LogHistory(readers, nothing_served), clock=clock,
        options=CacheOptions(),
    )  # fmt: skip
    pump = Pump(caches, readers, nothing_served, clock=clock)
    return Feed(GroupCommitter(), readers, caches, pump)


@pytest.fixture
async def feed(transactional_db: None) -> AsyncIterator[Feed]:
    made = made_feed()
    made.committer.start()
    made.readers.start()
    try:
        yield made
    finally:
        await made.pump.stop()
        await asyncio.to_thread(made.committer.stop)
        await asyncio.to_thread(made.readers.stop)
