"""Events that repeat are counted; many that differ only in their messages become one."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Iterable
from typing import Any, cast

import pytest

from listwatch.controllers.events import WARNING, EventRecorder
from listwatch.controllers.similar_events import COMBINED, MESSAGES, SECONDS, SimilarEvents
from listwatch.informer import APIResource
from listwatch.informer.client import Client
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import PODS, REPLICA_SETS
from listwatch.testing.clock import FakeClock
from tests.controllers.test_parts import pod
from tests.informer.kit import ended, started

KEY = ("ReplicaSet", "FailedCreate")


class Events:
    """The events of a server, which takes its time for each write."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    async def create(self, _: APIResource, event: Any) -> Any:
        await asyncio.sleep(0)
        name = event["metadata"]["name"]
        assert name not in self.kept
        self.kept[name] = copy.deepcopy(event)
        return event

    async def patch(self, _: APIResource, name: str, patch: Any, *, namespace: str) -> Any:
        await asyncio.sleep(0)
        if name not in self.kept:
            raise NotFoundError(404, "NotFound", f"{name} not found")
        self.kept[name] |= patch
        return self.kept[name]

    def told(self) -> list[tuple[str, int]]:
        """Message and count of each, the oldest first."""
        return [(event["message"], event["count"]) for event in self.kept.values()]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
async def recorder(events: Events, clock: FakeClock) -> AsyncIterator[EventRecorder]:
    made = EventRecorder(cast("Client", events), "test", clock)
    writing = started(made.run())
    yield made
    await ended(writing)


async def tell(recorder: EventRecorder, clock: FakeClock, messages: Iterable[str]) -> None:
    """Record them one after the other, and wait until they are written."""
    for message in messages:
        recorder.record(REPLICA_SETS, pod("a"), "FailedCreate", message)
        await clock.advance(0.01)
    while recorder.statistics().pending:
        await clock.advance(0)
    await clock.advance(0)


def refused(*numbers: int) -> list[str]:
    return [f'pods "a-{number}" is forbidden: exceeded quota' for number in numbers]


async def test_the_tenth_message_and_those_after_it_are_one_event(
    recorder: EventRecorder, events: Events, clock: FakeClock
) -> None:
    messages = refused(*range(20))
    await tell(recorder, clock, messages)

    alone = MESSAGES - 1
    assert events.told() == [
        *((message, 1) for message in messages[:alone]),
        (COMBINED + messages[-1], 20 - alone),
    ]
    last = list(events.kept.values())[-1]
    assert last["involvedObject"]["name"] == "a"
    assert (last["reason"], last["type"]) == ("FailedCreate", "Normal")


async def test_events_that_come_at_once_are_counted_in_one(
    recorder: EventRecorder, events: Events, clock: FakeClock
) -> None:
    for message in refused(*range(20)):
        clock.set(clock.now() + 0.001)
        recorder.record(REPLICA_SETS, pod("a"), "FailedCreate", message)
    await tell(recorder, clock, refused(20, 21))

    assert len(events.kept) == MESSAGES
    assert events.told()[-1] == (COMBINED + refused(21)[0], 22 - MESSAGES + 1)
    assert recorder.statistics().written == 22


async def test_a_message_that_stands_already_is_counted_there(
    recorder: EventRecorder, events: Events, clock: FakeClock
) -> None:
    await tell(recorder, clock, refused(*range(12), 3, 3))

    assert dict(events.told())[refused(3)[0]] == 3
    assert events.told()[-1] == (COMBINED + refused(11)[0], 3)


@pytest.mark.parametrize(
    ("resource", "name", "reason", "kind", "host"),
    [
        (REPLICA_SETS, "b", "FailedCreate", "Normal", ""),
        (PODS, "a", "FailedCreate", "Normal", ""),
        (REPLICA_SETS, "a", "Other", "Normal", ""),
        (REPLICA_SETS, "a", "FailedCreate", WARNING, ""),
        (REPLICA_SETS, "a", "FailedCreate", "Normal", "node-1"),
    ],
)
async def test_events_that_differ_in_more_are_told_apart(
    recorder: EventRecorder, events: Events, clock: FakeClock,
    resource: APIResource, name: str, reason: str, kind: str, host: str,
) -> None:  # fmt: skip
    await tell(recorder, clock, refused(*range(12)))
    recorder.record(resource, pod(name), reason, "new", kind=kind, host=host)
    await clock.advance(0.01)

    assert events.told()[-1] == ("new", 1)


async def test_a_combined_event_that_was_deleted_is_made_anew(
    recorder: EventRecorder, events: Events, clock: FakeClock
) -> None:
    await tell(recorder, clock, refused(*range(12)))
    events.kept.clear()
    await tell(recorder, clock, refused(12, 13))

    assert events.told() == [(COMBINED + refused(13)[0], 2)]


def test_after_a_silence_events_are_told_one_by_one_again() -> None:
    similar = SimilarEvents(9)
    found = [similar.combines(KEY, str(number), float(number)) for number in range(12)]
    assert found == [number >= MESSAGES - 1 for number in range(12)]
    # Each of them makes the time begin anew.
    assert similar.combines(KEY, "late", 11 + SECONDS)
    assert similar.combines(KEY, "later", 11 + 2 * SECONDS)
    assert not similar.combines(KEY, "much later", 12 + 3 * SECONDS)


def test_what_was_asked_about_long_ago_is_forgotten_first() -> None:
    similar = SimilarEvents(2)
    for number in range(MESSAGES):
        similar.combines(KEY, str(number), 0.0)
    similar.combines(("one",), "", 0.0)
    assert similar.combines(KEY, "new", 0.0)
    similar.combines(("two",), "", 0.0)
    similar.combines(("three",), "", 0.0)
    assert len(similar) == 2
    assert not similar.combines(KEY, "new", 0.0)
