"""By what a client is known again when it comes back with a new request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from listwatch.protocol.selectors import Selector
    from listwatch.watchcache.requests import ClientInfo
    from listwatch.watchcache.watcher import CacheWatcher


class ClientKey(NamedTuple):
    """Who watches what: the same before and after a reconnect. Equal clients share one."""

    agent: str
    user: str
    host: str  # without the port, which is another one each time
    group_resource: GroupResource
    namespace: str
    selector: str

    @classmethod
    def of(
        cls, client: ClientInfo, group_resource: GroupResource, namespace: str, selector: Selector
    ) -> ClientKey:
        """Of a request that is about to become a watch."""
        host = client.address.rpartition(":")[0] or client.address
        return cls(client.agent, client.user, host, group_resource, namespace, str(selector))

    @classmethod
    def of_watcher(cls, watcher: CacheWatcher) -> ClientKey:
        """Of an open watch."""
        request = watcher.request
        return cls.of(request.client, watcher.group_resource, request.namespace, request.selector)
