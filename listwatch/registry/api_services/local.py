"""An APIService for each group version that is served here, built in or custom.

Upstream: the autoregister controller of kube-aggregator. They are written behind the start of the
server, since nobody waits for them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError
from listwatch.protocol.options import DeleteOptions, ListOptions
from listwatch.registry.api_services.remotes import API_SERVICES
from listwatch.registry.context import SYSTEM, RequestContext

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from listwatch.protocol.clock import Clock
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.registry import Registry

logger = logging.getLogger(__name__)

MANAGED = "kube-aggregator.kubernetes.io/automanaged"
_AGAIN = 5.0  # seconds after a failure
# Upstream's, in pkg/controlplane/apiserver/aggregator.go: where a client looks first for a name.
_GROUPS = {
    "": 18000, "apps": 17800, "events.k8s.io": 17750, "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600, "autoscaling": 17500, "batch": 17400,
    "certificates.k8s.io": 17300, "networking.k8s.io": 17200, "policy": 17100,
    "rbac.authorization.k8s.io": 17000, "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700, "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600, "coordination.k8s.io": 16500, "node.k8s.io": 16300,
    "discovery.k8s.io": 16200, "resource.k8s.io": 16200, "flowcontrol.apiserver.k8s.io": 16100,
    "apiregistration.k8s.io": 18000,
}  # fmt: skip
_VERSIONS = {("", "v1"): 1, ("autoscaling", "v2"): 30}
_BUILT_IN, _CUSTOM_GROUP, _CUSTOM = 15, 1000, 100


class LocalServices:
    """Keeps the APIServices of what is served here. Owned by one event loop."""

    def __init__(self, registry: Registry, *, clock: Clock) -> None:
        self._registry = registry
        self._clock = clock
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        registry.resources.subscribe(lambda resource, served: self._changed.set())

    def start(self) -> None:
        """Begin to write what is missing."""
        self._changed.set()
        self._task = asyncio.create_task(self._run(), name="local API services")

    async def stop(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def check(self) -> None:
        """Something of the APIServices has changed: what was taken away is put back."""
        self._changed.set()

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._write()
            except Exception:
                logger.exception("the APIServices of this server could not be written")
                await self._clock.sleep(_AGAIN)
                self._changed.set()

    async def _write(self) -> None:
        resource = self._registry.resources.find(API_SERVICES.group, "v1", API_SERVICES.resource)
        assert resource is not None
        found = await self._registry.list(RequestContext(SYSTEM, resource), ListOptions())
        known = {version.name: version for version in found.versions}
        groups = self._registry.resources.groups()
        wanted = {
            f"{version}.{group}": (group, version)
            for group, versions in groups.items()
            for version in versions
        }
        writes: list[Awaitable[object]] = []
        for name, (group, version) in wanted.items():
            if name not in known:
                document = self._document(name, group, version)
                writes.append(self._registry.create(RequestContext(SYSTEM, resource), document))
        for name, there in known.items():
            if name not in wanted and MANAGED in there.labels:
                ctx = RequestContext(SYSTEM, resource, name=name)
                writes.append(self._registry.delete(ctx, DeleteOptions()))
        await asyncio.gather(*map(_unless_there, writes))  # all at once: they share a commit

    def _document(self, name: str, group: str, version: str) -> JSONObject:
        custom = all(one.custom is not None for one in self._registry.resources.of(group, version))
        built_in = _VERSIONS.get((group, version), _BUILT_IN)
        return {
            "kind": "APIService",
            "apiVersion": "apiregistration.k8s.io/v1",
            "metadata": {"name": name, "labels": {MANAGED: "true" if custom else "onstart"}},
            "spec": {
                **({"group": group} if group else {}),
                "version": version,
                "groupPriorityMinimum": _CUSTOM_GROUP if custom else _GROUPS.get(group, 16000),
                "versionPriority": _CUSTOM if custom else built_in,
            },
        }


async def _unless_there(write: Awaitable[object]) -> None:
    # Another server has done the same.
    try:
        await write
    except StatusError as error:
        if error.code not in (404, 409):
            raise
