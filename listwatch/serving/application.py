"""The one application behind every port: which part answers what, and its life.

A request carries the runtime in its scope as `listwatch.runtime`, and goes on to `api` (Kubernetes
paths), to the pages' sockets, to static files, or to Django's pages and admin.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from listwatch.api.websockets import WatchSockets
from listwatch.serving.origins import SameOrigin

if TYPE_CHECKING:
    from listwatch.runtime import Runtime

logger = logging.getLogger("listwatch.serving")

Scope = MutableMapping[str, Any]  # Any: ASGI's own
Message = MutableMapping[str, Any]  # Any: ASGI's own
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]  # of ASGI's three, as each library types them

KUBERNETES_PATHS = frozenset(
    {
        ".well-known",
        "api",
        "apis",
        "debug",
        "healthz",
        "livez",
        "metrics",
        "openapi",
        "openid",
        "readyz",
        "version",
    }
)
WATCHED_PATHS = frozenset({"api", "apis"})
# Close code of a socket: come back. The registered code is 1012, which Daphne may not send.
SERVICE_RESTART = 4012
FAREWELL = 0.5  # seconds for sockets to be closed


class Application:
    """Routes requests, and starts and stops the runtime once.

    With ASGI's lifespan the runtime starts before the first request; without (plain Daphne) the
    first request starts it. `drain` ends what would never end by itself, so that a server that
    waits for open responses can stop; `stop` stops the runtime. All belongs to one event loop.
    """

    def __init__(
        self,
        *,
        runtime: Callable[[], Runtime],
        api: Callable[[], App],
        pages: Callable[[], App],
        sockets: Callable[[], App],
        static: Callable[[], App],
        static_path: str = "/static/",
    ) -> None:
        self.open_requests = 0  # and sockets: what a server that stops waits for
        self._make_runtime = runtime
        self._make_api = api
        self._static_path = static_path
        self._pages = _Later(pages)
        self._sockets = _Later(sockets)
        self._static = _Later(static)
        self._starting: asyncio.Task[tuple[Runtime, App]] | None = None
        self._stopping: asyncio.Event | None = None
        self._open_sockets: set[asyncio.Future[None]] = set()  # each done when it is closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection, in ASGI."""
        kind = scope["type"]
        if kind == "lifespan":
            await self._live(receive, send)
            return
        self.open_requests += 1
        try:
            await self._route(kind, scope, receive, send)
        finally:
            self.open_requests -= 1

    async def _route(self, kind: str, scope: Scope, receive: Receive, send: Send) -> None:
        runtime, api = await self.start()
        scope["listwatch.runtime"] = runtime
        if kind == "websocket" and scope["path"].lstrip("/").split("/", 1)[0] in WATCHED_PATHS:
            # The end of the watch closes it, when the server stops, too.
            await SameOrigin(WatchSockets(api))(scope, receive, send)
            return
        if kind == "websocket":
            assert self._stopping is not None
            sockets = await self._sockets.made()
            socket = _Socket(self._stopping, receive, send)
            left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._open_sockets.add(left)
            try:
                await sockets(scope, socket.receive, socket.send)
            finally:
                self._open_sockets.discard(left)
                left.set_result(None)
            return
        path: str = scope["path"]
        if path.lstrip("/").split("/", 1)[0] in KUBERNETES_PATHS or (
            path == "/" and not _is_browser(scope)
        ):
            await api(scope, receive, send)
        elif path == "/":
            await _redirect(send, "/dashboard/")
        elif path.startswith(self._static_path):
            await (await self._static.made())(scope, receive, send)
        else:
            pages = await self._pages.made()
            # What is no page is answered as kube-apiserver would, unless a person asks.
            answering = pages if _is_browser(scope) or _is_page(path) else api
            await answering(scope, receive, send)

    async def start(self) -> tuple[Runtime, App]:
        """The runtime, started, and the API before it; whoever comes first starts them."""
        if self._starting is None:
            self._stopping = asyncio.Event()
            self._starting = asyncio.create_task(self._start())
        # A request that is cancelled while it waits must not cancel the start for all others.
        return await asyncio.shield(self._starting)

    async def _start(self) -> tuple[Runtime, App]:
        runtime = self._make_runtime()
        try:
            await runtime.start()
        except BaseException:
            # Its threads would keep the process from ending; the error that counts is the first.
            with contextlib.suppress(Exception):
                await runtime.stop()
            raise
        return runtime, self._make_api()

    async def drain(self) -> None:
        """Turn readiness red, end every watch by name, and close every socket."""
        if self._starting is None or not self._starting.done() or self._starting.exception():
            return
        runtime, _ = await self.start()
        runtime.ready = False
        runtime.end_streams()
        assert self._stopping is not None
        self._stopping.set()
        if self._open_sockets:  # a server cuts them as soon as it is told to stop
            await asyncio.wait(self._open_sockets, timeout=FAREWELL)

    async def stop(self) -> None:
        """Stop the runtime; nothing may be asked afterwards."""
        if self._starting is None:
            return
        await self.drain()
        starting, self._starting = self._starting, None
        if not (starting.done() and starting.exception()):
            runtime, _ = await starting
            await runtime.stop()

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.start()
                except Exception as error:
                    logger.exception("the server could not start")
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


class _Socket:
    """A page's socket until the server stops: then its peer is told to come back, by code.

    To the application it looks as if the peer left, and what it still sends is dropped.
    """

    def __init__(self, stopping: asyncio.Event, receive: Receive, send: Send) -> None:
        self._stopping = stopping
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        """The next message of the peer, or its leaving."""
        stopping = self._stopping
        if not stopping.is_set():
            message = asyncio.ensure_future(self._receive())
            stop = asyncio.ensure_future(stopping.wait())
            try:
                await asyncio.wait({message, stop}, return_when=asyncio.FIRST_COMPLETED)
                if message.done():
                    return message.result()
                # The peer may leave at the same moment, and servers differ in how they say so.
                with contextlib.suppress(Exception):
                    await self._send({"type": "websocket.close", "code": SERVICE_RESTART})
            finally:
                message.cancel()
                stop.cancel()
        return {"type": "websocket.disconnect", "code": SERVICE_RESTART}

    async def send(self, message: Message) -> None:
        """Send, unless the peer was told to go."""
        if not self._stopping.is_set():
            await self._send(message)


class _Later:
    """A part that is made at its first use, in a thread: loading pages takes a while."""

    def __init__(self, make: Callable[[], App]) -> None:
        self._make = make
        self._task: asyncio.Task[App] | None = None
        self._app: App | None = None

    async def made(self) -> App:
        if self._app is None:
            if self._task is None:
                self._task = asyncio.create_task(asyncio.to_thread(self._make))
            self._app = await asyncio.shield(self._task)
        return self._app


def _is_browser(scope: Scope) -> bool:
    """Whether the answer is for a person: a browser names HTML in Accept, clients do not."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def _is_page(path: str) -> bool:
    from django.urls import is_valid_path

    return any(is_valid_path(each) for each in (path, f"{path}/"))


async def _redirect(send: Send, location: str) -> None:
    headers = [(b"location", location.encode()), (b"vary", b"Accept"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 302, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
