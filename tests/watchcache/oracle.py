"""A client that knows from the log what it must hear next, and says so when it hears otherwise.

The oracle is independent of the cache: it has the log, and selectors as plain functions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from listwatch.protocol.events import EndReason
from listwatch.protocol.selectors import Selector
from listwatch.watchcache.watcher import CacheWatcher
from tests.watchcache.kit import Log, Row, World, documents


class Asked(NamedTuple):
    """A selector, and the same as a function."""

    selector: Selector
    wants: Callable[[Row], bool]


def _asked(labels: str = "", fields: str = "", *, wants: Callable[[Row], bool]) -> Asked:
    return Asked(Selector.parse(labels, fields), wants)


def _label(row: Row, key: str) -> str | None:
    return (row.labels or {}).get(key)


ASKED = [
    _asked(wants=lambda row: True),
    _asked("app=x", wants=lambda row: _label(row, "app") == "x"),
    _asked("app in (x,y)", wants=lambda row: _label(row, "app") in ("x", "y")),
    _asked("app!=x", wants=lambda row: _label(row, "app") != "x"),
    _asked("!app", wants=lambda row: _label(row, "app") is None),
    _asked(
        "tier=x,app=y", wants=lambda row: (_label(row, "tier"), _label(row, "app")) == ("x", "y")
    ),
    _asked(fields="spec.nodeName=", wants=lambda row: row.node == ""),
    _asked(fields="spec.nodeName=n1", wants=lambda row: row.node == "n1"),
    _asked(
        "app=x", "spec.nodeName!=n1",
        wants=lambda row: _label(row, "app") == "x" and row.node != "n1",
    ),
]  # fmt: skip


class Heard(NamedTuple):
    """One event as a client sees it."""

    type: str
    key: str
    revision: int
    labels: dict[str, str]


@dataclass(eq=False)
class Client:
    """Follows one watch and checks each frame against the log."""

    world: World
    watcher: CacheWatcher
    asked: Asked
    namespace: str
    name: str
    eager: bool
    at: int  # everything up to here was heard
    opened_at: int
    state_revision: int | None = None  # of the state that is still being told
    state: dict[str, int] | None = field(default_factory=dict)  # key to revision; None: unknown
    initial: list[Heard] = field(default_factory=list)
    read_at: float = 0.0
    task: asyncio.Task[bytes | None] | None = None

    def wants(self, row: Row | None) -> bool:
        if row is None or row.labels is None:
            return False
        if self.namespace not in ("", row.namespace) or self.name not in ("", row.name):
            return False
        return self.asked.wants(row)

    def wanted_state(self, revision: int) -> dict[str, Row]:
        rows = self.world.log.state(revision).items()
        return {key: row for key, row in rows if self.wants(row)}

    def expected(self, after: int, until: int) -> Iterator[Heard]:
        """What the log says that this client hears between two revisions."""
        log: Log = self.world.log
        for row in log.rows:
            if not after < row.revision <= until:
                continue
            before = log.before(row)
            was, is_ = self.wants(before), self.wants(row)
            if is_:
                kind = "MODIFIED" if was else "ADDED"
                yield Heard(kind, row.key, row.revision, dict(row.labels or {}))
            elif was:
                assert before is not None
                yield Heard("DELETED", row.key, row.revision, dict(before.labels or {}))

    async def read(self) -> bool:
        """Read one chunk, if there is one; whether there was."""
        if self.task is None:
            self.task = asyncio.ensure_future(self.watcher.next_chunk())
        for turn in range(1000):
            await asyncio.sleep(0)
            waits = self.watcher._waiter is not None  # for an event; else it reads the log
            if self.task.done() or (waits and turn > 5):
                break
        if self.watcher.end_reason is None:
            self.read_at = self.world.clock.monotonic()
        if not self.task.done():
            if not self.eager:
                self.task.cancel()
                await asyncio.gather(self.task, return_exceptions=True)
                self.task = None
            return False
        task, self.task = self.task, None
        chunk = task.result()
        if chunk is None:
            return False
        for document in documents(chunk):
            self._hear(document)
        return True

    def check_end(self) -> None:
        """The watch has ended: there must be a reason for the one that it names."""
        world, reason = self.world, self.watcher.end_reason
        if reason is EndReason.TOO_SLOW:
            lost = list(self.expected(min(self.at, self.opened_at), world.pods.floor))
            idle = (self.watcher.ended_at or 0.0) - self.read_at
            assert lost or idle >= world.options.slow_reader_timeout - 0.01
        else:
            assert reason in (EndReason.HISTORY_LOST, EndReason.CLIENT_LEFT)

    def check_complete(self) -> None:
        """All that was applied has been heard, and makes the state that the log says."""
        applied = self.world.progress.applied
        assert self.state_revision is None, "the initial state has not ended"
        assert not list(self.expected(self.at, applied)), "events are missing"
        if self.state is not None:
            wanted = {key: row.revision for key, row in self.wanted_state(applied).items()}
            assert self.state == wanted

    def _hear(self, document: dict[str, Any]) -> None:  # Any: JSON
        kind, metadata = document["type"], document["object"]["metadata"]
        if kind == "ERROR":
            assert document["object"]["reason"] == "Expired"
            assert self.at < self.world.log.compacted_to, "410, though the log still has it"
            return
        revision = int(metadata["resourceVersion"])
        if kind == "BOOKMARK":
            self._hear_bookmark(revision, end="annotations" in metadata)
            return
        key = f"{metadata['namespace']}/{metadata['name']}"
        heard = Heard(kind, key, revision, metadata["labels"])
        if self.state_revision is not None:
            self.initial.append(heard)
            if not self.watcher.request.bookmarks:
                self._end_initial_if_complete()
            return
        expected = next(self.expected(self.at, 1 << 60), None)
        assert heard == expected
        self.at = revision
        if self.state is not None:
            if kind == "DELETED":
                del self.state[key]
            else:
                assert (key in self.state) == (kind == "MODIFIED")
                self.state[key] = revision

    def _hear_bookmark(self, revision: int, *, end: bool) -> None:
        assert self.watcher.request.bookmarks
        assert end == (self.state_revision is not None)
        if end:
            assert revision == self.state_revision
            self._end_initial(revision)
        assert self.at <= revision <= self.world.progress.applied
        assert not list(self.expected(self.at, revision)), "a bookmark ahead of an event"
        self.at = revision

    def _end_initial_if_complete(self) -> None:
        assert self.state_revision is not None
        if len(self.initial) == len(self.wanted_state(self.state_revision)):
            self._end_initial(self.state_revision)

    def _end_initial(self, revision: int) -> None:
        wanted = self.wanted_state(revision).values()
        assert self.initial == [
            Heard("ADDED", row.key, row.revision, dict(row.labels or {})) for row in wanted
        ]
        self.state = {row.key: row.revision for row in wanted}
        self.state_revision = None
        self.at = revision
