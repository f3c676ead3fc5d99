"""Controllers as a process of their own: until a signal, or until whoever started it is gone.

`serve` starts it with a leash on its standard input; `manage.py controllers` runs it for people.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING

from listwatch.controllers.manager import Manager

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.controllers.options import ControllerOptions
    from listwatch.informer import ClientConfig

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run(config: ClientConfig, options: ControllerOptions, *, leash: bool = False) -> None:
    """Run controllers in this process until asked to stop."""
    with asyncio.Runner(loop_factory=_new_loop()) as runner:
        runner.run(_main(config, options, leash))


async def _main(config: ClientConfig, options: ControllerOptions, leash: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    if leash:
        loop.add_reader(sys.stdin.fileno(), _pulled, stop)
    identity = f"{socket.gethostname()}_{os.getpid()}"
    manager = Manager(config, options, identity=identity)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)  # caches live long: looking through them often is in vain
    working = asyncio.create_task(manager.run(), name="controllers")
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if working.done():
        working.result()  # it ended by itself: an error, or leadership lost
        raise SystemExit(1)
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working


def _pulled(stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):  # the other end is closed
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        stop.set()


def _new_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
