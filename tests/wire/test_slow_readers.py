"""A client that does not read costs the server next to nothing, and nobody else anything."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Server, running
from tests.wire.streams import CONFIG_MAPS, Stream, config_map

MIB = 1024 * 1024
WRITES = 256
BYTES = 256 * 1024  # each: 64 MiB in all


@dataclass
class Outcome:
    """What one run showed."""

    growth: int = 0
    delays: list[float] = field(default_factory=list)
    slow: dict[str, Any] = field(default_factory=dict)
    rest: list[int] = field(default_factory=list)  # what it read when it woke up
    whole: bool = False  # whether its response ended as if nothing were missing


class Reader(threading.Thread):
    """A client that reads at once, and notes when each object came."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.stream = Stream(server, f"{CONFIG_MAPS}?watch=1")
        self.stream.headers()
        self.came: dict[int, float] = {}

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while (event := self.stream.event()) is not None:
                self.came[int(event["object"]["data"]["at"])] = time.monotonic()


def run(folder: Path, command: str, *, slow: bool) -> Outcome:
    # A small ring, so that 64 MiB move far past whoever stands still.
    environment = {"LISTWATCH_RING_BYTES": str(8 * MIB), "LISTWATCH_RING_MINIMUM": "10"}
    outcome = Outcome()
    with running(folder, command=command, **environment) as server:
        cookies = server.cookies()
        server.json("POST", CONFIG_MAPS, config_map("big"))
        write(server, -1)
        reader = Reader(server)
        reader.start()
        with stuck(server) if slow else contextlib.nullcontext() as stream:
            before = server.resident()
            written = {}
            for at in range(WRITES):
                written[at] = time.monotonic()
                write(server, at)
            deadline = time.monotonic() + 10
            while WRITES - 1 not in reader.came and time.monotonic() < deadline:
                time.sleep(0.02)
            outcome.growth = server.resident() - before
            outcome.delays = sorted(reader.came[at] - written[at] for at in range(WRITES))
            if stream is not None:
                outcome.slow = ended(server, cookies)
                outcome.rest = rest(stream)
                outcome.whole = stream.ended
        reader.stream.close()
    return outcome


def write(server: Server, at: int) -> None:
    body = {**config_map("big"), "data": {"at": str(at), "fill": "x" * BYTES}}
    server.json("PUT", f"{CONFIG_MAPS}/big", body)


@contextlib.contextmanager
def stuck(server: Server) -> Iterator[Stream]:
    with Stream(server, f"{CONFIG_MAPS}?watch=1&pretty=0", receive_buffer=4096) as stream:
        stream.headers()
        yield stream


def ended(server: Server, cookies: str) -> dict[str, Any]:
    """The row of the watch that the server ended, as the dashboard shows it."""
    deadline = time.monotonic() + 10
    while True:
        shown = json.loads(server.get("/dashboard/watchers.json", token="", Cookie=cookies)[1])
        if shown["ended"]:
            row: dict[str, Any] = shown["ended"][0]
            return row
        assert time.monotonic() < deadline, shown
        time.sleep(0.05)


def rest(stream: Stream) -> list[int]:
    """The numbers of all writes that the slow client reads of when it wakes up."""
    numbers = []
    with contextlib.suppress(ConnectionError):
        while (event := stream.event()) is not None:
            numbers.append(int(event["object"]["data"]["at"]))
    return numbers


@pytest.mark.timeout(400)
@pytest.mark.parametrize("command", ["serve", "runserver"])
def test_a_client_that_stands_still_costs_no_memory_delays_nobody_and_is_ended_by_name(
    command: str, tmp_path: Path
) -> None:
    without = run(tmp_path / "without", command, slow=False)
    with_it = run(tmp_path / "with", command, slow=True)

    assert without.growth <= 64 * MIB  # what was written and read is not kept either
    assert with_it.growth - without.growth <= 8 * MIB
    assert with_it.delays[int(WRITES * 0.99)] <= without.delays[int(WRITES * 0.99)] + 0.25
    assert with_it.slow["end_reason"] == "too slow"
    # What it did not get was not skipped in silence: the stream breaks off, and has no gap before.
    assert len(with_it.rest) < WRITES
    assert with_it.rest == list(range(-1, len(with_it.rest) - 1))
    assert not with_it.whole
