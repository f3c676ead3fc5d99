"""What objects say about others, kept true: the usage of quotas, the rules of aggregated roles.

Upstream has a controller for each. Nothing is decided by these values (admission counts the
objects themselves, authorization follows the labels): they are for people and clients to read.
Started by `runtime`; it hears of events from the caches and writes through the registry.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.errors import StatusError
from listwatch.protocol.quantities import Quantity
from listwatch.registry.admission.quotas import QUOTAS
from listwatch.registry.authorization.index import CLUSTER_ROLES
from listwatch.registry.context import SYSTEM, RequestContext
from listwatch.schemas import amounts
from listwatch.schemas.quota_usage import fits, usage
from listwatch.watchcache.observer import NullObserver
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.kinds import GroupResource
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version
    from listwatch.registry.registry import Registry
    from listwatch.watchcache.caches import Caches

logger = logging.getLogger(__name__)
_PAUSE = 0.1  # seconds in which events gather before they are looked at together


@dataclass(frozen=True, slots=True)
class KeeperStatistics:
    """What has been done so far."""

    written: int  # objects that said something else before
    errors: int  # attempts that failed and were made again


class Keeper(NullObserver):
    """Keeps the status of quotas and the rules of aggregated roles.

    Promises that both are right soon after the last event. Owned by one event loop.
    """

    def __init__(self, registry: Registry, caches: Caches, *, clock: Clock) -> None:
        self._registry = registry
        self._caches = caches
        self._clock = clock
        self._quotas = caches.cacher(QUOTAS)
        self._namespaces: set[str] = set()
        self._roles = False
        self._awake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._written = 0
        self._errors = 0

    def received(self, group_resource: GroupResource, event: Version) -> None:
        """Note what an event concerns."""
        if event.namespace and len(self._quotas.versions):
            self._namespaces.add(event.namespace)
            self._awake.set()
        elif group_resource == CLUSTER_ROLES:
            self._roles = True
            self._awake.set()

    def start(self) -> None:
        """Begin; what happened before is looked at first."""
        self._roles = True
        for version in self._quotas.list(ListRequest()).versions:
            self._namespaces.add(version.namespace)
        self._awake.set()
        self._task = asyncio.create_task(self._keep(), name="keeper")

    async def stop(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def statistics(self) -> KeeperStatistics:
        """What has been done so far."""
        return KeeperStatistics(self._written, self._errors)

    async def _keep(self) -> None:
        while True:
            await self._awake.wait()
            await self._clock.sleep(_PAUSE)
            self._awake.clear()
            namespaces, self._namespaces = self._namespaces, set()
            roles, self._roles = self._roles, False
            try:
                if roles:
                    await self._keep_roles()
                for namespace in namespaces:
                    await self._keep_quotas(namespace)
            except StatusError as error:
                self._again(namespaces, roles=roles)
                if error.code not in (404, 409):  # moved meanwhile: look again
                    self._errors += 1
                    logger.warning("what objects say of others cannot be kept yet: %s", error)
            except Exception:
                self._again(namespaces, roles=roles)
                self._errors += 1
                logger.exception("what objects say of others cannot be kept yet")

    def _again(self, namespaces: set[str], *, roles: bool) -> None:
        self._namespaces |= namespaces
        self._roles = self._roles or roles
        self._awake.set()

    async def _keep_quotas(self, namespace: str) -> None:
        for version in self._quotas.list(ListRequest(namespace=namespace)).versions:
            quota = version.decode()
            status = self._status(quota, namespace)
            if status != (quota.get("status") or {}):
                quota["status"] = status
                await self._write(QUOTAS, quota, "status")

    def _status(self, quota: JSONObject, namespace: str) -> JSONObject:
        hard = (quota.get("spec") or {}).get("hard") or {}
        used = dict.fromkeys(hard, Quantity.of(0))
        for group_resource, cacher in self._caches.cachers().items():
            if not len(cacher.versions) or not _counted(group_resource, hard):
                continue
            for version in cacher.list(ListRequest(namespace=namespace)).versions:
                document = version.decode()
                if fits(quota, group_resource, document):
                    own = usage(group_resource, document)
                    used = amounts.add(used, {k: v for k, v in own.items() if k in hard})
        return {"hard": hard, "used": {name: str(amount) for name, amount in used.items()}}

    async def _keep_roles(self) -> None:
        index = self._registry.authorizer.index
        index.refresh()
        for name, wanted in list(index.aggregated()):
            version = self._caches.cacher(CLUSTER_ROLES).get("", name)
            if version is None:
                continue
            role = version.decode()
            rules = [rule.to_dict() for rule in wanted.rules]
            if rules != (role.get("rules") or []):
                await self._write(CLUSTER_ROLES, {**role, "rules": rules}, "")

    async def _write(
        self, group_resource: GroupResource, document: JSONObject, subresource: str
    ) -> None:
        resource = self._registry.resources.stored(group_resource)
        if resource is None:
            return
        metadata = document["metadata"]
        ctx = RequestContext(
            SYSTEM, resource, subresource, metadata.get("namespace", ""), metadata["name"],
            field_manager="listwatch",
        )  # fmt: skip
        await self._registry.update(ctx, document)
        self._written += 1


def _counted(group_resource: GroupResource, hard: JSONObject) -> bool:
    """Whether a quota with these names can be about such objects."""
    plain = {"pods", "services", "persistentvolumeclaims", "configmaps", "secrets"}
    plain |= {"replicationcontrollers", "resourcequotas"}
    return f"count/{group_resource}" in hard or (
        not group_resource.group and group_resource.resource in plain
    )
