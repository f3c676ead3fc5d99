"""A registry on the real store, fed by the real pump, under a clock that is turned by hand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from listwatch.changefeed.freshness import QueryFreshness
from listwatch.changefeed.history import LogHistory
from listwatch.changefeed.pump import Pump
from listwatch.conf import Options
from listwatch.registry.registry import Registry
from listwatch.registry.resources import ResourceTable
from listwatch.schemas.decoding import decode
from listwatch.schemas.defaults import apply_defaults
from listwatch.schemas.kinds import builtin_resources
from listwatch.store.group_commit import GroupCommitter
from listwatch.store.readers import Readers
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from tests.registry.house import House


@pytest.fixture(scope="session")
def facts() -> None:
    """The data files are read when they are first asked for: here, before any loop runs."""
    for resource in builtin_resources():
        document = {"kind": resource.kind, "apiVersion": resource.api_version}
        decode(resource.gvk, document)
        with contextlib.suppress(KeyError):
            apply_defaults(resource.gvk, document)


@pytest.fixture
async def house(facts: None, store: None) -> AsyncIterator[House]:
    clock = FakeClock()
    table = ResourceTable()
    committer = GroupCommitter(clock=clock)
    readers = Readers()
    caches = Caches(
        Progress(clock),
        history=LogHistory(readers, table.stored),
        clock=clock,
        options=CacheOptions(flush_interval=0.0),
    )
    pump = Pump(caches, readers, table.stored, clock=clock)
    registry = Registry(
        table, caches, committer, readers,
        freshness=QueryFreshness(readers).current, clock=clock, options=Options(),
    )  # fmt: skip
    committer.start()
    readers.start()
    for resource in table.served():
        caches.cacher(resource.storage)
    await pump.start()
    await registry.bootstrap()
    yield House(registry, caches, pump, committer, readers, clock)
    await asyncio.to_thread(committer.stop)
    await pump.stop()
    await asyncio.to_thread(readers.stop)
