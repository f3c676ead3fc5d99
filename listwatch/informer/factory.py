"""One informer for each kind and scope, shared by all controllers of a process.

Controllers ask it for informers, add their handlers, and start it; then wait until all have synced.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from listwatch.informer.indices import IndexFunction
from listwatch.informer.list_watch import HTTPListerWatcher
from listwatch.informer.resources import APIResource
from listwatch.informer.shared_informer import (
    InformerOptions,
    InformerStateError,
    InformerStatistics,
    SharedIndexInformer,
)
from listwatch.informer.waiting import wait_for_cache_sync

if TYPE_CHECKING:
    from listwatch.informer.client import Client


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects of a resource: of a namespace or all, that selectors want."""

    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""


class SharedInformerFactory:
    """Informers by resource and scope, made when first asked for. One event loop.

    `options` are those of all informers; `scope` is theirs unless asked for by another.
    """

    def __init__(
        self,
        client: Client,
        *,
        options: InformerOptions | None = None,
        scope: Scope | None = None,
        random: Random | None = None,
    ) -> None:
        self.client = client
        self._options = options or InformerOptions()
        self._scope = scope or Scope()
        self._random = random
        self._informers: dict[tuple[APIResource, Scope], SharedIndexInformer] = {}
        self._shut_down = False

    def informer_for(
        self,
        resource: APIResource,
        *,
        scope: Scope | None = None,
        indexers: Mapping[str, IndexFunction] | None = None,
    ) -> SharedIndexInformer:
        """The informer for it; `indexers` are added to it unless it has them by that name.

        One that is made after `start` is started by the next `start`.
        """
        scope = scope or self._scope
        # What verbs were discovered is no part of what it is.
        key = (replace(resource, verbs=frozenset()), scope)
        informer = self._informers.get(key)
        if informer is None:
            source = HTTPListerWatcher(
                self.client,
                resource,
                namespace=scope.namespace,
                label_selector=scope.label_selector,
                field_selector=scope.field_selector,
            )
            informer = SharedIndexInformer(
                source,
                resource=resource,
                options=self._options,
                clock=self.client.clock,
                random=self._random,
            )
            self._informers[key] = informer
        new = {
            name: function
            for name, function in (indexers or {}).items()
            if name not in informer.indexer.indexers
        }
        if new:
            informer.add_indexers(new)
        return informer

    def start(self) -> None:
        """Start those informers that were made since; returns at once."""
        if self._shut_down:
            raise InformerStateError("the factory was shut down")
        for informer in self._informers.values():
            informer.start()

    async def wait_for_cache_sync(self, within: float | None = None) -> None:
        """Wait for all informers that were started; raises NotSyncedError after `within`."""
        started = [each for each in self._informers.values() if each.started or each.starting]
        await wait_for_cache_sync(*started, within=within, clock=self.client.clock)

    async def shutdown(self, *, drain: bool = False) -> None:
        """Stop all informers and wait for them; may be called again, starts nothing any more."""
        self._shut_down = True
        await asyncio.gather(*(each.stop(drain=drain) for each in self._informers.values()))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[SharedInformerFactory]:
        """Started inside the block, shut down after it."""
        self.start()
        try:
            yield self
        finally:
            await self.shutdown()

    def informers(self) -> list[SharedIndexInformer]:
        """All informers so far."""
        return list(self._informers.values())

    def statistics(self) -> tuple[InformerStatistics, ...]:
        """A record of now for each informer."""
        return tuple(informer.statistics() for informer in self._informers.values())
