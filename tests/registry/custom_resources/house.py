"""A registry that follows definitions as a server does, and what a test asks of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from listwatch.changefeed.freshness import QueryFreshness
from listwatch.changefeed.history import LogHistory
from listwatch.changefeed.pump import Pump
from listwatch.conf import Options
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import JSONObject
from listwatch.registry.backend import Backend
from listwatch.registry.context import RequestContext
from listwatch.registry.custom_resources.definitions import Definitions
from listwatch.registry.custom_resources.lifecycle import Lifecycle
from listwatch.registry.custom_resources.resources_of import DEFINITIONS
from listwatch.registry.registry import Registry
from listwatch.registry.resources import ResourceTable
from listwatch.store.group_commit import GroupCommitter
from listwatch.store.readers import Readers
from listwatch.testing.clock import FakeClock
from listwatch.watchcache.caches import Caches
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from tests.registry.house import TESTER, House

GROUP = "w.test"
SECONDS = 10.0  # for what other tasks and threads have to do


@dataclass(frozen=True, slots=True)
class CustomHouse(House):
    """The registry, and what keeps definitions."""

    definitions: Definitions
    lifecycle: Lifecycle

    def at(
        self, name: str = "", *, version: str = "v1", part: str = "", **more: Any
    ) -> RequestContext:
        """A request for widgets (Any: fields of a RequestContext)."""
        found = self.registry.resources.find(GROUP, version, "widgets")
        assert found is not None, f"widgets.{version}"
        namespace = "default" if found.namespaced else ""
        return RequestContext(
            TESTER, found, subresource=part, namespace=namespace, name=name, **more
        )

    async def define(self, document: JSONObject) -> JSONObject:
        """Create a definition, and wait until it is served."""
        name = document["metadata"]["name"]
        await self.create("customresourcedefinitions", document, group=DEFINITIONS.group)
        await until(lambda: self.condition(name, "Established", "True"))
        return await self.definition(name)

    async def definition(self, name: str) -> JSONObject:
        return await self.get("customresourcedefinitions", name, group=DEFINITIONS.group)

    async def condition(self, name: str, kind: str, status: str) -> bool:
        conditions = (await self.definition(name))["status"].get("conditions") or []
        return any((one["type"], one["status"]) == (kind, status) for one in conditions)

    async def redefine(self, name: str, patch: list[Any]) -> JSONObject:
        from listwatch.registry.patch import JSON_PATCH

        return await self.patch(
            "customresourcedefinitions", name, patch, JSON_PATCH, group=DEFINITIONS.group
        )

    async def undefine(self, name: str) -> None:
        from listwatch.protocol.options import DeleteOptions

        ctx = self.ctx("customresourcedefinitions", name, group=DEFINITIONS.group)
        await self.registry.delete(ctx, DeleteOptions())

    async def is_gone(self, name: str) -> bool:
        try:
            await self.definition(name)
        except StatusError as error:
            return error.code == 404
        return False


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what other tasks do."""
    async with asyncio.timeout(SECONDS):
        while not await holds():  # noqa: ASYNC110 (other threads have to commit)
            await asyncio.sleep(0.002)


@contextlib.asynccontextmanager
async def open_custom_house() -> AsyncIterator[CustomHouse]:
    """Start all parts on whatever is in the store, and stop them."""
    clock, table, readers = FakeClock(), ResourceTable(), Readers()
    committer = GroupCommitter(clock=clock)
    caches = Caches(
        Progress(clock),
        history=LogHistory(readers, table.stored),
        clock=clock,
        options=CacheOptions(flush_interval=0.0),
    )
    pump = Pump(caches, readers, table.stored, clock=clock)
    definitions = Definitions(table, caches)
    pump.follow(DEFINITIONS, definitions)
    backend = Backend(
        table, caches, committer, readers,
        freshness=QueryFreshness(readers).current, clock=clock, options=Options(),
    )  # fmt: skip
    registry = Registry(backend)
    registry._backend.authorizer = None  # a tester may do everything
    lifecycle = Lifecycle(registry, definitions, clock=clock)
    committer.start()
    readers.start()
    for resource in table.served():
        caches.cacher(resource.storage)
    await pump.start()
    await registry.bootstrap()
    lifecycle.start()
    yield CustomHouse(registry, caches, pump, committer, readers, clock, definitions, lifecycle)
    await lifecycle.stop()
    await asyncio.to_thread(committer.stop)
    await pump.stop()
    await asyncio.to_thread(readers.stop)


SPEC: JSONObject = {
    "type": "object",
    "properties": {"size": {"type": "integer", "maximum": 10}, "colour": {"type": "string"}},
}


def version(name: str = "v1", spec: JSONObject = SPEC, **more: Any) -> JSONObject:
    """One version of a definition."""
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    return {
        "name": name, "served": True, "storage": name == "v1",
        "schema": {"openAPIV3Schema": schema}, **more,
    }  # fmt: skip


def definition(*versions: JSONObject, plural: str = "widgets", **spec: Any) -> JSONObject:
    """A definition as a client sends it."""
    names = {"plural": plural, "kind": plural.title()[:-1], **spec.pop("names", {})}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": names,
            "versions": list(versions) or [version()], **spec,
        },
    }  # fmt: skip


def widget(name: str = "a", version: str = "v1", **more: Any) -> JSONObject:
    """A widget as a client sends it."""
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Widget", "metadata": metadata, **more}


NAME = f"widgets.{GROUP}"
