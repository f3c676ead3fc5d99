"""What a test asks of the registry, in few words."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from listwatch.changefeed.freshness import QueryFreshness
from listwatch.changefeed.history import LogHistory
from listwatch.changefeed.pump import Pump
from listwatch.conf import Options
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import Encoded, JSONObject, decode
from listwatch.protocol.options import DeleteOptions, ListOptions
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import LabelSelector
from listwatch.protocol.versions import Version
from listwatch.registry.backend import Backend
from listwatch.registry.context import Deleted, RequestContext, UserInfo, Written
from listwatch.registry.patch import MERGE_PATCH
from listwatch.registry.registry import Registry
from listwatch.registry.resources import ResourceTable
from listwatch.store.group_commit import GroupCommitter
from listwatch.store.readers import Readers
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import ClientInfo
from listwatch.watchcache.watcher import CacheWatcher

TESTER = UserInfo("tester")
_GROUPS = {
    "deployments": "apps", "replicasets": "apps", "statefulsets": "apps", "daemonsets": "apps",
    "leases": "coordination.k8s.io", "endpointslices": "discovery.k8s.io",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class House:
    """The registry and the parts beneath it."""

    registry: Registry
    caches: Caches
    pump: Pump
    committer: GroupCommitter
    readers: Readers
    clock: FakeClock

    def ctx(
        self, resource: str, name: str = "", *, namespace: str = "default", group: str = "",
        **more: Any,  # Any: fields of a RequestContext
    ) -> RequestContext:  # fmt: skip
        resource, _, subresource = resource.partition("/")
        found = self.registry.resources.find(group or _GROUPS.get(resource, ""), "v1", resource)
        assert found is not None, resource
        namespace = namespace if found.namespaced else ""
        return RequestContext(
            TESTER, found, subresource=subresource, namespace=namespace, name=name, **more
        )

    async def create(self, resource: str, document: JSONObject, **more: Any) -> JSONObject:
        return shown(await self.registry.create(self.ctx(resource, **more), document))

    async def get(self, resource: str, name: str, **more: Any) -> JSONObject:
        return (await self.registry.get(self.ctx(resource, name, **more))).decode()

    async def put(self, resource: str, document: JSONObject, **more: Any) -> JSONObject:
        name = more.pop("name", "") or document["metadata"]["name"]
        return shown(await self.registry.update(self.ctx(resource, name, **more), document))

    async def patch(
        self, resource: str, name: str, patch: Any, patch_type: str = MERGE_PATCH, **more: Any
    ) -> JSONObject:
        return shown(await self.registry.patch(self.ctx(resource, name, **more), patch_type, patch))

    async def delete(self, resource: str, name: str, **options: Any) -> Deleted:
        namespace = options.pop("namespace", "default")
        ctx = self.ctx(resource, name, namespace=namespace)
        return await self.registry.delete(ctx, DeleteOptions(**options))

    async def delete_all(
        self, resource: str, *, options: DeleteOptions | None = None, labels: str = "",
        limit: int = 0,
    ) -> Sequence[Version]:  # fmt: skip
        selected = ListOptions(label_selector=LabelSelector.parse(labels), limit=limit)
        ctx = self.ctx(resource)
        return await self.registry.delete_collection(ctx, options or DeleteOptions(), selected)

    async def names(self, resource: str, **options: Any) -> list[str]:
        ctx = self.ctx(resource, namespace=options.pop("namespace", "default"))
        found = await self.registry.list(ctx, ListOptions(**options))
        return [version.name for version in found.versions]

    async def watch(self, resource: str, **options: Any) -> CacheWatcher:
        ctx = self.ctx(resource, namespace=options.pop("namespace", "default"))
        options.setdefault("send_initial_events", True)
        representation = JSONRepresentation(ctx.resource.kind, ctx.resource.api_version)
        return await self.registry.watch(
            ctx, ListOptions(watch=True, **options), representation, ClientInfo()
        )

    @property
    def revision(self) -> int:
        """The newest revision that was committed."""
        return self.committer.statistics().revision


@contextlib.asynccontextmanager
async def open_house() -> AsyncIterator[House]:
    """Start all parts on an empty store, and stop them."""
    clock = FakeClock()
    table = ResourceTable()
    committer = GroupCommitter(clock=clock)
    readers = Readers()
    caches = Caches(
        Progress(clock),
        history=LogHistory(readers, table.stored),
        clock=clock,
        options=CacheOptions(flush_interval=0.0),  # nothing waits for a clock that stands still
    )
    pump = Pump(caches, readers, table.stored, clock=clock)
    backend = Backend(
        table,
        caches,
        committer,
        readers,
        freshness=QueryFreshness(readers).current,
        clock=clock,
        options=Options(),
    )
    registry = Registry(backend)
    registry._backend.authorizer = None  # a tester may do everything
    committer.start()
    readers.start()
    for resource in table.served():
        caches.cacher(resource.storage)
    await pump.start()
    await registry.bootstrap()
    yield House(registry, caches, pump, committer, readers, clock)
    await asyncio.to_thread(committer.stop)
    await pump.stop()
    await asyncio.to_thread(readers.stop)


def shown(written: Written) -> JSONObject:
    if written.revision:
        return decode(written.encoded, written.revision)
    document: JSONObject = orjson.loads(written.encoded.body)
    return document


def object_of(deleted: Deleted) -> JSONObject:
    assert isinstance(deleted.encoded, Encoded)
    return decode(deleted.encoded, deleted.revision)


async def frames(watcher: CacheWatcher, count: int) -> list[tuple[str, JSONObject]]:
    """The next events of a watch."""
    found: list[tuple[str, JSONObject]] = []
    while len(found) < count:
        chunk = await watcher.next_chunk()
        assert chunk is not None, watcher.end_reason
        events = [orjson.loads(line) for line in chunk.splitlines()]
        found += [(event["type"], event["object"]) for event in events]
    return found


def configmap(name: str = "a", **more: Any) -> JSONObject:
    """A ConfigMap as a client sends it; `metadata` is merged."""
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **more}


def pod(name: str = "p", **spec: Any) -> JSONObject:
    metadata = {"name": name, **spec.pop("metadata", {})}
    spec.setdefault("containers", [{"name": "main", "image": "img.test/app:1"}])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def deployment(name: str = "d", **spec: Any) -> JSONObject:
    labels = {"app": name}
    containers = [{"name": "main", "image": "img.test/app:1"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    spec = {"selector": {"matchLabels": labels}, "template": template, **spec}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec,
    }  # fmt: skip


async def refused(call: Any) -> StatusError:
    """The refusal of a call that must be refused (Any: an awaitable)."""
    try:
        answer = await call
    except StatusError as error:
        return error
    raise AssertionError(f"not refused: {answer}")
