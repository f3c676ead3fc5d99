"""The child process with the controllers: started when the server answers, and again if it dies.

Looked after by `serve`, or by `workers` where several processes serve. It is a client like any
other: it comes by HTTP, with a token of its own, and the server's loop never runs its code.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

logger = logging.getLogger("listwatch.serving")

FIRST_WAIT, LAST_WAIT = 1.0, 30.0  # seconds before one that died is started again
HEALTHY = 60.0  # seconds after which a death is no longer counted with those before
PATIENCE = 5.0  # seconds to stop
TOKEN = "LISTWATCH_CONTROLLERS_TOKEN"  # noqa: S105 (the name of a variable)


@dataclass(frozen=True, slots=True)
class ControllersCommand:
    """What the child is told: where the server is, and who it is there."""

    server: str
    token: str
    root_ca: Path
    arguments: tuple[str, ...] = ()

    def line(self) -> Sequence[str]:
        """The command line; the token is not in it, since others can read that."""
        return [
            sys.executable, "-m", "listwatch.controllers", "--leash",
            "--server", self.server, "--root-ca", str(self.root_ca), *self.arguments,
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The child's environment: it finds this package, wherever it was started."""
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH", ""))))
        return {**os.environ, TOKEN: self.token, "PYTHONPATH": path}


class ControllersProcess:
    """One child at a time. Synchronous: `look` now and then, `stop` once.

    However this process ends, the child ends too: it holds the other end of a pipe.
    """

    def __init__(self, command: ControllersCommand) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._due = 0.0
        self._wait = FIRST_WAIT
        self._stopped = False

    @property
    def pid(self) -> int | None:
        """The child's process; None while there is none."""
        return None if self._process is None else self._process.pid

    def look(self) -> None:
        """Start the child if it is due; note if it died."""
        if self._stopped:
            return
        now = time.monotonic()
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return
            self._close()
            self._wait = FIRST_WAIT if now - self._started_at > HEALTHY else self._wait
            self._due = now + self._wait
            logger.error(
                "the controllers ended with status %d and are started again in %.0f s",
                status, self._wait,
            )  # fmt: skip
            self._wait = min(2 * self._wait, LAST_WAIT)
        if now >= self._due:
            self._start(now)

    def stop(self) -> None:
        """End the child and wait for it; nothing is started any more."""
        self._stopped = True
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            logger.warning("the controllers did not stop, and are ended")
            process.kill()
            process.wait()
        self._close()

    def _start(self, now: float) -> None:
        self._started_at = now
        self._process = subprocess.Popen(
            self._command.line(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=self._command.environment(),
            # Control-C reaches the whole group: the parent alone acts on it.
            process_group=0,
        )

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
