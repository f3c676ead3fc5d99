"""Parts of the store, started and stopped around a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from listwatch.store.group_commit import GroupCommitter
from listwatch.store.readers import Readers
from listwatch.testing.clock import FakeClock
from tests.postgres import postgres_url

__all__ = ["postgres_url"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def committer(store: None, clock: FakeClock) -> AsyncIterator[GroupCommitter]:
    made = GroupCommitter(clock=clock)
    made.start()
    yield made
    await asyncio.to_thread(made.stop)


@pytest.fixture
async def readers(store: None) -> AsyncIterator[Readers]:
    made = Readers()
    made.start()
    yield made
    await asyncio.to_thread(made.stop)
