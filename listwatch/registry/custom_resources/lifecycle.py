"""The life of a definition: its names are accepted, it is established, its objects go before it.

Runs in every serving process, and is harmless in several: each write holds upon the very state it
was decided on. Upstream: the naming, establishing and finalizing controllers of
apiextensions-apiserver. It writes through the registry like any other.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import StatusError
from listwatch.protocol.options import DeleteOptions, ListOptions
from listwatch.registry.context import SYSTEM, RequestContext
from listwatch.registry.custom_resources.names import accept
from listwatch.registry.custom_resources.resources_of import DEFINITIONS, condition, defined
from listwatch.registry.strategies.definitions import FINALIZER, with_condition

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.custom_resources.definitions import Definitions
    from listwatch.registry.registry import Registry

logger = logging.getLogger(__name__)

_FIRST_RETRY, _LAST_RETRY = 0.05, 5.0  # seconds between two looks at what will not go


@dataclass(frozen=True, slots=True)
class LifecycleStatistics:
    """What was done so far."""

    waiting: int  # definitions that something has to be done about
    written: int  # statuses that were written
    finished: int  # definitions whose objects were removed
    errors: int  # attempts that failed and were made again


class Lifecycle:
    """Does what definitions ask for, one task for each that asks. Owned by one event loop."""

    def __init__(self, registry: Registry, definitions: Definitions, *, clock: Clock) -> None:
        self._registry = registry
        self._definitions = definitions
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._wakes: dict[str, asyncio.Event] = {}
        self._naming = asyncio.Lock()
        self._refused: set[str] = set()  # those that wait for a name that another has
        self._started = False
        self._written = self._finished = self._errors = 0
        definitions.listen(self._changed)

    def start(self) -> None:
        """Begin, with all definitions that there are."""
        self._started = True
        for name in self._definitions.names():
            self._changed(name)

    async def stop(self) -> None:
        """Stop; what is half done is gone on with at the next start."""
        self._started = False
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def statistics(self) -> LifecycleStatistics:
        """What was done so far."""
        return LifecycleStatistics(len(self._tasks), self._written, self._finished, self._errors)

    def _changed(self, name: str) -> None:
        if not self._started:
            return
        group = name.partition(".")[2]
        # A name that one gives up another of its group may be waiting for.
        for one in {name, *(n for n in self._refused if n.partition(".")[2] == group)}:
            wake = self._wakes.setdefault(one, asyncio.Event())
            wake.set()
            if one in self._tasks:
                continue
            task = asyncio.create_task(self._work(one), name=f"definition {one}")
            self._tasks[one] = task
            task.add_done_callback(lambda _, one=one: self._done(one))  # type: ignore[misc]

    def _done(self, name: str) -> None:
        self._tasks.pop(name, None)
        if self._wakes.pop(name).is_set() and self._started:
            self._changed(name)

    async def _work(self, name: str) -> None:
        delay, wake = _FIRST_RETRY, self._wakes[name]
        while True:
            wake.clear()
            try:
                if await self._attempt(name):
                    return
            except StatusError as error:
                if error.code == 404:
                    self._refused.discard(name)
                    return
                if error.code != 409:  # moved meanwhile: look again
                    self._errors += 1
                    logger.warning("definition %s: %s", name, error)
            except Exception:
                self._errors += 1
                logger.exception("definition %s", name)
            timer = self._clock.call_later(delay, wake.set)
            await wake.wait()
            timer.cancel()
            delay = min(2 * delay, _LAST_RETRY)

    async def _attempt(self, name: str) -> bool:
        """Whether nothing is left to be done."""
        ctx = self._context(name)
        definition = (await self._registry.get(ctx)).decode()
        metadata = definition["metadata"]
        if "deletionTimestamp" in metadata:
            if FINALIZER not in (metadata.get("finalizers") or ()):
                return True  # others hold it
            return await self._finish(ctx, definition)
        # One after the other, so that no two of them take the same name.
        async with self._naming:
            await self._registry.catch_up()
            await self._accept(ctx)
        return True

    async def _accept(self, ctx: RequestContext) -> None:
        definition = (await self._registry.get(ctx)).decode()
        others = self._definitions.accepted(ctx.name.partition(".")[2])
        others.pop(ctx.name, None)
        status = accept(definition, others.values(), rfc3339(self._clock.now()))
        if condition({"status": status}, "NamesAccepted"):
            self._refused.discard(ctx.name)
        else:
            self._refused.add(ctx.name)
        if status != definition.get("status"):
            definition["status"] = status
            await self._registry.update(replace(ctx, subresource="status"), definition)
            self._written += 1

    async def _finish(self, ctx: RequestContext, definition: JSONObject) -> bool:
        if condition(definition, "Established") and await self._objects_left(definition):
            return False
        metadata = definition["metadata"]
        metadata["finalizers"] = [one for one in metadata["finalizers"] if one != FINALIZER]
        await self._registry.update(ctx, definition)
        self._finished += 1
        return True

    async def _objects_left(self, definition: JSONObject) -> bool:
        resource = self._registry.resources.stored(defined(definition))
        if resource is None:
            return False
        ctx, everything = RequestContext(SYSTEM, resource), ListOptions()
        if not (await self._registry.list(ctx, everything)).versions:
            return False
        await self._registry.delete_collection(ctx, DeleteOptions(), everything)
        left = len((await self._registry.list(ctx, everything)).versions)
        if left:
            await self._tell_left(definition, left)
        return left > 0

    async def _tell_left(self, definition: JSONObject, left: int) -> None:
        """Say in its status that objects are left which others hold."""
        told = {
            "type": "Terminating", "status": "True",
            "lastTransitionTime": rfc3339(self._clock.now()),
            "reason": "InstanceDeletionInProgress",
            "message": f"CustomResource deletion is in progress: {left} still held by finalizers",
        }  # fmt: skip
        status = definition["status"]
        conditions = with_condition(status.get("conditions") or [], told)
        if conditions != status.get("conditions"):
            status["conditions"] = conditions
            ctx = self._context(definition["metadata"]["name"])
            await self._registry.update(replace(ctx, subresource="status"), definition)
            self._written += 1

    def _context(self, name: str) -> RequestContext:
        resource = self._registry.resources.find(DEFINITIONS.group, "v1", DEFINITIONS.resource)
        assert resource is not None
        return RequestContext(SYSTEM, resource, name=name)
