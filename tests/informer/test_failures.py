"""What is told of a server that does not answer: a state by name, and a log that says it once."""

from __future__ import annotations

import logging
from random import Random
from typing import Any

import pytest

from listwatch.informer import FollowState, SharedIndexInformer
from listwatch.informer.errors import (
    ConnectionRefused,
    ForbiddenError,
    InternalError,
    NotFoundError,
    TooManyRequestsError,
    TransportError,
)
from listwatch.informer.list_watch import ListPage, ListQuery, WatchQuery
from listwatch.testing.clock import FakeClock
from tests.informer.faulty_server import FaultyServer

NOT_FOUND = NotFoundError(404, "NotFound", "the server could not find the requested resource")
CASES: list[tuple[Exception, FollowState, int]] = [
    (NOT_FOUND, FollowState.NOT_SERVED, logging.WARNING),
    (ForbiddenError(403, "Forbidden", "no"), FollowState.NOT_ALLOWED, logging.WARNING),
    (TransportError("reset"), FollowState.UNREACHABLE, logging.WARNING),
    (InternalError(500, "InternalError", "boom"), FollowState.FAILING, logging.ERROR),
]


class Refusing(FaultyServer):
    """Refuses everything with one error while it has one."""

    error: Exception | None = None

    async def list(self, query: ListQuery) -> ListPage:
        if self.error is not None:
            raise self.error
        return await super().list(query)

    async def watch(self, query: WatchQuery) -> Any:
        if self.error is not None:
            raise self.error
        return await super().watch(query)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def aloud(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[tuple[int, str]]:
    found = [
        (record.levelno, record.getMessage())
        for record in caplog.records
        if record.name.startswith("listwatch.informer") and record.levelno >= level
    ]
    caplog.clear()
    return found


@pytest.mark.parametrize(("error", "state", "level"), CASES, ids=str)
async def test_a_failure_has_a_name_and_is_logged_when_it_begins_and_ends(
    error: Exception,
    state: FollowState,
    level: int,
    clock: FakeClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    server = Refusing()
    server.write("a")
    made = SharedIndexInformer(server, clock=clock, random=Random(1))
    assert made.state.value == "starting"
    async with made:
        await clock.advance(1)
        assert made.state is FollowState.FOLLOWING
        assert aloud(caplog) == []

        server.error = error
        server.compact()
        server.cut()
        await clock.advance(60)
        assert made.state is state
        assert made.statistics().reflector.state == state.value
        told = [line for line in aloud(caplog) if "no streaming list" not in line[1]]
        assert [each for each, _ in told] == [level]
        assert str(error) in told[0][1]
        await clock.advance(300)
        assert aloud(caplog) == []  # tried many times since
        await clock.advance(400)
        assert len(aloud(caplog)) == 1  # after ten minutes it is told again

        server.error = None
        await clock.advance(90)
        assert made.state is FollowState.FOLLOWING
        assert "follows again after" in aloud(caplog, logging.INFO)[-1][1]


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ConnectionRefused("nobody"), FollowState.UNREACHABLE),
        (TooManyRequestsError(429, "TooManyRequests", "later"), FollowState.THROTTLED),
    ],
)
async def test_what_is_waited_out_is_a_state_and_no_line_in_the_log(
    error: Exception, state: FollowState, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = Refusing()
    server.write("a")
    async with SharedIndexInformer(server, clock=clock, random=Random(1)) as made:
        await clock.advance(1)
        server.error = error
        server.cut()
        await clock.advance(30)
        assert made.state is state
        server.error = None
        await clock.advance(90)
        assert made.state is FollowState.FOLLOWING

    assert aloud(caplog) == []


async def test_what_is_too_old_is_listed_again_and_no_failure(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = FaultyServer()
    server.write("a")
    async with SharedIndexInformer(server, clock=clock, random=Random(1)) as made:
        await clock.advance(1)
        server.cut()
        server.write("b")
        server.compact()
        await clock.advance(30)
        assert made.state is FollowState.FOLLOWING
        assert sorted(made.indexer.keys()) == ["a", "b"]

    assert [line for line in aloud(caplog) if "no streaming list" not in line[1]] == []


async def test_a_server_without_streaming_lists_is_told_of_once(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = FaultyServer(streaming=False)
    async with SharedIndexInformer(server, clock=clock, random=Random(1)):
        for _ in range(5):
            await clock.advance(60)
            server.write("a")
            server.compact()
            server.cut()

    assert len(aloud(caplog)) == 1
