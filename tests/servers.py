"""Servers of the tests' own: real processes, on ports that are free, in folders of their own.

`server` and `daphne_server` are fixtures for any room; `Server` is for tests that stop, kill or
start one themselves.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 45.0

# Processes keep their compiled modules, as they do for users: where this is set, each of hundreds
# of starts would compile all of them again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """`serve` (or `runserver`) in a process; it keeps its folder and ports through restarts.

    Settings are environment variables: `Server(folder, LISTWATCH_HISTORY_WINDOW="1")`.
    """

    def __init__(
        self, folder: Path, *arguments: str, command: str = "serve", **environment: str
    ) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.command = command
        self.port = free_port()
        self.secure_port = free_port() if command == "serve" else 0
        self.arguments = list(_without_ports(arguments))
        if command == "serve" and not any("controllers" in each for each in arguments):
            self.arguments.append("--controllers=")  # or they would write between a test's lines
        self.environment = environment
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def secure_url(self) -> str:
        return f"https://127.0.0.1:{self.secure_port}"

    @property
    def token(self) -> str:
        return (self.data / "token").read_text().strip()

    @property
    def kubeconfig(self) -> Path:
        return self.data / "kubeconfig"

    @property
    def ca(self) -> Path:
        return self.data / "ca.crt"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def output(self) -> str:
        """What it printed for people, of all its starts."""
        return (self.folder / "output").read_text()

    @property
    def log(self) -> str:
        """What it logged, of all its starts."""
        return (self.folder / "log").read_text()

    def start(self) -> Server:
        """Start, and wait until it is ready; fails with its log if it ends instead."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.command == "serve":
            ports = ["--port", str(self.port), "--secure-port", str(self.secure_port)]
        else:
            ports = [f"127.0.0.1:{self.port}", "--noreload"]
        with (self.folder / "output").open("ab") as output, (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable, str(ROOT / "manage.py"), self.command, *ports,
                    "--data", str(self.data), *self.arguments,
                ],
                stdin=subprocess.DEVNULL, stdout=output, stderr=log, cwd=self.folder,
                env={**os.environ, **self.environment}, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"{self.command} did not start:\n{self.log[-4000:]}")
            time.sleep(0.02)
        return self

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz", token="")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def stop(self, seconds: float = 20.0) -> int:
        """Ask it to stop; returns its exit status."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            return process.wait(seconds)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def kill(self) -> None:
        """End it as a crash would, with all processes it started."""
        if self.process is None:
            return
        process, self.process = self.process, None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def request(
        self, method: str, path: str, body: object = None, token: str | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """Status and body of one request on the plain port, as the admin unless told otherwise."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        token = self.token if token is None else token
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if data is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def get(self, path: str, token: str | None = None, **headers: str) -> tuple[int, bytes]:
        return self.request("GET", path, None, token, **headers)

    def json(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """The document that a request answers; fails unless it succeeds."""
        status, answer = self.request(method, path, body, **headers)
        assert 200 <= status < 300, (status, answer)
        return json.loads(answer)

    def login_link(self) -> str:
        """A link that logs a browser in, once."""
        printed = subprocess.run(
            [
                sys.executable, str(ROOT / "manage.py"), "login", "--data", str(self.data),
                "--url", self.url,
            ],
            check=True, capture_output=True, text=True, timeout=60,
            env={**os.environ, **self.environment},
        ).stdout  # fmt: skip
        return printed.strip()

    def cookies(self) -> str:
        """The Cookie header of a browser that came by a login link."""
        link = self.login_link()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", link.removeprefix(self.url))
            answer = connection.getresponse()
            answer.read()
            given = answer.headers.get_all("set-cookie", [])
        finally:
            connection.close()
        assert answer.status == 302, answer.status
        return "; ".join(cookie.split(";")[0] for cookie in given)

    def resident(self) -> int:
        """Bytes of memory that the process holds."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def processor_seconds(self) -> float:
        """Seconds of processor time that the process has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _without_ports(arguments: tuple[str, ...]) -> Iterator[str]:
    # Ports are ours: whatever a test asks for is left out, so that a restart finds them again.
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in ("--port", "--secure-port", "--data"):
            skip = True
        else:
            yield argument


@contextlib.contextmanager
def running(folder: Path, *arguments: str, command: str = "serve", **env: str) -> Iterator[Server]:
    """A server that is stopped at the end."""
    made = Server(folder, *arguments, command=command, **env)
    try:
        yield made.start()
    finally:
        if made.process is not None:
            made.stop()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`manage.py serve`, one for the session: leave nothing behind that others would count."""
    with running(tmp_path_factory.mktemp("serve")) as made:
        yield made


@pytest.fixture(scope="session")
def daphne_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`manage.py runserver`, one for the session."""
    with running(tmp_path_factory.mktemp("runserver"), command="runserver") as made:
        yield made
