"""ReplicaSets and ReplicationControllers: as many pods of a template as the spec says.

Upstream: pkg/controller/replicaset/replica_set.go. Pods go on to `scheduler`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from listwatch.controllers import conditions
from listwatch.controllers.batches import BURST, slow_start
from listwatch.controllers.pods import (
    in_order_of_deletion,
    is_active,
    is_available,
    is_ready,
    is_stopping,
    ready_since,
)
from listwatch.controllers.status import write_status
from listwatch.controllers.templates import pod_from
from listwatch.controllers.workloads import Workloads, namespace_is_going, text_of
from listwatch.informer.resources import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.selectors import LabelSelector

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import APIResource

LONGEST_PACE = 0.5  # seconds between two looks at a very large set
PACED = 10_000  # pods for each second of that
# Told also when there are none.
_KEPT = ("replicas", "terminatingReplicas")


class ReplicaSets(Workloads):
    """Keeps the number of pods, and counts in the status how far they are."""

    name = "replicaset-controller"
    workers = 10
    resource: ClassVar[APIResource] = REPLICA_SETS
    tells_stopping: ClassVar[bool] = True  # whether the kind's status has a field for them

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._sizes: dict[str, int] = {}

    def enqueue_owner(self, key: str) -> None:
        """A look costs as much as there are pods: large sets are looked at less often."""
        self.queue.add_after(key, min(self._sizes.get(key, 0) / PACED, LONGEST_PACE))

    async def reconcile(self, key: str) -> None:
        """Create or delete pods, then write the status."""
        found = self.owner_of(key)
        if found is None:
            self._sizes.pop(key, None)
            return
        owner, selector = found
        claimed = await self.claims.claim(owner, selector, key)
        active = [pod for pod in claimed if is_active(pod)]
        self._sizes[key] = len(claimed)
        failure: Exception | None = None
        if "deletionTimestamp" not in owner["metadata"]:
            failure = await self._manage(owner, active, key)
        stopping = sum(map(is_stopping, claimed))
        await self._write_status(owner, active, stopping, failure, key)
        if failure is not None:
            raise failure

    async def _manage(
        self, owner: JSONObject, active: list[JSONObject], key: str
    ) -> Exception | None:
        wanted = owner["spec"].get("replicas")
        missing = (1 if wanted is None else wanted) - len(active)
        if missing > 0:
            return await self._create(owner, min(missing, BURST), key)
        if missing < 0:
            doomed = in_order_of_deletion(active)[: min(-missing, BURST)]
            return await self.delete_pods(owner, doomed, key)
        return None

    async def _create(self, owner: JSONObject, count: int, key: str) -> Exception | None:
        pod = pod_from(owner["spec"]["template"], owner, self.resource)

        async def create(_: int) -> JSONObject:
            return await self.client.create(PODS, pod)

        created, error = await slow_start(count, create)
        self.tell_created(owner, created, error, key)
        return None if error is not None and namespace_is_going(error) else error

    async def _write_status(
        self,
        owner: JSONObject,
        active: list[JSONObject],
        stopping: int,
        failure: Exception | None,
        key: str,
    ) -> None:
        spec, old = owner["spec"], owner.get("status") or {}
        least, now = spec.get("minReadySeconds") or 0, self.clock.now()
        labels = LabelSelector.of_set(
            (spec.get("template") or {}).get("metadata", {}).get("labels")
        )
        ready = [pod for pod in active if is_ready(pod)]
        available = [pod for pod in ready if is_available(pod, least, now)] if least else ready
        found = old.get("conditions") or []
        if failure is None:
            found = conditions.without(found, "ReplicaFailure")
        else:
            wanted = spec.get("replicas")
            reason = "FailedCreate" if (wanted or 0) > len(active) else "FailedDelete"
            made = conditions.condition("ReplicaFailure", True, reason, text_of(failure))
            found = conditions.put(found, made, rfc3339(now), compared=conditions.WITHOUT_MESSAGE)
        status = {
            "replicas": len(active),
            "fullyLabeledReplicas": sum(labels.matches(labels_of(pod)) for pod in active),
            "readyReplicas": len(ready),
            "availableReplicas": len(available),
            "observedGeneration": owner["metadata"].get("generation") or 0,
            "conditions": found,
        }
        if self.tells_stopping:
            status["terminatingReplicas"] = stopping
        answer = await write_status(self.client, self.resource, owner, status, keep=_KEPT)
        if answer is not None:
            self.unseen.wrote(key, self.owners, answer)
        if least and len(available) < len(ready):
            # Nobody will tell when the next one has been ready for long enough.
            since = [s for pod in ready if (s := ready_since(pod)) is not None and s + least > now]
            self.queue.add_after(key, max(min(since, default=now) + least - now, 0.1))


class ReplicationControllers(ReplicaSets):
    """The same for the older kind, whose selector is a plain set of labels."""

    name = "replicationcontroller-controller"
    component = "replication-controller"
    workers = 5
    resource = REPLICATION_CONTROLLERS
    tells_stopping = False

    def selector_of(self, owner: JSONObject) -> LabelSelector | None:
        """Which pods it wants; nothing if it says nothing."""
        return LabelSelector.of_set(owner["spec"].get("selector"))
