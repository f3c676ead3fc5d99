"""The end of a namespace: pods first, then everything else, then its finalizer.

Upstream: pkg/controller/namespace, with OrderedNamespaceDeletion. What is left, and why, is told in
five conditions.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.batches import at_once
from listwatch.controllers.controller import Controller
from listwatch.controllers.status import write_status
from listwatch.informer.discovery import served_resources
from listwatch.informer.errors import ApiError, NotFoundError, TransportError
from listwatch.informer.resources import NAMESPACES, PODS
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import APIResource, Deleted
    from listwatch.protocol.objects import JSONObject

FINALIZER = "kubernetes"
FIRST_LOOK, LAST_LOOK = 0.1, 15.0  # seconds until another look at what was left
DISCOVERED_FOR = 10.0  # seconds for which a list of kinds is good enough, if made since the start
_BACKGROUND = DeleteOptions(propagation_policy="Background")


@dataclass(slots=True)
class _Found:
    """What one attempt found: what is left by resource and finalizer, and what went wrong."""

    left: Counter[str] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)
    discovery: str = ""
    content: list[str] = field(default_factory=list)


class Namespaces(Controller):
    """Promises that nothing but pods is deleted while a pod is left."""

    name = "namespace-controller"
    workers = 10

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.namespaces = self.informer(NAMESPACES)
        self.pods = self.informer(PODS)
        self._discovered: tuple[float, list[APIResource]] | None = None
        self._discovering = asyncio.Lock()
        self._looks: dict[str, int] = {}
        self._began: dict[str, float] = {}
        self.follow(self.namespaces)
        self.pods.add_handler(on_delete=self._pod_gone)

    async def reconcile(self, key: str) -> None:
        """Empty the namespace as far as that goes, and let it go when it is empty."""
        namespace = self.namespaces.lister.get_or_none(key)
        if namespace is None or "deletionTimestamp" not in namespace["metadata"]:
            self._looks.pop(key, None)
            self._began.pop(key, None)
            return
        finalizers = (namespace.get("spec") or {}).get("finalizers") or []
        if FINALIZER not in finalizers:
            return  # nothing of ours; if others hold it, they will let it go
        found = await self._empty(key)
        namespace = await self._tell(namespace, found)
        if found.left or found.content or found.discovery:
            looks = self._looks[key] = self._looks.get(key, -1) + 1
            self.queue.add_after(key, min(FIRST_LOOK * 2.0 ** min(looks, 20), LAST_LOOK))
            return
        rest = [each for each in finalizers if each != FINALIZER]
        wanted = {**namespace, "spec": {**(namespace.get("spec") or {}), "finalizers": rest}}
        try:
            await self.client.update(NAMESPACES, wanted, subresource="finalize")
        except NotFoundError:
            return

    async def _empty(self, namespace: str) -> _Found:
        found = _Found()
        await self._delete(PODS, namespace, found)
        if found.left or found.content:
            return found
        since = self._began.setdefault(namespace, self.clock.monotonic())
        kinds = await self._kinds(found, since)

        async def delete(resource: APIResource) -> None:
            await self._delete(resource, namespace, found)

        await at_once(kinds, delete)
        return found

    async def _delete(self, resource: APIResource, namespace: str, found: _Found) -> None:
        """Delete all of one kind; note what is left."""
        try:
            page = await self.client.list(resource, namespace=namespace, query={"limit": "1"})
            if not page.get("items"):
                return
            if "deletecollection" in resource.verbs or not resource.verbs:
                await self.client.delete_collection(
                    resource, namespace=namespace, options=_BACKGROUND
                )
            else:
                await self._delete_each(resource, namespace)
            page = await self.client.list(resource, namespace=namespace)
        except NotFoundError:
            return  # the kind is not served any more
        except (ApiError, TransportError) as error:
            found.content.append(str(error))
            return
        for item in page.get("items") or ():
            found.left[str(resource)] += 1
            found.finalizers.update(item["metadata"].get("finalizers") or ())

    async def _delete_each(self, resource: APIResource, namespace: str) -> None:
        page = await self.client.list(resource, namespace=namespace)
        for item in page.get("items") or ():
            await self.client.delete(
                resource, item["metadata"]["name"], namespace=namespace, options=_BACKGROUND
            )

    async def _kinds(self, found: _Found, since: float) -> list[APIResource]:
        """All kinds that may be in a namespace whose end began at `since`, and can be deleted."""
        async with self._discovering:
            now = self.clock.monotonic()
            if self._discovered is not None:
                at, kinds = self._discovered
                # A kind that is younger than the list may have objects here, too.
                if since <= at and now - at < DISCOVERED_FOR:
                    return kinds
            try:
                served = await served_resources(self.client)
            except (ApiError, TransportError) as error:
                found.discovery = str(error)
                return []
            kinds = [
                each
                for each in served
                if each.namespaced
                and {"delete", "list"} <= each.verbs
                and (each.group, each.resource) != ("", "pods")
            ]
            self._discovered = (now, kinds)
            return kinds

    async def _tell(self, namespace: JSONObject, found: _Found) -> JSONObject:
        status = dict(namespace.get("status") or {})
        now = rfc3339(self.clock.now())
        told = list(status.get("conditions") or ())
        for made in _conditions(found):
            told = conditions.put(told, made, now)
        status["conditions"] = told
        try:
            answer = await write_status(self.client, NAMESPACES, namespace, status)
        except NotFoundError:
            return namespace
        return namespace if answer is None else answer

    def _pod_gone(self, gone: Deleted) -> None:
        namespace = self.namespaces.lister.get_or_none(gone.namespace)
        if namespace is not None and "deletionTimestamp" in namespace["metadata"]:
            # The first pod that goes says little; the last one is soon after.
            self.queue.add_after(gone.namespace, 0.02)


def _conditions(found: _Found) -> list[JSONObject]:
    left = ", ".join(
        f"{name} has {number} resource instances" for name, number in sorted(found.left.items())
    )
    held = ", ".join(
        f"{name} in {number} resource instances"
        for name, number in sorted(found.finalizers.items())
    )
    make = conditions.condition
    return [
        make("NamespaceDeletionDiscoveryFailure", True, "DiscoveryFailed", found.discovery)
        if found.discovery
        else make(
            "NamespaceDeletionDiscoveryFailure", False, "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        make(
            "NamespaceDeletionGroupVersionParsingFailure", False, "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        make(
            "NamespaceDeletionContentFailure", True, "ContentDeletionFailed",
            "; ".join(found.content),
        )
        if found.content
        else make(
            "NamespaceDeletionContentFailure", False, "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        make(
            "NamespaceContentRemaining", True, "SomeResourcesRemain",
            f"Some resources are remaining: {left}",
        )
        if found.left
        else make(
            "NamespaceContentRemaining", False, "ContentRemoved",
            "All content successfully removed",
        ),
        make(
            "NamespaceFinalizersRemaining", True, "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {held}",
        )
        if found.finalizers
        else make(
            "NamespaceFinalizersRemaining", False, "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ]  # fmt: skip
