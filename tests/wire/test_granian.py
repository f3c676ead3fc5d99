"""What we rely on in Granian's embedded server, which calls itself experimental."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
import websockets

from listwatch.serving import certificates
from listwatch.serving.application import Message, Receive, Scope, Send
from listwatch.serving.data_folder import DataFolder
from listwatch.serving.granian import TLS, Port, listen

App = Callable[[Scope, Receive, Send], Awaitable[None]]


@contextlib.asynccontextmanager
async def serving(app: App, tls: TLS | None = None) -> AsyncIterator[int]:
    listener = listen("127.0.0.1", 0)
    number = int(listener.getsockname()[1])
    port = Port(app, listener, tls)
    port.start()
    try:
        yield number
    finally:
        await port.stop(asyncio.ensure_future(asyncio.sleep(5)))


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[TLS, ssl.SSLContext]:
    folder = DataFolder(tmp_path_factory.mktemp("tls"))
    certificates.ensure(folder, certificates.subject_names())
    context = ssl.create_default_context(cafile=str(folder.ca_certificate))
    return TLS(folder.server_certificate, folder.server_key), context


async def start(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"", "more_body": True})


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await start(send)
    await send({"type": "http.response.body", "body": scope["http_version"].encode()})


async def test_one_secure_port_speaks_both_versions_of_http(
    tls: tuple[TLS, ssl.SSLContext],
) -> None:
    files, context = tls
    async with serving(hello, files) as port:
        for http2, expected in ((True, "2"), (False, "1.1")):
            async with httpx.AsyncClient(verify=context, http2=http2) as client:
                answer = await client.get(f"https://localhost:{port}/")

            assert expected == answer.text


async def test_a_plain_and_a_secure_port_serve_one_application_in_one_loop(
    tls: tuple[TLS, ssl.SSLContext],
) -> None:
    files, context = tls
    loops: list[asyncio.AbstractEventLoop] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        loops.append(asyncio.get_running_loop())
        await hello(scope, receive, send)

    async with (
        serving(app) as plain,
        serving(app, files) as secure,
        httpx.AsyncClient(verify=context) as client,
    ):
        await client.get(f"http://127.0.0.1:{plain}/")
        await client.get(f"https://127.0.0.1:{secure}/")

    assert [asyncio.get_running_loop()] * 2 == loops


async def test_headers_go_out_before_the_first_event() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await start(send)
        await receive()
        await receive()

    async with serving(app) as port, httpx.AsyncClient() as client:
        begun = time.monotonic()
        async with client.stream("GET", f"http://127.0.0.1:{port}/") as answer:
            assert answer.status_code == 200
            assert time.monotonic() - begun < 1.0


@pytest.mark.parametrize("http2", [False, True])
async def test_an_idle_response_learns_at_once_that_its_client_left(
    http2: bool, tls: tuple[TLS, ssl.SSLContext]
) -> None:
    files, context = tls
    left: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await start(send)
        left.set_result(await receive())

    async with serving(app, files) as port:
        async with (
            httpx.AsyncClient(verify=context, http2=http2) as client,
            client.stream("GET", f"https://localhost:{port}/"),
        ):
            assert not left.done()
        message = await asyncio.wait_for(left, 1.0)

    assert message["type"] == "http.disconnect"


async def test_send_waits_for_a_client_that_does_not_read() -> None:
    sent = 0
    blocked = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal sent
        await start(send)
        for _ in range(1600):
            chunk = asyncio.ensure_future(
                send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
            )
            done, _ = await asyncio.wait({chunk}, timeout=0.5)
            if not done:
                blocked.set()
                await chunk
                return
            sent += 1

    async with serving(app) as port:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", port))
            await loop.sock_sendall(client, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await asyncio.wait_for(blocked.wait(), 20)

    # What the kernel takes before it says stop, and a little of Granian's own.
    assert sent < 160


async def test_open_requests_are_not_limited_to_a_thousand() -> None:
    open_ = 0
    enough, end = asyncio.Event(), asyncio.Event()
    wanted = 1500

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal open_
        await start(send)
        open_ += 1
        if open_ == wanted:
            enough.set()
        await end.wait()

    async with serving(app) as port:
        clients = []
        for _ in range(wanted):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            clients.append(writer)
        await asyncio.wait_for(enough.wait(), 20)
        end.set()
        for writer in clients:
            writer.close()


async def test_a_socket_echoes_and_hears_of_a_close() -> None:
    closed: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        message = await receive()
        await send({"type": "websocket.send", "text": message["text"]})
        closed.set_result(await receive())

    async with serving(app) as port:
        async with websockets.connect(f"ws://127.0.0.1:{port}/") as client:
            await client.send("hello")
            assert await client.recv() == "hello"
        message = await asyncio.wait_for(closed, 2)

    assert message["type"] == "websocket.disconnect"


async def test_stop_lets_an_open_response_end() -> None:
    end = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await start(send)
        await end.wait()
        await send({"type": "http.response.body", "body": b"the end"})

    listener = listen("127.0.0.1", 0)
    address = listener.getsockname()
    port = Port(app, listener, None)
    port.start()
    async with (
        httpx.AsyncClient() as client,
        client.stream("GET", f"http://127.0.0.1:{address[1]}/") as answer,
    ):
        stopping = asyncio.create_task(port.stop(asyncio.ensure_future(asyncio.sleep(10))))
        await asyncio.sleep(0.1)
        end.set()
        assert await answer.aread() == b"the end"
        await asyncio.wait_for(stopping, 5)


async def test_stop_cuts_a_response_that_never_ends(tmp_path: Path) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await start(send)
        await asyncio.Event().wait()

    listener = listen("127.0.0.1", 0)
    address = listener.getsockname()
    port = Port(app, listener, None)
    port.start()
    async with (
        httpx.AsyncClient() as client,
        client.stream("GET", f"http://127.0.0.1:{address[1]}/"),
    ):
        begun = time.monotonic()
        await port.stop(asyncio.ensure_future(asyncio.sleep(0.3)))

        assert time.monotonic() - begun < 3
