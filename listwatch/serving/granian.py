"""Granian in an event loop that we own: two ports, one application, an orderly stop.

`granian.server.embed` is experimental, so pyproject.toml pins its minor version and the wire tests
hold what we rely on: HTTP/2, WebSockets, back-pressure, prompt notice of a client that left.
Requests go to `application.Application`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from granian._granian import SocketHolder
from granian.constants import Interfaces, SSLProtocols
from granian.http import HTTP1Settings, HTTP2Settings
from granian.log import LogLevels
from granian.server.embed import Server

Application = Callable[..., Awaitable[None]]

# Granian stops reading new requests once this many are open; its default, about 1,000, would let
# the thousandth watch block every other client.
OPEN_REQUESTS = 16_384
# Connections not yet accepted: 3,000 watchers come back at once after a restart.
BACKLOG = 16_384

HTTP1 = HTTP1Settings(header_read_timeout=30_000)
HTTP2 = HTTP2Settings(
    # Clients of Go put every watch of a process on one connection.
    max_concurrent_streams=4096,
    # What a stream that is not read may hold in this process.
    max_send_buffer_size=64 * 1024,
    # A peer that vanished without a word is noticed after a minute.
    keep_alive_interval=40_000,
    keep_alive_timeout=20,
    max_headers_size=64 * 1024,
)


@dataclass(frozen=True, slots=True)
class TLS:
    """Files of a certificate and its key."""

    certificate: Path
    key: Path


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A listening socket; port 0 takes any that is free. `shared`: several processes may have it.

    Raises OSError that names the address.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        # Inherited by what is accepted: the last piece of an answer would else wait, up to 40 ms,
        # for the client to acknowledge the piece before it.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.bind((host, port))
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError as error:
        made.close()
        raise OSError(error.errno, f"{host}:{port}: {error.strerror}") from error
    return made


class Port:
    """One listening socket served by Granian. `start`, then `stop`; both belong to one loop."""

    def __init__(self, application: Application, listener: socket.socket, tls: TLS | None) -> None:
        self._server = _Server(application, listener, tls)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin to accept; the task returned ends when the port does, with what ended it."""
        self._task = asyncio.create_task(self._server.serve(), name="granian")
        return self._task

    async def stop(self, patience: asyncio.Future[None]) -> None:
        """Accept nothing more, and let open responses end until `patience` is done; then cut them.

        Granian would wait for ever for a client that does not answer its goodbye.
        """
        self._server.patience = patience
        self._server.stop()  # type: ignore[no-untyped-call]
        if self._task is not None:
            await self._task


class _Server(Server):
    def __init__(self, application: Application, listener: socket.socket, tls: TLS | None) -> None:
        super().__init__(
            target=application,
            # The lifespan is ours: two ports share one application.
            interface=Interfaces.ASGINL,
            backlog=BACKLOG,
            backpressure=OPEN_REQUESTS,
            http1_settings=HTTP1,
            http2_settings=HTTP2,
            log_level=LogLevels.error,  # of warnings it has one, that the server is experimental
            log_dictconfig=_silent(),
            ssl_cert=tls.certificate if tls else None,
            ssl_key=tls.key if tls else None,
            ssl_protocol_min=SSLProtocols.tls12,
        )
        self._listener = listener
        self.patience: asyncio.Future[None] | None = None

    def _init_shared_socket(self) -> None:
        # Granian would bind by itself, and could not say which port 0 became.
        make: Any = SocketHolder  # Any: its types lag behind its arguments
        self._shd: Any = make(self._listener.detach(), False, BACKLOG)
        self._sfd: Any = self._shd.get_fd()

    async def _stop_workers(self) -> None:
        workers: list[Any] = [*self.wrks]
        for worker in workers:
            worker.terminate()
        ends: asyncio.Future[Any] = asyncio.gather(
            *(worker.join() for worker in workers), return_exceptions=True
        )
        waiting = {ends} if self.patience is None else {ends, self.patience}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for worker in workers:
            worker.kill()  # does nothing to one that has ended
        await ends
        self.wrks.clear()


def _silent() -> dict[str, Any]:  # Any: logging's own configuration form
    # Its own handlers would print to standard output; what it says goes where all else goes.
    return {"handlers": {}, "loggers": {"_granian": {"handlers": [], "propagate": True}}}
