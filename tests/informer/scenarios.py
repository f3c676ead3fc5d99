"""What befalls an informer that is a process of its own, and whether it ends equal to the server.

The same for ours (`test_faults`) and for the official one (`comparison`, which writes the docs).
"""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.informer.proxy import BUSY, EXPIRED, Fault, Proxy
from tests.servers import ROOT, Server

_NUMBERS = itertools.count(1)
OURS = "our_process"
OFFICIAL = "official_process"
ENVIRONMENT = {"LISTWATCH_BOOKMARK_PERIOD": "1"}


@dataclass
class Stage:
    """A server, a proxy before it, a namespace, and an informer that looks at it."""

    server: Server
    proxy: Proxy
    program: str
    namespace: str = field(default_factory=lambda: f"stage-{next(_NUMBERS)}")
    process: subprocess.Popen[str] | None = None
    answers: queue.Queue[str] = field(default_factory=queue.Queue)
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps"

    # The server's side

    def prepare(self) -> None:
        self.server.json("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        for name in ("kept", "changed", "gone"):
            self.create(name)

    def create(self, name: str, text: str = "") -> None:
        body = {"metadata": {"name": name}, "data": {"text": text}}
        self.server.json("POST", self.path, body)

    def change(self, name: str, text: str) -> None:
        self.server.json(
            "PATCH",
            f"{self.path}/{name}",
            {"data": {"text": text}},
            Content_Type="application/merge-patch+json",
        )

    def delete(self, name: str) -> None:
        self.server.json("DELETE", f"{self.path}/{name}")

    def all_changes(self) -> None:
        """One object changes, one goes, one comes."""
        self.change("changed", "new")
        self.delete("gone")
        self.create("came")

    def truth(self) -> dict[str, str]:
        items = self.server.json("GET", self.path)["items"]
        return {o["metadata"]["name"]: o["metadata"]["resourceVersion"] for o in items}

    # The informer's side

    def start(self) -> None:
        arguments = [self.proxy.url, self.server.token, self.namespace]
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"tests.informer.{self.program}", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, cwd=ROOT,
        )  # fmt: skip
        stdout, stderr = self.process.stdout, self.process.stderr
        assert stdout is not None
        assert stderr is not None
        for stream, take in ((stdout, self.answers.put), (stderr, lambda _: None)):
            threading.Thread(
                target=lambda s=stream, t=take: [t(line) for line in s], daemon=True
            ).start()
        self.until(lambda state: state["synced"] and state["cache"] == self.truth(), 20)

    def state(self, question: str = "state") -> Any:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(f"{question}\n")
        self.process.stdin.flush()
        return json.loads(self.answers.get(timeout=20))

    def until(self, condition: Callable[[Any], bool], seconds: float) -> bool:
        """Whether it came true in time; looks often."""
        deadline = time.monotonic() + seconds
        while not condition(self.state()):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def cut_and(stage: Stage, *faults: Fault) -> None:
    """Changes happen while the informer is away, and then this befalls it."""
    stage.proxy.refuse()
    stage.all_changes()
    stage.proxy.faults.extend(faults)
    stage.proxy.accept()


def restart(stage: Stage) -> None:
    stage.server.kill()
    time.sleep(0.3)
    stage.server.start()
    stage.all_changes()


def stop_and_start(stage: Stage) -> None:
    stage.server.stop()
    stage.server.start()
    stage.all_changes()


def gone_as_status(stage: Stage) -> None:
    cut_and(stage, Fault("watch", status=410, body=EXPIRED))


def gone_in_the_stream(stage: Stage) -> None:
    cut_and(stage, Fault("watch", frames=({"type": "ERROR", "object": EXPIRED},)))


def cut_line(stage: Stage) -> None:
    cut_and(stage, Fault("watch", cut_after=700))


def split_characters(stage: Stage) -> None:
    stage.proxy.always = Fault(split=7)
    stage.proxy.cut()
    stage.all_changes()
    stage.change("kept", "変更😀" * 40)


def silence(stage: Stage) -> None:
    stage.proxy.silence()
    stage.all_changes()


def busy(stage: Stage) -> None:
    cut_and(stage, *[Fault(status=429, body=BUSY)] * 3)


def refused(stage: Stage) -> None:
    stage.proxy.refuse()
    stage.all_changes()
    time.sleep(2)
    stage.proxy.accept()


def slow(stage: Stage) -> None:
    stage.proxy.always = Fault(delay=1.5)
    stage.proxy.cut()
    stage.all_changes()


def no_bookmarks(stage: Stage) -> None:
    stage.proxy.rewrite = lambda target: target.replace("allowWatchBookmarks=true", "x=y")
    stage.proxy.cut()
    stage.all_changes()
    time.sleep(5)  # longer than silence lasts
    stage.change("kept", "late")


