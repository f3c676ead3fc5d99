"""Several processes behind one port, on PostgreSQL."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.postgres import postgres_url  # noqa: F401 (a fixture)
from tests.servers import Server, running
from tests.wire.streams import CONFIG_MAPS, Stream, config_map

pytestmark = pytest.mark.external


def children(server: Server) -> list[int]:
    found = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return [int(each) for each in found]


def test_any_worker_serves_any_client_alike_and_a_dead_one_comes_back(
    tmp_path: Path,
    postgres_url: str,  # noqa: F811
) -> None:
    with running(tmp_path, "--workers", "2", LISTWATCH_DATABASE_URL=postgres_url) as server:
        workers = children(server)
        assert len(workers) == 2

        # The kernel deals connections out, so that of twelve watches both workers have some.
        streams = [Stream(server, f"{CONFIG_MAPS}?watch=1") for _ in range(12)]
        for stream in streams:
            assert stream.headers()[":status"] == "200"
        server.json("POST", CONFIG_MAPS, config_map("shared"))
        for stream in streams:
            event = stream.event()
            assert event is not None
            assert event["object"]["metadata"]["name"] == "shared"
            stream.close()

        os.kill(workers[0], signal.SIGKILL)
        deadline = time.monotonic() + 10
        while (now := children(server)) == workers or len(now) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert workers[1] in now
        for _ in range(12):
            server.json("GET", f"{CONFIG_MAPS}/shared")

        assert server.stop() == 0


def test_several_workers_are_refused_on_sqlite(tmp_path: Path) -> None:
    server = Server(tmp_path, "--workers", "2")
    with pytest.raises(AssertionError, match="on SQLite one process serves a folder"):
        server.start()
