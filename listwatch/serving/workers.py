"""Several server processes behind the same ports, on a database that they share.

The kernel deals connections out to them (SO_REUSEPORT), so any of them must serve any client
alike: the store's log is what they agree by. This process only starts them, starts one again that
died, and passes the stop on.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from listwatch.serving import serve
from listwatch.serving.application import Application
from listwatch.serving.controllers import ControllersProcess

logger = logging.getLogger("listwatch.serving")

POLL = 0.2  # seconds between two looks at the children


@dataclass(slots=True)
class _Worker:
    number: int
    leash: socket.socket
    is_ready: bool = False


class Workers:
    """The children of one `serve`. Nothing may have started a thread before `run`: it forks."""

    def __init__(
        self,
        application: Application,
        listeners: Sequence[Sequence[serve.Listener]],
        controllers: ControllersProcess | None = None,
    ) -> None:
        self._application = application
        self._listeners = listeners
        self._controllers = controllers
        self._workers: dict[int, _Worker] = {}
        self._asked = 0
        self._failed = False

    def run(self, ready: Callable[[], None]) -> bool:
        """Serve until a signal; `ready` is called once all answer. False if a worker failed."""
        for kind in serve.SIGNALS:
            signal.signal(kind, self._handle)
        for number in range(len(self._listeners)):
            self._start(number)
        announced = False
        while self._workers:
            self._look()
            if not announced and all(worker.is_ready for worker in self._workers.values()):
                announced = True
                ready()
            if self._controllers is not None and announced and not self._asked:
                self._controllers.look()
            self._reap()
        if self._controllers is not None:
            self._controllers.stop()
        return not self._failed

    def _handle(self, number: int, frame: object) -> None:
        self._asked += 1
        for process in self._workers:
            os.kill(process, signal.SIGTERM if self._asked == 1 else signal.SIGKILL)

    def _start(self, number: int) -> None:
        mine, theirs = socket.socketpair()
        process = os.fork()
        if process:
            theirs.close()
            self._workers[process] = _Worker(number, mine)
            if self._asked:  # the signal came while the child was not yet in the list
                os.kill(process, signal.SIGTERM)
            return
        status = 1
        try:
            mine.close()
            for other in self._workers.values():
                other.leash.close()
            self._serve(number, theirs)
            status = 0
        except Exception:
            logger.exception("worker %d failed", number + 1)
        finally:
            os._exit(status)

    def _serve(self, number: int, leash: socket.socket) -> None:
        # Control-C reaches the whole group: the parent alone acts on it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        serve.run(
            self._application,
            self._listeners[number],
            ready=lambda: leash.sendall(b"ready"),
            signals=(signal.SIGTERM,),
            leash=leash,
        )

    def _look(self) -> None:
        """Wait a little; note who became ready meanwhile."""
        waiting = {w.leash: w for w in self._workers.values() if not w.is_ready}
        readable, _, _ = select.select(list(waiting), [], [], POLL)
        for leash in readable:
            waiting[leash].is_ready = bool(leash.recv(16))

    def _reap(self) -> None:
        for process, worker in list(self._workers.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if not ended:
                continue
            del self._workers[process]
            worker.leash.close()
            if self._asked:
                self._failed |= status != 0
            elif not worker.is_ready:
                # It would only fail again: what it lacks, the next one lacks too.
                logger.error("worker %d did not start: stopping", worker.number + 1)
                self._failed = True
                self._handle(signal.SIGTERM, None)
            else:
                logger.error("worker %d died and is started again", worker.number + 1)
                self._start(worker.number)
