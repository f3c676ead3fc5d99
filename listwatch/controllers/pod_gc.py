"""Pods that nobody else removes: of nodes that are gone, and ended ones beyond a number.

Upstream: pkg/controller/podgc.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from listwatch.controllers.batches import at_once
from listwatch.controllers.controller import Controller
from listwatch.controllers.pods import is_finished, is_terminating
from listwatch.informer.errors import ApiError, NotFoundError
from listwatch.informer.resources import NODES, PODS
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.protocol.objects import JSONObject

logger = logging.getLogger(__name__)

PERIOD = 20.0  # seconds between two looks at all pods
QUARANTINE = 40.0  # seconds that a node has to be gone for
ENDED = 12_500  # pods that ended and may stay


class PodGarbage(Controller):
    """Deletes without any grace: there is nobody left to end the pods well."""

    name = "pod-garbage-collector-controller"
    workers = 0

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.pods = self.informer(PODS)
        self.nodes = self.informer(NODES)
        self._gone_since: dict[str, float] = {}

    def background(self) -> list[asyncio.Task[None]]:
        """Looks at all pods now and then."""
        return [asyncio.create_task(self._look_again(), name=self.name)]

    async def _look_again(self) -> None:
        while True:
            await self.clock.sleep(PERIOD)
            _, error = await at_once(self._doomed(), self._delete)
            if error is not None:
                logger.warning("a pod was not removed: %s", error)

    def _doomed(self) -> list[JSONObject]:
        pods, now = self.pods.lister.list(), self.clock.monotonic()
        missing = {
            node
            for pod in pods
            if (node := pod["spec"].get("nodeName")) and self.nodes.lister.get_or_none(node) is None
        }
        since = {node: self._gone_since.get(node, now) for node in missing}
        self._gone_since = since
        orphaned = [
            pod
            for pod in pods
            if now - since.get(pod["spec"].get("nodeName") or "", now) >= QUARANTINE
        ]
        unscheduled = [
            pod for pod in pods if is_terminating(pod) and not pod["spec"].get("nodeName")
        ]
        ended = sorted(
            (pod for pod in pods if is_finished(pod) and not is_terminating(pod)),
            key=lambda pod: str(pod["metadata"]["creationTimestamp"]),
        )
        found = [*orphaned, *unscheduled, *ended[: max(len(ended) - ENDED, 0)]]
        return list({pod["metadata"]["uid"]: pod for pod in found}.values())

    async def _delete(self, pod: JSONObject) -> None:
        metadata = pod["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        if not is_finished(pod):
            # A job that owns it wants to see that it ended.
            patch = {"metadata": {"uid": metadata["uid"]}, "status": {"phase": "Failed"}}
            try:
                await self.client.patch(
                    PODS, name, patch, namespace=namespace, subresource="status"
                )
            except ApiError as error:
                if error.code not in (404, 409, 422):
                    raise
        options = DeleteOptions(grace_period_seconds=0, uid=metadata["uid"])
        try:
            await self.client.delete(PODS, name, namespace=namespace, options=options)
        except NotFoundError:
            return
