"""The provider's half: puts instances into Endpoints and takes them out again.

Consumers learn of it by the server's list-watch, through one of the discoveries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from listwatch.informer.client import Client
from listwatch.informer.errors import AlreadyExistsError, ConflictError, NotFoundError
from listwatch.informer.objects import JSONObject
from listwatch.informer.resources import ENDPOINTS
from listwatch.servicediscovery.instances import (
    Instance,
    Service,
    with_instance,
    without_address,
)

TRIES = 100  # many providers of one service start at once, and each try is one of them done


class Registrar:
    """Registers instances; any number of them may work on one service at once.

    Every write is a compare-and-swap, tried again until it holds: no provider's address is lost
    to another's. Whoever crashes leaves its address behind; taking it out is for a health check.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def register(self, instance: Instance) -> None:
        """Tell the consumers of its service about an instance; again, to tell new metadata."""
        await self._change(instance.service, lambda found: with_instance(found, instance))

    async def unregister(self, instance: Instance) -> None:
        """Take it out; nothing if it is not there."""
        await self._change(
            instance.service, lambda found: without_address(found, instance), create=False
        )

    @asynccontextmanager
    async def registered(self, instance: Instance) -> AsyncIterator[None]:
        """Registered inside the block."""
        await self.register(instance)
        try:
            yield
        finally:
            await self.unregister(instance)

    async def _change(
        self, service: Service, change: Callable[[JSONObject], JSONObject], *, create: bool = True
    ) -> None:
        for left in reversed(range(TRIES)):
            try:
                if await self._try(service, change, create):
                    return
            except (AlreadyExistsError, ConflictError):
                if not left:
                    raise

    async def _try(
        self, service: Service, change: Callable[[JSONObject], JSONObject], create: bool
    ) -> bool:
        try:
            found = await self._client.get(ENDPOINTS, service.name, namespace=service.namespace)
        except NotFoundError:
            if create:
                metadata = {"namespace": service.namespace, "name": service.name}
                await self._client.create(ENDPOINTS, change({"metadata": metadata}))
            return True
        changed = change(found)
        if changed != found:
            try:
                await self._client.update(ENDPOINTS, changed)
            except NotFoundError:
                return False  # it went meanwhile: look again
        return True
