"""One server process from its first signal handler to its last: listen, serve, stop in order.

The stop: readiness turns red, every watch ends by name, sockets close, open requests are let
finish, then the runtime stops. A second signal ends the process at once; what was answered is on
disk anyhow. `workers` runs several of these side by side.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from listwatch.serving.application import Application
from listwatch.serving.controllers import ControllersProcess
from listwatch.serving.granian import TLS, Port

logger = logging.getLogger("listwatch.serving")

PATIENCE = 10.0  # seconds for requests that are open when the server stops
DRAIN_AGAIN = 0.1  # seconds: a watch that began while watches were being ended is ended then
GOODBYE = 1.0  # seconds for clients to read what they were sent and to close
LOOK = 0.5  # seconds between two looks at the controllers
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that listens already, and the certificate it shows, if any."""

    socket: socket.socket
    tls: TLS | None = None


def run(
    application: Application,
    listeners: Sequence[Listener],
    *,
    ready: Callable[[], None],
    signals: Sequence[signal.Signals] = SIGNALS,
    leash: socket.socket | None = None,
    controllers: ControllersProcess | None = None,
) -> None:
    """Serve until a signal, or until the other end of the leash is gone.

    `ready` is called once requests are answered; the controllers are started after it.
    """
    with asyncio.Runner(loop_factory=_new_loop()) as runner:
        runner.run(_serve(application, listeners, ready, _Asked(signals, leash), controllers))


def _new_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where that is installed: a delivery costs a fifth less CPU."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(
    application: Application,
    listeners: Sequence[Listener],
    ready: Callable[[], None],
    asked: _Asked,
    controllers: ControllersProcess | None,
) -> None:
    asked.listen()
    try:
        await application.start()
        ports = [Port(application, each.socket, each.tls) for each in listeners]
        running = [port.start() for port in ports]
        stop = asyncio.create_task(asked.event.wait())
        _spare_the_collector()
        ready()
        looking = asyncio.create_task(_look_after(controllers))
        await asyncio.wait({stop, *running}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        looking.cancel()
        if controllers is not None:
            await asyncio.to_thread(controllers.stop)
        await application.drain()  # before Granian hears of it, which would cut the sockets
        patience = asyncio.ensure_future(_drain(application))
        await asyncio.gather(*(port.stop(patience) for port in ports))
        patience.cancel()
    finally:
        await application.stop()


async def _look_after(controllers: ControllersProcess | None) -> None:
    while controllers is not None:
        controllers.look()
        await asyncio.sleep(LOOK)


def _spare_the_collector() -> None:
    """Let the garbage collector look less often, and never at what the start has made.

    Objects of the store live as long as the ring keeps them, and nothing here makes cycles as a
    matter of course: looking through all of them every few hundred requests is a tenth of the work.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


async def _drain(application: Application) -> None:
    """End what would not end by itself, and return when there is nothing left to wait for."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while application.open_requests:
                await asyncio.sleep(DRAIN_AGAIN)
                await application.drain()
    await asyncio.sleep(GOODBYE)


class _Asked:
    """Whether somebody asked for the stop; who asks twice gets it at once."""

    def __init__(self, signals: Sequence[signal.Signals], leash: socket.socket | None) -> None:
        self.event = asyncio.Event()
        self._signals = signals
        self._leash = leash

    def listen(self) -> None:
        """Begin to listen, in the running loop."""
        loop = asyncio.get_running_loop()
        for number in self._signals:
            loop.add_signal_handler(number, self._handle)
        if self._leash is not None:
            loop.add_reader(self._leash, self._pulled, loop)

    def _handle(self) -> None:
        if self.event.is_set():
            logger.warning("stopped at once, by a second signal")
            os._exit(1)
        self.event.set()

    def _pulled(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._leash is not None
        loop.remove_reader(self._leash)
        self.event.set()
