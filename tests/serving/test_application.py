"""The application behind every port: who answers what, and how it starts and stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from listwatch.runtime import Runtime
from listwatch.serving.application import (
    SERVICE_RESTART,
    App,
    Application,
    Message,
    Receive,
    Scope,
    Send,
)


class FakeRuntime:
    """Counts its starts and stops, and how often its streams were ended."""

    def __init__(self) -> None:
        self.starts = self.stops = self.ends = 0
        self.ready = False
        self.failure: Exception | None = None

    async def start(self) -> None:
        self.starts += 1
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        self.ready = True

    async def stop(self) -> None:
        self.stops += 1

    def end_streams(self) -> None:
        self.ends += 1


class House:
    """An application whose parts only note that they were asked."""

    def __init__(self) -> None:
        self.runtime = FakeRuntime()
        self.asked: list[tuple[str, str]] = []
        self.sockets: App = self.part("sockets")
        self.application = Application(
            runtime=lambda: cast("Runtime", self.runtime),
            api=lambda: self.part("api"),
            pages=lambda: self.part("pages"),
            sockets=lambda: self.sockets,
            static=lambda: self.part("static"),
        )

    def part(self, name: str) -> App:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            assert scope["listwatch.runtime"] is self.runtime
            self.asked.append((name, scope["path"]))

        return app

    async def ask(self, path: str, **headers: str) -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "path": path, "headers": pairs, "method": "GET"}
        await self.application(scope, nothing, send)
        return sent


async def nothing() -> Message:
    return await asyncio.Event().wait()  # type: ignore[return-value]


@pytest.fixture
def house() -> House:
    return House()


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("/api", "api"),
        ("/api/v1/pods", "api"),
        ("/apis/apps/v1", "api"),
        ("/openapi/v3", "api"),
        ("/version", "api"),
        ("/readyz", "api"),
        ("/livez/ping", "api"),
        ("/metrics", "api"),
        ("/", "api"),
        ("/absent", "api"),
        ("/dashboard/", "pages"),
        ("/admin/login/", "pages"),
        ("/login/x/", "pages"),
        ("/static/a.css", "static"),
    ],
)
async def test_a_path_goes_to_its_part(house: House, path: str, part: str) -> None:
    await house.ask(path)

    assert house.asked == [(part, path)]


async def test_an_unknown_path_is_a_page_for_a_browser(house: House) -> None:
    await house.ask("/absent", accept="text/html")

    assert house.asked == [("pages", "/absent")]


async def test_the_root_leads_a_browser_to_the_dashboard(house: House) -> None:
    sent = await house.ask("/", accept="text/html,application/xhtml+xml,*/*;q=0.8")

    assert sent[0]["status"] == 302
    assert (b"location", b"/dashboard/") in sent[0]["headers"]
    assert house.asked == []


async def test_requests_that_come_together_start_the_runtime_once(house: House) -> None:
    await asyncio.gather(*(house.ask("/api") for _ in range(5)))

    assert house.runtime.starts == 1


async def test_a_request_that_gives_up_does_not_end_the_start_for_others(house: House) -> None:
    first = asyncio.create_task(house.ask("/api"))
    await asyncio.sleep(0)
    first.cancel()
    await house.ask("/api")

    assert house.asked == [("api", "/api")]


async def test_the_lifespan_starts_and_stops_the_runtime(house: House) -> None:
    sent, received = await live(house)

    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert received == 2
    assert (house.runtime.starts, house.runtime.stops) == (1, 1)
    assert house.runtime.ends == 1
    assert not house.runtime.ready


async def test_a_start_that_fails_is_told_and_leaves_nothing_running(house: House) -> None:
    house.runtime.failure = OSError("no disk")
    sent, _ = await live(house)

    assert sent == ["lifespan.startup.failed"]
    assert house.runtime.stops == 1
    await house.application.drain()
    await house.application.stop()


async def test_drain_turns_readiness_red_and_ends_watches_before_the_runtime_stops(
    house: House,
) -> None:
    await house.ask("/api")
    await house.application.drain()

    assert not house.runtime.ready
    assert house.runtime.ends == 1
    assert house.runtime.stops == 0


async def test_open_requests_are_counted(house: House) -> None:
    end = asyncio.Event()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        await end.wait()

    house.sockets = wait
    task = socket(house, nothing)
    await asyncio.sleep(0.01)
    assert house.application.open_requests == 1

    end.set()
    await task
    assert house.application.open_requests == 0


async def test_a_stop_tells_the_peer_to_come_back_and_the_application_that_it_left(
    house: House,
) -> None:
    messages: asyncio.Queue[Message] = asyncio.Queue()
    got: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            got.append(message)
            if message["type"] == "websocket.disconnect":
                await send({"type": "websocket.send", "text": "too late"})
                return
            messages.task_done()

    house.sockets = app
    sent: list[Message] = []
    task = socket(house, messages.get, sent)
    messages.put_nowait({"type": "websocket.receive", "text": "hello"})
    await messages.join()
    await house.application.drain()
    await asyncio.wait_for(task, 5)

    assert [message["type"] for message in got] == ["websocket.receive", "websocket.disconnect"]
    assert got[1]["code"] == SERVICE_RESTART
    assert sent == [{"type": "websocket.close", "code": SERVICE_RESTART}]


def socket(
    house: House, receive: Callable[[], Any], sent: list[Message] | None = None
) -> asyncio.Task[None]:
    async def send(message: Message) -> None:
        if sent is not None:
            sent.append(message)

    scope = {"type": "websocket", "path": "/dashboard/socket/", "headers": []}
    return asyncio.ensure_future(house.application(scope, receive, send))


async def live(house: House) -> tuple[list[str], int]:
    messages = ["lifespan.startup", "lifespan.shutdown"]
    sent: list[str] = []
    received = 0

    async def receive() -> Message:
        nonlocal received
        received += 1
        return {"type": messages[received - 1]}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    await house.application({"type": "lifespan"}, receive, send)
    return sent, received