def dying(stage: Stage) -> None:
    """Every watch is accepted and closed at once, for three seconds."""
    stage.proxy.always = Fault("watch", frames=())
    before = stage.proxy.watches()
    stage.proxy.cut()
    stage.all_changes()
    time.sleep(3)
    stage.notes["watches"] = stage.proxy.watches() - before
    stage.proxy.always = None
    stage.change("kept", "late")


def reset(stage: Stage) -> None:
    """Every watch is reset before its first byte, for three seconds."""
    stage.proxy.always = Fault("watch", cut_after=0)
    before = stage.proxy.watches()
    stage.proxy.cut()
    stage.all_changes()
    time.sleep(3)
    stage.notes["watches"] = stage.proxy.watches() - before
    stage.proxy.always = None


def nothing_changes(stage: Stage) -> None:
    """Five cuts, and five times 410."""
    for _ in range(5):
        stage.proxy.cut()
        time.sleep(0.5)
    for _ in range(5):
        stage.proxy.faults.append(Fault("watch", frames=({"type": "ERROR", "object": EXPIRED},)))
        stage.proxy.cut()
        time.sleep(1)


def late_handler(stage: Stage) -> None:
    stage.state("late")


def no_such_json(stage: Stage) -> None:
    stage.proxy.refuse()
    stage.all_changes()
    stage.proxy.faults.append(Fault("watch", status=200, body=b'{"type":"ADDED","object":{{{\n'))
    stage.proxy.accept()


@dataclass(frozen=True)
class Scenario:
    """One of them; `seconds` until the informer must be equal again."""

    title: str
    act: Callable[[Stage], None]
    seconds: float = 12.0
    environment: dict[str, str] = field(default_factory=dict)


SCENARIOS = [
    Scenario("the server is killed and started", restart, 25),
    Scenario("the server is stopped and started", stop_and_start, 25),
    Scenario("410 as the answer to a watch", gone_as_status),
    Scenario("410 inside the stream", gone_in_the_stream),
    Scenario("a line is cut in the middle", cut_line),
    Scenario("characters are split between packets", split_characters),
    Scenario("the connection falls silent", silence),
    Scenario("429 three times", busy, 15),
    Scenario("connections are refused for two seconds", refused),
    Scenario("every answer takes 1.5 seconds", slow, 15),
    Scenario(
        "no streaming lists", gone_in_the_stream, environment={"LISTWATCH_STREAMING_LISTS": "0"}
    ),
    Scenario("no bookmarks", no_bookmarks, 15),
    Scenario("every watch is closed at once for three seconds", dying, 15),
    Scenario("every watch is reset for three seconds", reset, 15),
    Scenario("a frame is no JSON", no_such_json),
    Scenario("five cuts and five 410s while nothing changes", nothing_changes),
    Scenario("a handler is added late", late_handler),
]


@dataclass(frozen=True)
class Outcome:
    """How it ended."""

    cache_equal: bool
    handlers_equal: bool
    illegal: tuple[str, ...]
    repeats: int
    seconds: float
    missing: str
    notes: dict[str, Any]
    state: Any


def play(scenario: Scenario, server: Server, proxy: Proxy, program: str) -> Outcome:
    """Run one scenario on a stage of its own."""
    stage = Stage(server, proxy, program)
    stage.prepare()
    try:
        stage.start()
        scenario.act(stage)
        begin, truth = time.monotonic(), stage.truth()
        stage.until(
            lambda state: state["cache"] == truth and state["handlers"] == truth, scenario.seconds
        )
        took, state = time.monotonic() - begin, stage.state()
        return Outcome(
            state["cache"] == truth,
            state["handlers"] == truth,
            tuple(state["illegal"]),
            state["repeats"],
            took,
            _difference(state["cache"], truth),
            stage.notes,
            state,
        )
    finally:
        stage.stop()
        proxy.always = None
        proxy.rewrite = lambda target: target
        proxy.faults.clear()


def _difference(cache: dict[str, str], truth: dict[str, str]) -> str:
    parts = {
        "misses": sorted(truth.keys() - cache.keys()),
        "still has": sorted(cache.keys() - truth.keys()),
        "is old in": sorted(n for n in cache.keys() & truth.keys() if cache[n] != truth[n]),
    }
    return "; ".join(f"{what} {', '.join(names)}" for what, names in parts.items() if names)


def serving(folder: Path, scenario: Scenario) -> Server:
    """A server as the scenario wants it, not started."""
    return Server(folder, **ENVIRONMENT, **scenario.environment)
