"""Events leave at once, whatever serves the application and whatever middlewares pages have.

django-eventstream and Daphne had reports of streams that came only when they ended.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.servers import ROOT, START_SECONDS, Server, free_port, running
from tests.wire.streams import CONFIG_MAPS, config_map

SETTINGS = "tests.wire.settings_with_middlewares"
LONG_RUN = partial(pytest.param, marks=pytest.mark.full)
COMMANDS = {
    "uvicorn": ("uvicorn", "--log-level", "warning", "--port"),
    "hypercorn": ("hypercorn", "--bind"),
}


@contextmanager
def served_by(name: str, made: Server) -> Iterator[Server]:
    """The folder of a server that has stopped, served by somebody else's."""
    made.stop()
    made.port = free_port()
    where = f"127.0.0.1:{made.port}" if name == "hypercorn" else str(made.port)
    with (made.folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *COMMANDS[name], where, "listwatch.asgi:application"],
            stdout=log, stderr=log, cwd=ROOT,
            env={**os.environ, **made.environment, "LISTWATCH_DATA": str(made.data)},
        )  # fmt: skip
    try:
        deadline = time.monotonic() + START_SECONDS
        while not made.is_ready():
            assert process.poll() is None, made.log[-4000:]
            assert time.monotonic() < deadline, made.log[-4000:]
            time.sleep(0.05)
        yield made
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        finally:
            process.kill()


def check_events_leave_at_once(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    headers = {"Authorization": f"Bearer {server.token}", "Accept-Encoding": "gzip"}
    connection.request("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion=0", headers=headers)
    answer = connection.getresponse()
    try:
        assert (answer.status, answer.headers["transfer-encoding"]) == (200, "chunked")
        assert answer.headers["content-encoding"] is None
        for name in ("a", "b", "c"):
            server.json("POST", CONFIG_MAPS, config_map(name))
            # It would wait for the next one, or for ever, if anybody held it back.
            while json.loads(answer.readline())["object"]["metadata"]["name"] != name:
                pass
    finally:
        connection.close()
    listed = server.json("GET", f"{CONFIG_MAPS}?limit=2")
    assert len(listed["items"]) == 2
    assert "Traceback" not in server.log


@pytest.mark.parametrize("command", ["serve", LONG_RUN("runserver")])
def test_no_middleware_holds_events_back(command: str, tmp_path: Path) -> None:
    with running(tmp_path, command=command, DJANGO_SETTINGS_MODULE=SETTINGS) as server:
        check_events_leave_at_once(server)
        # Pages do pass through them.
        assert server.get("/admin/login/", token="", Accept_Encoding="gzip")[0] == 200


@pytest.mark.parametrize("name", ["uvicorn", LONG_RUN("hypercorn")])
def test_no_other_server_holds_events_back(name: str, tmp_path: Path) -> None:
    with (
        running(tmp_path, DJANGO_SETTINGS_MODULE=SETTINGS) as made,
        served_by(name, made) as server,
    ):
        check_events_leave_at_once(server)
