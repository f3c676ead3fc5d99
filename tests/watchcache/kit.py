"""What the tests of this room share: pods, a log in memory, and a cache that is fed from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import encode
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.cacher import Cacher
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.history import HistoryLost
from listwatch.watchcache.observer import Observer
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import ListRequest, WatchRequest
from listwatch.watchcache.watcher import CacheWatcher

PODS = GroupResource("", "pods")
JSON = JSONRepresentation("Pod", "v1")
Frame = tuple[str, str, int]  # type, name (with namespace), revision


@dataclass(frozen=True)
class Row:
    """One row of the log: what a write left behind; `labels` None is a deletion."""

    revision: int
    namespace: str
    name: str
    labels: Mapping[str, str] | None
    node: str = ""
    committed_at: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def version(
    revision: int,
    name: str,
    labels: Mapping[str, str] | None = None,
    *,
    namespace: str = "blue",
    node: str = "",
    deleted: bool = False,
    note: str = "",
) -> Version:
    """A pod's version. A field without a value is left out, as hard as it can be for an index."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "labels": dict(labels or {}),
    }
    if note:
        metadata["annotations"] = {"note": note}
    fields = {"metadata.name": name, "metadata.namespace": namespace}
    if node:
        fields["spec.nodeName"] = node
    return Version(
        namespace=namespace,
        name=name,
        uid=name,
        revision=revision,
        encoded=encode(
            {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": node}}
        ),
        labels=dict(labels or {}),
        fields=fields,
        deleted=deleted,
    )


class Log:
    """The log in memory, and at the same time the HistoryReader of the cache under test."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.current = 0
        self.compacted_to = 0
        self.reads = 0

    def write(
        self, name: str, labels: Mapping[str, str] | None, namespace: str = "blue", node: str = ""
    ) -> Row:
        self.current += 1
        row = Row(self.current, namespace, name, labels, node)
        self.rows.append(row)
        return row

    def write_elsewhere(self) -> None:
        self.current += 1

    def state(self, revision: int) -> dict[str, Row]:
        """What was there at a revision, by key in key order."""
        found: dict[str, Row] = {}
        for row in self.rows:
            if row.revision > revision:
                break
            if row.labels is None:
                found.pop(row.key, None)
            else:
                found[row.key] = row
        return dict(sorted(found.items()))

    def before(self, row: Row) -> Row | None:
        """What a row replaced, a deletion included."""
        earlier = (r for r in reversed(self.rows) if r.revision < row.revision)
        return next((r for r in earlier if r.key == row.key), None)

    def version_of(self, row: Row, *, linked: bool = False) -> Version:
        before = self.before(row)
        labels, node = row.labels, row.node
        if labels is None:
            assert before is not None
            labels, node = before.labels, before.node
        made = version(
            row.revision,
            row.name,
            labels,
            namespace=row.namespace,
            node=node,
            deleted=row.labels is None,
        )
        if linked and before is not None and before.labels is not None:
            made.previous = self.version_of(before)
        return made

    async def changes(
        self, group_resource: GroupResource, after: int, until: int, limit: int
    ) -> list[Version]:
        self.reads += 1
        await asyncio.sleep(0)
        if after < self.compacted_to:
            raise HistoryLost(self.compacted_to)
        rows = [row for row in self.rows if after < row.revision <= until]
        return [self.version_of(row, linked=True) for row in rows[:limit]]

    async def state_at(
        self,
        group_resource: GroupResource,
        revision: int,
        *,
        prefix: str = "",
        after_key: str = "",
        limit: int = 500,
    ) -> list[Version]:
        self.reads += 1
        await asyncio.sleep(0)
        if revision < self.compacted_to:
            raise HistoryLost(self.compacted_to)
        rows = self.state(revision).items()
        found = [row for key, row in rows if key.startswith(prefix) and key > after_key]
        return [self.version_of(row) for row in found[:limit]]

    async def compacted(self) -> int:
        await asyncio.sleep(0)
        return self.compacted_to


OPTIONS = CacheOptions(flush_interval=0.0)


@dataclass
class World:
    """A log, and a cache that follows it write by write, under a clock turned by hand."""

    options: CacheOptions = OPTIONS
    observer: Observer | None = None
    clock: FakeClock = field(default_factory=FakeClock)
    log: Log = field(default_factory=Log)

    def __post_init__(self) -> None:
        self.progress = Progress(self.clock)
        self.caches = Caches(
            self.progress,
            history=self.log,
            clock=self.clock,
            options=self.options,
            observer=self.observer,
        )
        self.fill(0)

    @property
    def pods(self) -> Cacher:
        return self.caches.cacher(PODS)

    def fill(self, floor: int) -> None:
        """Start, or start again, with a ring that goes back to `floor`."""
        rows = [row for row in self.log.rows if row.revision > floor]
        history = [self.log.version_of(row, linked=True) for row in rows]
        for event, row in zip(history, rows, strict=True):
            event.committed_at = row.committed_at
        state = self.log.state(self.log.current).values()
        self.caches.fill(
            self.log.current, floor, {PODS: ([self.log.version_of(row) for row in state], history)}
        )

    def write(
        self, name: str, labels: Mapping[str, str] | None, namespace: str = "blue", node: str = ""
    ) -> int:
        """Create or replace an object (labels None: delete it); returns the revision."""
        row = self.log.write(name, labels, namespace, node)
        self.caches.apply(PODS, self.log.version_of(row))
        self.caches.advance(row.revision)
        return row.revision

    def write_elsewhere(self) -> int:
        """Another resource was written."""
        self.log.write_elsewhere()
        self.caches.advance(self.log.current)
        return self.log.current

    async def watch(self, **request: Any) -> CacheWatcher:  # Any: fields of a WatchRequest
        return await self.pods.watch(WatchRequest(**{"representation": JSON, **request}))

    def names(self, **request: Any) -> list[str]:  # Any: fields of a ListRequest
        return [v.name for v in self.pods.list(ListRequest(**request)).versions]


def frames(chunk: bytes | None) -> list[Frame]:
    """The frames of a chunk, each as type, key and revision."""
    return [
        (frame["type"], key, int(metadata.get("resourceVersion", 0)))
        for frame in documents(chunk)
        for metadata in [frame["object"]["metadata"]]
        for key in [metadata.get("name", "")]
    ]


def documents(chunk: bytes | None) -> list[dict[str, Any]]:  # Any: JSON
    """The frames of a chunk as they are."""
    assert chunk is not None
    assert chunk.endswith(b"\n")
    return [json.loads(line) for line in chunk.splitlines()]


async def settle() -> None:
    """Let everything that can run, run."""
    for _ in range(5):
        await asyncio.sleep(0)


async def everything(watcher: CacheWatcher) -> list[Frame]:
    """All that a watch has to say by now."""
    found: list[Frame] = []
    await settle()
    while True:
        task = asyncio.ensure_future(watcher.next_chunk())
        await settle()
        while watcher.phase == "log" and not task.done():
            await settle()  # it reads on, though none of what it read may be for it
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return found
        chunk = task.result()
        if chunk is None:
            return found
        found += frames(chunk)


def labelled(text: str) -> Selector:
    return Selector.parse(labels=text)


def fielded(text: str) -> Selector:
    return Selector.parse(fields=text)
