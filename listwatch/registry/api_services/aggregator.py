"""All that aggregation is made of, started and stopped together by `runtime`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from listwatch.registry.api_services.availability import Availability
from listwatch.registry.api_services.connections import Connections
from listwatch.registry.api_services.local import LocalServices
from listwatch.registry.api_services.remotes import Remotes

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.registry.registry import Registry
    from listwatch.watchcache.caches import Caches


class PassingStream(Protocol):
    """The answer of another server, on its way to a client."""

    def end(self) -> None:
        """Let it end now, as a whole."""


class Aggregator:
    """The other servers that answer through this one. Owned by one event loop."""

    def __init__(self, registry: Registry, caches: Caches, *, clock: Clock) -> None:
        self.remotes = Remotes(caches)
        self.connections = Connections(lambda *key: caches.cacher(key[0]).get(key[1], key[2]))
        self.streams: set[PassingStream] = set()
        self._local = LocalServices(registry, clock=clock)
        self._availability = Availability(registry, self.remotes, self.connections, clock=clock)

    def start(self) -> None:
        """Write what is served here, and look after what is served elsewhere."""
        self._local.start()
        self._availability.start()
        self.remotes.listen(self._local.check)

    def end_streams(self) -> None:
        """End what passes through, since this server stops."""
        for stream in tuple(self.streams):
            stream.end()

    async def stop(self) -> None:
        """Stop, and close all connections."""
        self.end_streams()
        await self._local.stop()
        await self._availability.stop()
        await self.connections.close()
