"""The ways: each keeps asking one server for the objects of one namespace, and says what it saw.

All three see the same change feed through the same client; they differ in how they ask.
`measuring` runs them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from listwatch.informer.errors import GoneError, StreamCutError, api_error
from listwatch.informer.list_watch import (
    HTTPListerWatcher,
    ListQuery,
    WatchEvent,
    WatchQuery,
    WatchStream,
)
from listwatch.informer.objects import JSONObject
from listwatch.protocol.clock import Clock
from listwatch.protocol.events import EventType

HANGING_SECONDS = 30  # a long poll is answered after so long, with nothing if nothing happened
WATCH_SECONDS = 600

Saw = Callable[[JSONObject], None]


@dataclass(frozen=True, slots=True)
class Asking:
    """How to ask, and whom to tell of each state that came. `ready`: what is there was seen."""

    source: HTTPListerWatcher
    saw: Saw
    ready: asyncio.Event
    clock: Clock
    interval: float  # between two polls
    phase: float  # before the second: clients do not all poll at once


class Way(Protocol):
    """Follows until cancelled; raises whatever keeps it from doing so."""

    async def __call__(self, asking: Asking) -> None:
        """Ask, and ask again."""


async def poll(asking: Asking) -> None:
    """List everything, wait, list everything. What came and went in between is not seen."""
    await _listed(asking)
    await asking.clock.sleep(asking.phase)
    while True:
        await _listed(asking)
        await asking.clock.sleep(asking.interval)


async def long_poll(asking: Asking) -> None:
    """Ask for what is new, hold the line until there is something, take it, ask again.

    The API has no such request of its own, so this is the nearest: a watch with a short
    `timeoutSeconds` from the last version seen, closed by the client as soon as something came,
    with all that came at once, and opened again. Over HTTP/1.1 that ends the connection, as nobody
    can stop a stream halfway; a server made for long polls would end the answer itself and spare
    the new connection.
    """
    version = await _listed(asking)
    while True:
        query = WatchQuery(version, timeout_seconds=HANGING_SECONDS, bookmarks=True)
        try:
            async with _opened(asking, query) as stream:
                async for event in _answer(stream):
                    version = _taken(event.type, event.object, asking)
        except GoneError:
            version = await _listed(asking)
        except StreamCutError:
            continue  # nothing is lost by it: the version is still where it was


async def watch(asking: Asking) -> None:
    """List once, and hear of every change on one line that stays open."""
    version = await _listed(asking)
    while True:
        query = WatchQuery(version, timeout_seconds=WATCH_SECONDS)
        try:
            async with _opened(asking, query) as stream:
                async for event in stream:
                    version = _taken(event.type, event.object, asking)
        except GoneError:
            version = await _listed(asking)
        except StreamCutError:
            continue


WAYS: Mapping[str, Way] = {"poll": poll, "long poll": long_poll, "watch": watch}


async def _listed(asking: Asking) -> str:
    page = await asking.source.list(ListQuery())
    for subject in page.items:
        asking.saw(subject)
    asking.ready.set()
    return page.resource_version


@asynccontextmanager
async def _opened(asking: Asking, query: WatchQuery) -> AsyncIterator[WatchStream]:
    stream = await asking.source.watch(query)
    try:
        yield stream
    finally:
        await stream.close()


async def _answer(stream: WatchStream) -> AsyncIterator[WatchEvent]:
    """The first event, however long it takes, and what has come with it."""
    try:
        yield await anext(stream)
        while True:
            async with asyncio.timeout(0):  # what is there already is taken without waiting
                event = await anext(stream)
            yield event
    except (StopAsyncIteration, TimeoutError):
        return


def _taken(kind: str, subject: JSONObject, asking: Asking) -> str:
    if kind == EventType.ERROR:
        raise api_error(subject)
    if kind != EventType.BOOKMARK:
        asking.saw(subject)
    return str(subject["metadata"]["resourceVersion"])
