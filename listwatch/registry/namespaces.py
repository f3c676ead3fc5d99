"""The end of a namespace: its content goes, pods first, then its finalizer, and with it itself.

Started by `runtime`. It learns of namespaces by a watch like any client's and deletes through the
registry; a controller of `controllers` takes its place later.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason
from listwatch.protocol.options import NOT_OLDER_THAN, DeleteOptions, ListOptions
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import FieldSelector
from listwatch.registry.context import RequestContext, UserInfo
from listwatch.registry.strategies.namespaces import FINALIZER
from listwatch.watchcache.requests import ClientInfo

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.registry import Registry

logger = logging.getLogger(__name__)

USER = UserInfo("system:serviceaccount:kube-system:namespace-controller")
_FIRST_RETRY, _LAST_RETRY = 0.05, 5.0  # seconds between two looks at what will not go
_RESTART = 1.0  # seconds before a watch that failed is opened again
_TERMINATING = ListOptions(
    field_selector=FieldSelector.parse("status.phase=Terminating"),
    resource_version="0",
    resource_version_match=NOT_OLDER_THAN,
    send_initial_events=True,
    watch=True,
)
_BACKGROUND = DeleteOptions(propagation_policy="Background")
_NOW = DeleteOptions(propagation_policy="Background", grace_period_seconds=0)


@dataclass(frozen=True, slots=True)
class NamespaceStatistics:
    """What the controller has done so far."""

    terminating: int  # namespaces that are being emptied now
    finished: int  # namespaces that were emptied and let go
    watches: int  # times that its watch was opened
    errors: int  # attempts that failed and were made again


class NamespaceController:
    """Empties terminating namespaces and lets them go.

    Promises that a namespace goes only when nothing is left in it, and that a restart goes on
    where the last server stopped. While a pod is left, nothing else is deleted; a pod whose grace
    period is over is removed, since nobody else is there to do it. Owned by one event loop.
    """

    def __init__(self, registry: Registry, *, clock: Clock) -> None:
        self._registry = registry
        self._clock = clock
        self._watching: asyncio.Task[None] | None = None
        self._emptying: dict[str, asyncio.Task[None]] = {}
        self._finished = 0
        self._watches = 0
        self._errors = 0

    def start(self) -> None:
        """Begin to follow the namespaces."""
        self._watching = asyncio.create_task(self._follow(), name="namespaces")

    async def stop(self) -> None:
        """Stop; what is half emptied stays so until the next start."""
        tasks = [*self._emptying.values()]
        if self._watching is not None:
            tasks.append(self._watching)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watching = None
        self._emptying = {}

    def statistics(self) -> NamespaceStatistics:
        """What has been done so far."""
        return NamespaceStatistics(len(self._emptying), self._finished, self._watches, self._errors)

    async def _follow(self) -> None:
        while True:
            try:
                await self._watch_once()
            except Exception:
                self._errors += 1
                logger.exception("the watch of terminating namespaces failed")
            await self._clock.sleep(_RESTART)

    async def _watch_once(self) -> None:
        self._watches += 1
        watcher = await self._registry.watch(
            RequestContext(USER, self._resource("namespaces")), _TERMINATING,
            JSONRepresentation("Namespace", "v1"), ClientInfo("namespace-controller", USER.name),
        )  # fmt: skip
        try:
            while (chunk := await watcher.next_chunk()) is not None:
                for line in chunk.splitlines():
                    event = orjson.loads(line)
                    if event["type"] in ("ADDED", "MODIFIED"):
                        self._begin(event["object"]["metadata"]["name"])
        finally:
            watcher.close(EndReason.CLIENT_LEFT)

    def _begin(self, name: str) -> None:
        if name not in self._emptying:
            task = asyncio.create_task(self._empty(name), name=f"namespace {name}")
            self._emptying[name] = task
            task.add_done_callback(lambda _: self._emptying.pop(name, None))

    async def _empty(self, name: str) -> None:
        delay = _FIRST_RETRY
        while True:
            try:
                if await self._attempt(name):
                    return
            except StatusError as error:
                if error.code not in (404, 409):  # moved meanwhile: look again
                    self._errors += 1
                    logger.warning("namespace %s cannot be emptied yet: %s", name, error)
            except Exception:
                self._errors += 1
                logger.exception("namespace %s cannot be emptied yet", name)
            await self._clock.sleep(delay)
            delay = min(2 * delay, _LAST_RETRY)

    async def _attempt(self, name: str) -> bool:
        ctx = RequestContext(USER, self._resource("namespaces"), name=name)
        try:
            namespace = (await self._registry.get(ctx)).decode()
        except StatusError as error:
            if error.code == 404:
                return True
            raise
        finalizers = (namespace.get("spec") or {}).get("finalizers") or []
        if "deletionTimestamp" not in namespace["metadata"] or FINALIZER not in finalizers:
            return True  # nothing of ours; if others hold it, they will let it go
        if await self._something_left(name):
            return False
        await self._finalize(ctx, namespace, [one for one in finalizers if one != FINALIZER])
        self._finished += 1
        return True

    async def _something_left(self, name: str) -> bool:
        pods = self._resource("pods")
        if await self._delete_all(pods, name):
            return True
        left = False
        table = self._registry.resources
        for resource in table.served():
            # Each object once: a kind that is kept as another, or not at all, has none of its own.
            is_content = resource.namespaced and table.stored(resource.storage) is resource
            if is_content and resource != pods and "delete" in resource.verbs:
                left = await self._delete_all(resource, name) or left
        return left

    async def _delete_all(self, resource: Resource, namespace: str) -> bool:
        """Delete what can be deleted; whether something is left all the same."""
        ctx = RequestContext(USER, resource, namespace=namespace)
        everything = ListOptions()
        found = await self._registry.list(ctx, everything)
        if not found.versions:
            return False
        await self._registry.delete_collection(ctx, _BACKGROUND, everything)
        left = (await self._registry.list(ctx, everything)).versions
        for version in left:
            if resource.resource == "pods" and self._overdue(version.decode()):
                one = RequestContext(USER, resource, namespace=namespace, name=version.name)
                await self._registry.delete(one, _NOW)
        return bool(left)

    def _overdue(self, pod: JSONObject) -> bool:
        metadata = pod["metadata"]
        if not metadata.get("deletionGracePeriodSeconds"):
            return False
        return parse_rfc3339(metadata["deletionTimestamp"]) <= self._clock.now()

    async def _finalize(
        self, ctx: RequestContext, namespace: JSONObject, finalizers: list[str]
    ) -> None:
        namespace["spec"]["finalizers"] = finalizers
        await self._registry.update(replace(ctx, subresource="finalize"), namespace)

    def _resource(self, name: str) -> Resource:
        resource = self._registry.resources.find("", "v1", name)
        if resource is None:
            raise RuntimeError(f"{name} are not served")
        return resource
