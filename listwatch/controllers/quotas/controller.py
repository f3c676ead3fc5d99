"""The quota controller: counts what is there, and writes it beside what may be.

Upstream: pkg/controller/resourcequota. What a quota counts is watched from the first quota on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from listwatch.controllers.controller import Controller
from listwatch.controllers.status import write_status
from listwatch.informer.discovery import served_resources
from listwatch.informer.resources import PODS, RESOURCE_QUOTAS
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.amounts import add
from listwatch.schemas.quota_usage import fits, resource_of, usage

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import SharedIndexInformer
    from listwatch.protocol.objects import JSONObject
    from listwatch.schemas.amounts import Amounts

RESYNC = 300.0  # seconds between two counts of everything
PAUSE = 0.1  # seconds in which many changes become one count


class ResourceQuotas(Controller):
    """Promises a status that is right soon after things have changed."""

    name = "resourcequota-controller"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.quotas = self.informer(RESOURCE_QUOTAS)
        self._counted: dict[str, SharedIndexInformer | None] = {}
        self._finding = asyncio.Lock()
        self.follow(self.quotas)
        self._count("pods", self.informer(PODS))
        self._count("resourcequotas", self.quotas)

    def background(self) -> list[asyncio.Task[None]]:
        """Counts everything again now and then."""
        return [asyncio.create_task(self._count_again(), name=f"{self.name} counts")]

    async def reconcile(self, key: str) -> None:
        """Count what one quota counts."""
        quota = self.quotas.lister.get_or_none(key)
        if quota is None or "deletionTimestamp" in quota["metadata"]:
            self.unseen.forget(key)
            return
        hard: JSONObject = (quota.get("spec") or {}).get("hard") or {}
        namespace = quota["metadata"]["namespace"]
        total: Amounts = {}
        for resource in sorted({resource_of(name) for name in hard}):
            informer = await self._informer_of(resource)
            if informer is None:
                continue
            counted = GroupResource.parse(resource)
            for subject in informer.lister.in_namespace(namespace):
                if fits(quota, counted, subject):
                    total = add(total, usage(counted, subject))
        nothing = Quantity.of(0)
        status = {"hard": hard, "used": {n: str(total.get(n, nothing)) for n in hard}}
        answer = await write_status(self.client, RESOURCE_QUOTAS, quota, status)
        if answer is not None:
            self.unseen.wrote(key, self.quotas, answer)

    async def _informer_of(self, resource: str) -> SharedIndexInformer | None:
        """The cache of a counted resource; made and filled when first asked for."""
        async with self._finding:
            if resource not in self._counted:
                served = await served_resources(self.client)
                found = next((each for each in served if str(each) == resource), None)
                if found is None or not {"list", "watch"} <= found.verbs:
                    return None  # not served, or not yet: asked again next time
                informer = self.environment.informer(found)
                self._count(resource, informer)
                informer.start()
            known = self._counted[resource]
        if known is not None:
            await known.wait_synced()
        return known

    def _count(self, resource: str, informer: SharedIndexInformer) -> None:
        self._counted[resource] = informer
        counted = GroupResource.parse(resource)

        def changed(subject: JSONObject | None, old: JSONObject | None = None) -> None:
            keys = [] if subject is None else self._keys_of(resource, subject)
            # Most namespaces have no quota: what an object takes is worked out for those that do.
            if keys and subject is not None and old is not None:
                keys = [] if usage(counted, old) == usage(counted, subject) else keys
            for key in keys:
                self.queue.add_after(key, PAUSE)

        informer.add_handler(
            on_add=lambda subject, initial: None if initial else changed(subject),
            on_update=lambda old, new: changed(new, old),
            on_delete=lambda gone: changed(gone.object),
        )

    def _keys_of(self, resource: str, subject: JSONObject) -> list[str]:
        """The quotas that count an object."""
        namespace = subject["metadata"].get("namespace") or ""
        keys = []
        for quota in self.quotas.lister.in_namespace(namespace):
            hard = (quota.get("spec") or {}).get("hard") or {}
            if any(resource_of(name) == resource for name in hard):
                keys.append(f"{namespace}/{quota['metadata']['name']}")
        return keys

    async def _count_again(self) -> None:
        while True:
            await self.clock.sleep(RESYNC)
            for quota in self.quotas.lister.list():
                self.enqueue(quota)
