"""Watches of every kind there is: what comes, changes and goes is told to the garbage collector.

Kinds that are served later are followed from then on. Started by `controller`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from listwatch.informer import FollowState, HTTPListerWatcher, SharedIndexInformer
from listwatch.informer.discovery import served_resources
from listwatch.informer.errors import ApiError, NotFoundError, TransportError
from listwatch.informer.reflector import log_error

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import APIResource, Deleted, Reflector
    from listwatch.protocol.objects import JSONObject

logger = logging.getLogger(__name__)

REDISCOVER = 30.0  # seconds between two looks at what is served
_NEEDED = frozenset({"delete", "list", "watch"})
_IGNORED = frozenset({("", "events"), ("events.k8s.io", "events")})

Changed = Callable[["APIResource", "JSONObject"], None]
Gone = Callable[["APIResource", "Deleted"], None]


class Monitors:
    """One informer for each kind that can be deleted. One event loop.

    Kinds that other controllers watch are not watched twice. `came` is told when more kinds are
    followed; `lost` of each object of a kind that is served no more, and may be there all the same.
    """

    def __init__(
        self,
        environment: Environment,
        changed: Changed,
        gone: Gone,
        *,
        came: Callable[[], None],
        lost: Callable[[JSONObject], None],
    ) -> None:
        self._environment = environment
        self._changed = changed
        self._gone = gone
        self._came = came
        self._lost = lost
        self._informers: dict[tuple[str, str], SharedIndexInformer] = {}
        self._own: set[tuple[str, str]] = set()
        self._asked = asyncio.Event()

    @property
    def kinds(self) -> int:
        """How many kinds are followed."""
        return len(self._informers)

    @property
    def synced(self) -> bool:
        """Whether all of them are known completely."""
        return all(each.has_synced for each in self._informers.values())

    def resource_of(self, api_version: str, kind: str) -> APIResource | None:
        """The followed resource of a kind, whatever version of its group is named."""
        group = api_version.rpartition("/")[0]
        for informer in self._informers.values():
            resource = informer.resource
            if resource is not None and resource.kind == kind and resource.group == group:
                return resource
        return None

    async def start(self) -> None:
        """Follow all kinds that are served now, and wait until their objects are known."""
        await self._discover()
        await asyncio.gather(*(each.wait_synced() for each in self._informers.values()))

    async def keep(self) -> None:
        """Follow what is served later, until cancelled."""
        definitions = self._informers.get(("apiextensions.k8s.io", "customresourcedefinitions"))
        if definitions is not None:
            definitions.add_handler(
                on_add=lambda _, initial: None if initial else self._asked.set(),
                on_update=lambda _, __: self._asked.set(),
                on_delete=lambda _: self._asked.set(),
            )
        self._asked.set()  # what came while the first caches were filled was told to nobody
        while True:
            try:
                async with asyncio.timeout(REDISCOVER):
                    await self._asked.wait()
                await asyncio.sleep(0.2)  # a definition is served a moment after it was written
            except TimeoutError:
                pass
            self._asked.clear()
            try:
                await self._discover()
            except (ApiError, TransportError) as error:
                logger.info("kinds not discovered: %s", error)

    async def _discover(self) -> None:
        served = {
            (each.group, each.resource): each
            for each in await served_resources(self._environment.client)
            if each.verbs >= _NEEDED and (each.group, each.resource) not in _IGNORED
        }
        for key in list(self._own):
            # One that was not served, and is again, begins anew: not when its back-off has ended.
            if key not in served or self._informers[key].state is FollowState.NOT_SERVED:
                await self._forget(key)
        new = [key for key in served if key not in self._informers]
        for key in new:
            self._follow(key, served[key])
        if new:
            self._came()

    async def _forget(self, key: tuple[str, str]) -> None:
        self._own.discard(key)
        informer = self._informers.pop(key)
        await informer.stop()
        for subject in informer.lister.list():
            self._lost(subject)

    def _failed(self, reflector: Reflector, error: Exception) -> None:
        if isinstance(error, NotFoundError):
            self._asked.set()  # its definition has gone: nothing is wrong, but less is served
        else:
            log_error(reflector, error)

    def _follow(self, key: tuple[str, str], resource: APIResource) -> None:
        environment = self._environment
        if _is_built_in(resource):
            informer = environment.informer(resource)
        else:
            # Of its own: the shared factory never forgets an informer, and kinds may go.
            source = HTTPListerWatcher(environment.client, resource)
            informer = SharedIndexInformer(
                source, resource=resource, clock=environment.client.clock
            )
            informer.set_error_handler(self._failed)
            self._own.add(key)
        informer.add_handler(
            on_add=lambda subject, _: self._changed(resource, subject),
            on_update=lambda _, subject: self._changed(resource, subject),
            on_delete=lambda deleted: self._gone(resource, deleted),
        )
        informer.start()
        self._informers[key] = informer


def _is_built_in(resource: APIResource) -> bool:
    """Whether the kind never goes: groups of definitions have a domain of their own."""
    return "." not in resource.group or resource.group.endswith(".k8s.io")
