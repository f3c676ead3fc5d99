"""Whether the aggregated servers are there: asked again and again, and written into conditions.

Upstream: kube-aggregator/pkg/controllers/status/remote. What a server says that it serves goes to
`remotes`, for discovery.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import StatusError
from listwatch.registry.api_services import documents
from listwatch.registry.api_services.connections import Connections, UnreachableError
from listwatch.registry.api_services.remotes import API_SERVICES, Remote, Remotes
from listwatch.registry.context import SYSTEM, RequestContext

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.registry import Registry

logger = logging.getLogger(__name__)

_SECONDS = 5.0  # that a server has to answer
_EVERY, _AGAIN = 30.0, 2.0  # seconds between two looks: at one that is there, at one that is not
_LIMIT = 3 * 1024 * 1024  # bytes of a discovery document


class Availability:
    """Looks after each aggregated server in a task of its own. Owned by one event loop."""

    def __init__(
        self, registry: Registry, remotes: Remotes, connections: Connections, *, clock: Clock
    ) -> None:
        self._registry = registry
        self._remotes = remotes
        self._connections = connections
        self._clock = clock
        self._tasks: dict[Remote, asyncio.Task[None]] = {}
        self._started = False
        remotes.listen(self._changed)

    def start(self) -> None:
        """Begin to look."""
        self._started = True
        self._changed()

    async def stop(self) -> None:
        """Stop looking."""
        self._started = False
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()

    def _changed(self) -> None:
        if not self._started:
            return
        # Whether it is available is what is found out, and no reason to begin anew.
        wanted = {_without_verdict(remote): remote for remote in self._remotes.all()}
        for gone in self._tasks.keys() - wanted.keys():
            self._tasks.pop(gone).cancel()
        for remote in wanted.keys() - self._tasks.keys():
            task = asyncio.create_task(self._look(remote), name=f"APIService {remote.name}")
            self._tasks[remote] = task

    async def _look(self, remote: Remote) -> None:
        while True:
            try:
                available = await self._once(remote)
            except StatusError as error:
                available = False
                if error.code not in (404, 409):
                    logger.warning("APIService %s: %s", remote.name, error)
            except Exception:
                available = False
                logger.exception("APIService %s", remote.name)
            await self._clock.sleep(_EVERY if available else _AGAIN)

    async def _once(self, remote: Remote) -> bool:
        try:
            resources = await self._ask(remote)
        except UnreachableError as error:
            await self._write(remote, "False", error.reason, str(error))
            return False
        self._remotes.discovered(remote, resources)
        await self._write(remote, "True", "Passed", "all checks passed")
        known = self._remotes.documents(remote)
        self._remotes.documented(remote, await documents.ask(self._connections, remote, known))
        return True

    async def _ask(self, remote: Remote) -> list[JSONObject]:
        response = await self._connections.request(
            remote, "GET", remote.path, headers=documents.ASKED_BY, seconds=_SECONDS
        )
        text = await documents.read(response, _LIMIT)
        # One that asks for more rights than these is there all the same.
        if response.status not in (200, 401, 403):
            why = f"failing or missing response from {response.url}: bad status {response.status}"
            raise UnreachableError("FailedDiscoveryCheck", why)
        try:
            found = orjson.loads(text).get("resources")
        except (orjson.JSONDecodeError, AttributeError):
            found = None
        return [one for one in found or () if isinstance(one, dict) and one.get("name")]

    async def _write(self, remote: Remote, status: str, reason: str, message: str) -> None:
        resource = self._registry.resources.find(API_SERVICES.group, "v1", API_SERVICES.resource)
        assert resource is not None
        ctx = RequestContext(SYSTEM, resource, subresource="status", name=remote.name)
        document = (await self._registry.get(ctx)).decode()
        conditions = (document.get("status") or {}).get("conditions") or []
        told = {"type": "Available", "status": status, "reason": reason, "message": message}
        before: JSONObject = next((one for one in conditions if one.get("type") == "Available"), {})
        if {**before, **told} == before:
            return
        time = before.get("lastTransitionTime") if before.get("status") == status else None
        told["lastTransitionTime"] = time or rfc3339(self._clock.now())
        others = [one for one in conditions if one.get("type") != "Available"]
        document["status"] = {"conditions": [*others, told]}
        await self._registry.update(ctx, document)


def _without_verdict(remote: Remote) -> Remote:
    return replace(remote, available=False)
