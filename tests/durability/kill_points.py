"""Kill a server at random moments, start it again, and look whether anything was lost.

    python -m tests.durability.kill_points --points 1000 [--seed 7]

Writers and watchers go on through every kill. In the end

- every write that was answered is there, in the version that was answered or a later one;
- each watcher, resumed from the last revision it saw and never relisted, has a stream that grows
  strictly, doubles nothing, and holds every answered write that its selector lets through;
- replaying the stream of the one that saw all gives the list.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers import Server

PATH = "/api/v1/namespaces/default/configmaps"
NAMES = 12  # objects that the writers fight over
WRITERS = 4


@dataclass
class Answered:
    """A write that the server answered: what it made of which object, and when in the order."""

    name: str
    revision: int
    deleted: bool
    colour: str


@dataclass
class Record:
    """What the outside knows, gathered by all threads."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    answered: list[Answered] = field(default_factory=list)
    unanswered: int = 0
    refused: int = 0


class Client:
    """Requests over one connection that is made again when the server comes back."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.connection: http.client.HTTPConnection | None = None

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and document; raises OSError or HTTPException if there was no answer."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        try:
            self.connection.request(
                method, path, body=None if body is None else json.dumps(body),
                headers={
                    "Authorization": f"Bearer {self.server.token}",
                    "Content-Type": "application/json",
                },
            )  # fmt: skip
            response = self.connection.getresponse()
            return response.status, json.loads(response.read())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def listed_by(server: Server, path: str) -> Any:
    """The list at a path; fails unless it is answered."""
    client = Client(server)
    try:
        status, listed = client.request("GET", path)
    finally:
        client.close()
    assert status == 200, listed
    return listed


class Writer(threading.Thread):
    """Creates, changes and deletes at random, and notes what was answered."""

    def __init__(self, server: Server, record: Record, stop: threading.Event, seed: int) -> None:
        super().__init__(daemon=True)
        self.client, self.record, self.stop = Client(server), record, stop
        self.random = random.Random(seed)

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self.write_once()
            except (OSError, http.client.HTTPException, ValueError):
                with self.record.lock:
                    self.record.unanswered += 1
                time.sleep(0.02)
        self.client.close()

    def write_once(self) -> None:
        name = f"c{self.random.randrange(NAMES)}"
        colour = self.random.choice(("red", "blue"))
        choice = self.random.random()
        document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": {"colour": colour}},
            "data": {"at": str(self.random.random()), "pad": "x" * self.random.randrange(2000)},
        }
        if choice < 0.25:
            status, answer = self.client.request("POST", PATH, document)
        elif choice < 0.85:
            status, answer = self.client.request("PUT", f"{PATH}/{name}", document)
        else:
            status, answer = self.client.request("DELETE", f"{PATH}/{name}")
        with self.record.lock:
            if status in (200, 201) and choice < 0.85:
                revision = int(answer["metadata"]["resourceVersion"])
                self.record.answered.append(Answered(name, revision, False, colour))
            elif status == 200:
                self.record.answered.append(Answered(name, 0, True, ""))
            elif status in (404, 409):
                self.record.refused += 1
            else:
                raise ValueError(f"{status}: {answer}")


class Watcher(threading.Thread):
    """Follows from one list on, through every kill, by its last revision alone."""

    def __init__(self, server: Server, stop: threading.Event, selector: str) -> None:
        super().__init__(daemon=True)
        self.server, self.stop, self.selector = server, stop, selector
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.revision = 0
        self.resumed = 0
        self.failure = ""

    def list(self) -> None:
        listed = listed_by(self.server, f"{PATH}?labelSelector={self.selector}")
        self.revision = int(listed["metadata"]["resourceVersion"])

    def run(self) -> None:
        while not self.stop.is_set() and not self.failure:
            try:
                self.follow()
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)

    def follow(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        try:
            connection.request(
                "GET",
                f"{PATH}?watch=1&allowWatchBookmarks=true&labelSelector={self.selector}"
                f"&resourceVersion={self.revision}",
                headers={"Authorization": f"Bearer {self.server.token}"},
            )
            response = connection.getresponse()
            if response.status != 200:
                raise http.client.HTTPException(str(response.status))
            self.resumed += 1
            while line := response.readline():
                if not line.endswith(b"\n"):
                    return  # cut in the middle by the kill: it will come again, whole
                self.take(json.loads(line))
        finally:
            connection.close()

    def take(self, event: dict[str, Any]) -> None:
        if event["type"] == "ERROR":
            self.failure = f"{self.selector or 'all'}: {event['object']}"
            return
        revision = int(event["object"]["metadata"]["resourceVersion"])
        if event["type"] != "BOOKMARK":
            self.events.append((event["type"], event["object"]))
        if revision < self.revision or (revision == self.revision and event["type"] != "BOOKMARK"):
            self.failure = f"{self.selector or 'all'}: {revision} came after {self.revision}"
        self.revision = revision


def run(folder: Path, points: int, seed: int, pause: tuple[float, float] = (0.02, 0.5)) -> str:
    """Kill `points` times; returns what was done, raises AssertionError with what was lost."""
    chance = random.Random(seed)
    server = Server(folder, "--secure-port", "0", "--no-controllers")
    server.start()
    record, stop = Record(), threading.Event()
    watchers = [Watcher(server, stop, selector) for selector in ("", "colour%3Dred")]
    for watcher in watchers:
        watcher.list()
    writers = [Writer(server, record, stop, seed + number) for number in range(WRITERS)]
    threads: list[threading.Thread] = [*watchers, *writers]
    for thread in threads:
        thread.start()
    try:
        for _ in range(points):
            time.sleep(chance.uniform(*pause))
            server.kill()
            server.start()
            assert not any(w.failure for w in watchers), [w.failure for w in watchers]
        time.sleep(0.5)
        stop.set()
        for thread in writers:
            thread.join(30)
        last = _last_write(server)
        for watcher in watchers:
            _await(watcher, last)
        listed = listed_by(server, PATH)
    finally:
        stop.set()
        server.stop()
        for thread in threads:
            thread.join(30)
    _judge(record, watchers, listed)
    return (
        f"{points} kills, {len(record.answered)} writes answered, {record.unanswered} not,"
        f" {record.refused} refused, {len(watchers[0].events)} events,"
        f" {watchers[0].resumed} resumptions"
    )


def _last_write(server: Server) -> int:
    """One more object, which every watcher selects; its revision. Whoever has seen it saw all."""
    client = Client(server)
    metadata = {"name": "c-last", "labels": {"colour": "red"}}
    try:
        status, answer = client.request("POST", PATH, {"metadata": metadata})
    finally:
        client.close()
    assert status == 201, answer
    return int(answer["metadata"]["resourceVersion"])


def _await(watcher: Watcher, revision: int) -> None:
    deadline = time.monotonic() + 30
    while watcher.revision < revision and not watcher.failure and time.monotonic() < deadline:
        time.sleep(0.05)
    name = watcher.selector or "all"
    assert watcher.revision >= revision, f"{name}: stands at {watcher.revision}, not {revision}"


def _judge(record: Record, watchers: list[Watcher], listed: dict[str, Any]) -> None:
    everything, red = watchers
    for watcher in watchers:
        assert not watcher.failure, watcher.failure
        revisions = [int(o["metadata"]["resourceVersion"]) for _, o in watcher.events]
        assert revisions == sorted(set(revisions)), "an event came twice, or out of order"
    seen = {int(o["metadata"]["resourceVersion"]) for _, o in everything.events}
    seen_red = {int(o["metadata"]["resourceVersion"]) for _, o in red.events}
    for write in record.answered:
        if write.deleted:
            continue
        assert write.revision in seen, f"an answered write is in no event: {write}"
        if write.colour == "red":
            assert write.revision in seen_red, f"a selected write is in no event: {write}"
    deletions = sum(1 for write in record.answered if write.deleted)
    told = sum(1 for type_, _ in everything.events if type_ == "DELETED")
    assert told >= deletions, f"{deletions} deletions were answered, and {told} told"
    state: dict[str, dict[str, Any]] = {}
    for type_, document in everything.events:
        name = document["metadata"]["name"]
        assert (type_ == "ADDED") == (name not in state), f"{type_} of {name}"
        state.pop(name, None)
        if type_ != "DELETED":
            state[name] = document
    items = {
        item["metadata"]["name"]: item["metadata"]["resourceVersion"]
        for item in listed["items"]
        if item["metadata"]["name"].startswith("c")
    }
    replayed = {n: o["metadata"]["resourceVersion"] for n, o in state.items()}
    assert items == replayed, f"the list is {items}, its events make {replayed}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(run(Path(folder), arguments.points, arguments.seed))
        except AssertionError as error:
            sys.exit(f"lost: {error}")


if __name__ == "__main__":
    main()
