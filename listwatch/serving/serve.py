"""One server process from its first signal handler to its last: listen, serve, stop in order.

The stop: readiness turns red, every watch ends by name, sockets close, open requests are let
finish, then the runtime stops. A second signal ends the process at once; what was answered is on
disk anyhow.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass

from listwatch.serving.application import Application
from listwatch.serving.granian import TLS, Port

logger = logging.getLogger("listwatch.serving")

PATIENCE = 10.0  # seconds for requests that are open when the server stops
DRAIN_AGAIN = 0.2  # seconds: a watch that began while watches were being ended is ended then
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that listens already, and the certificate it shows, if any."""

    socket: socket.socket
    tls: TLS | None = None


def run(
    application: Application, listeners: list[Listener], *, ready: Callable[[], None]
) -> None:  # fmt: skip
    """Serve until a signal; `ready` is called once requests are answered."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(application, listeners, ready))


async def _serve(
    application: Application, listeners: list[Listener], ready: Callable[[], None]
) -> None:
    asked = _signals()
    try:
        await application.start()
        ports = [Port(application, each.socket, each.tls) for each in listeners]
        running = [port.start() for port in ports]
        stop = asyncio.create_task(asked.wait())
        ready()
        await asyncio.wait({stop, *running}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        draining = asyncio.create_task(_drain(application))
        try:
            await asyncio.gather(*(port.stop(PATIENCE) for port in ports))
        finally:
            draining.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await draining
    finally:
        await application.stop()


async def _drain(application: Application) -> None:
    while True:
        await application.drain()
        await asyncio.sleep(DRAIN_AGAIN)


def _signals() -> asyncio.Event:
    """Set by the first signal; the second one ends the process."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def handle() -> None:
        if asked.is_set():
            logger.warning("stopped at once, by a second signal")
            os._exit(1)
        asked.set()

    for number in SIGNALS:
        loop.add_signal_handler(number, handle)
    return asked


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    return None
