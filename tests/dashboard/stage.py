"""A runtime without a store: real caches, watches and observers, fed by hand.

For tests of what the dashboard makes of statistics and events; the journeys through a browser use
the whole server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeVar

from listwatch.conf import Options
from listwatch.protocol.clock import Clock
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource, Resource
from listwatch.protocol.objects import encode
from listwatch.protocol.representations import JSONRepresentation, Representation
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.registry import reads
from listwatch.registry.authorization.authorizer import Authorizer
from listwatch.registry.authorization.index import RoleIndex
from listwatch.registry.context import RequestContext
from listwatch.registry.resources import ResourceTable
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.observer import Observers
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import ClientInfo, WatchRequest
from listwatch.watchcache.statistics import CacherStatistics
from listwatch.watchcache.watcher import CacheWatcher

Result = TypeVar("Result")
PODS = GroupResource("", "pods")


class NoHistory:
    """A log that holds nothing."""

    async def changes(
        self, group_resource: GroupResource, after: int, until: int, limit: int
    ) -> list[Version]:
        return []

    async def state_at(
        self,
        group_resource: GroupResource,
        revision: int,
        *,
        prefix: str = "",
        after_key: str = "",
        limit: int = 500,
    ) -> list[Version]:
        return []

    async def compacted(self) -> int:
        return 1_000_000_000


@dataclass
class Statistics:
    started_at: float
    head: int
    applied: int
    cachers: dict[str, CacherStatistics]


class Readers:
    """A thread for each call."""

    async def run(self, function: Callable[..., Result], *args: Any) -> Result:
        return await asyncio.to_thread(function, *args)


class Stage:
    """What the dashboard needs of a Runtime."""

    def __init__(self, clock: Clock | None = None, **options: Any) -> None:
        self.clock = clock or FakeClock()
        self.options = Options()
        self.resources = ResourceTable()
        self.observers = Observers()
        self.readers = Readers()
        self.caches = Caches(
            Progress(self.clock),
            history=NoHistory(),
            clock=self.clock,
            options=CacheOptions(flush_interval=0, **options),
            observer=self.observers,
        )
        for resource in self.resources.served():
            self.caches.cacher(resource.storage)
        self.caches.fill(0, 0, {})
        self.pump = SimpleNamespace(statistics=lambda: SimpleNamespace(newest_via="signal"))
        self.registry = SimpleNamespace(watch=self._watch, authorizer=Authorizer(RoleIndex()))
        self.faults: Any = None
        self.ready = True
        self.started_at = self.clock.now()

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """End all watches."""
        self.caches.end_watches(EndReason.SERVER_STOPPING)

    def statistics(self) -> Statistics:
        applied = self.caches.progress.applied
        cachers = {str(key): each for key, each in self.caches.statistics().items()}
        return Statistics(self.started_at, applied, applied, cachers)

    def write(
        self,
        name: str,
        *,
        namespace: str = "default",
        resource: str = "pods",
        deleted: bool = False,
        labels: dict[str, str] | None = None,
        spec: Any = None,
        took: float = 0.0005,
    ) -> int:
        """One event, committed `took` seconds ago; returns its revision."""
        group_resource = GroupResource.parse(resource)
        stored = self.resources.stored(group_resource)
        assert stored is not None
        namespace = namespace if stored.namespaced else ""
        metadata: dict[str, Any] = {"name": name, "uid": f"uid-{name}", "labels": labels or {}}
        if namespace:
            metadata["namespace"] = namespace
        document = {"kind": stored.kind, "apiVersion": stored.api_version, "metadata": metadata}
        revision = self.caches.progress.applied + 1
        version = Version(
            namespace=namespace,
            name=name,
            uid=f"uid-{name}",
            revision=revision,
            encoded=encode({**document, "spec": spec or {}}),
            labels=labels or {},
            fields={"metadata.name": name, "metadata.namespace": namespace},
            deleted=deleted,
            committed_at=self.clock.now() - took,
        )
        self.caches.apply(group_resource, version)
        self.caches.advance(revision)
        return revision

    async def watch(
        self,
        *,
        agent: str = "kubectl/v1.37.1 (linux/amd64) kubernetes/abc",
        user: str = "admin",
        resource: str = "pods",
        namespace: str = "",
        labels: str = "",
        **more: Any,
    ) -> CacheWatcher:
        """A watch as some client opens it."""
        group_resource = GroupResource.parse(resource)
        stored: Resource | None = self.resources.stored(group_resource)
        assert stored is not None
        return await self.caches.cacher(group_resource).watch(
            WatchRequest(
                representation=JSONRepresentation(stored.kind, stored.api_version),
                namespace=namespace,
                selector=Selector.parse(labels),
                client=ClientInfo(agent, user, "127.0.0.1"),
                **more,
            )
        )

    async def _watch(
        self,
        ctx: RequestContext,
        options: Any,
        representation: Representation,
        client: ClientInfo,
    ) -> CacheWatcher:
        async def freshness() -> int:
            return self.caches.progress.applied

        backend: Any = SimpleNamespace(
            caches=self.caches, freshness=freshness, options=self.options
        )
        return await reads.watch(backend, ctx, options, representation, client)
