"""The deployment controller: one look at one deployment, and the one step that is due.

Upstream: pkg/controller/deployment/deployment_controller.go, rolling.go, recreate.go, sync.go.
Replica sets go on to `replica_sets`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.deployments import progress, revisions, scaling
from listwatch.controllers.pods import is_finished
from listwatch.controllers.references import CONTROLLER, controller_of
from listwatch.controllers.status import write_status
from listwatch.controllers.workloads import Workloads
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.options import DeleteOptions

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import Deleted


@dataclass(slots=True)
class _Look:
    """One look: the deployment, its replica sets, and the conditions to write at its end."""

    key: str
    deployment: JSONObject
    old: list[JSONObject]
    new: JSONObject | None
    conditions: conditions.Conditions
    rolling_out: bool = True

    @property
    def every(self) -> list[JSONObject]:
        """All replica sets."""
        return [*self.old, *([self.new] if self.new else [])]


class Deployments(Workloads):
    """Rolls out, rolls back, scales and pauses."""

    name = "deployment-controller"
    workers = 5
    resource = DEPLOYMENTS
    child = REPLICA_SETS

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.pods = self.informer(PODS)
        self.pods.add_handler(on_delete=self._pod_gone)

    async def reconcile(self, key: str) -> None:
        """Take the step that is due, and write the status."""
        wanted = self.owner_of(key)
        if wanted is None:
            return
        deployment, selector = wanted
        owned = await self.claims.claim(deployment, selector, key)
        new = revisions.find_new(deployment, owned)
        old = [each for each in owned if each is not new]
        found = list((deployment.get("status") or {}).get("conditions") or ())
        look = _Look(key, deployment, old, new, found)
        if "deletionTimestamp" in deployment["metadata"]:
            await self._write_status(look)
            return
        pause = progress.paused_condition(deployment)
        if pause is not None:
            now = rfc3339(self.clock.now())
            look.conditions = conditions.put(look.conditions, pause, now, updated=True)
        if deployment["spec"].get("paused"):
            await self._update_new(look)
            await self._scale(look)
            await self._clean_up(look)
            look.rolling_out = False
        elif self._was_scaled(look):
            await self._update_new(look)
            await self._scale(look)
            look.rolling_out = False
        elif scaling.is_rolling(deployment):
            await self._roll(look)
        else:
            await self._recreate(look)
        await self._write_status(look)

    # Strategies

    async def _roll(self, look: _Look) -> None:
        new = await self._ensure_new(look)
        if new is None:
            return
        size = scaling.new_replicas(look.deployment, look.every, new)
        if scaling.replicas_of(new) > scaling.replicas_of(look.deployment):
            size = scaling.replicas_of(look.deployment)
        if size != scaling.replicas_of(new):
            look.new = await self._resize(look, new, size)
            return
        for each, wanted in scaling.old_reductions(look.deployment, new, look.old):
            await self._resize(look, each, wanted)
        await self._finish(look)

    async def _recreate(self, look: _Look) -> None:
        running = [each for each in look.old if scaling.replicas_of(each)]
        for each in running:
            await self._resize(look, each, 0)
        if running or self._old_pods_run(look):
            return
        new = await self._ensure_new(look)
        wanted = scaling.replicas_of(look.deployment)
        if new is not None and scaling.replicas_of(new) != wanted:
            look.new = await self._resize(look, new, wanted)
            return
        await self._finish(look)

    async def _finish(self, look: _Look) -> None:
        status = progress.status_of(look.deployment, look.every, look.new, self.clock.now())
        if progress.is_complete(look.deployment, status):
            await self._clean_up(look)

    def _old_pods_run(self, look: _Look) -> bool:
        return any(
            not is_finished(pod)
            for each in look.old
            for pod in self.pods.lister.by_index(CONTROLLER, each["metadata"]["uid"])
        )

    # The new replica set

    async def _ensure_new(self, look: _Look) -> JSONObject | None:
        if look.new is not None:
            await self._update_new(look)
            return look.new
        wanted = revisions.new_replica_set(look.deployment, look.every, look.old)
        try:
            made = await revisions.make(self.client, look.deployment, wanted)
        except revisions.CollisionError:
            status = look.deployment.get("status") or {}
            grown = {**status, "collisionCount": (status.get("collisionCount") or 0) + 1}
            answer = await write_status(
                self.client, DEPLOYMENTS, look.deployment, grown, keep=progress.KEPT
            )
            if answer is not None:
                look.deployment = answer
                self.unseen.wrote(look.key, self.owners, answer)
            return None
        self.unseen.wrote(look.key, self.children, made)
        look.new = made
        name = made["metadata"]["name"]
        size = scaling.replicas_of(made)
        if size:
            self._tell_scaled(look, name, 0, size)
        self._progressing(look, "NewReplicaSetCreated", f'Created new replica set "{name}"')
        await self._write_revision(look, made)
        return made

    async def _update_new(self, look: _Look) -> None:
        """See to annotations and minReadySeconds of the new one, and tell its revision."""
        new = look.new
        if new is None:
            return
        wanted = revisions.wanted_annotations(
            look.deployment, new, revisions.next_revision(look.old)
        )
        for key in (scaling.DESIRED, scaling.MAXIMUM):
            # Sizes are told together with the size itself.
            before = (new["metadata"].get("annotations") or {}).get(key)
            if before is not None:
                wanted[key] = before
        patch: JSONObject = {}
        if wanted != (new["metadata"].get("annotations") or {}):
            patch["metadata"] = {"annotations": wanted}
        least = look.deployment["spec"].get("minReadySeconds") or 0
        if least != (new["spec"].get("minReadySeconds") or 0):
            patch["spec"] = {"minReadySeconds": least or None}
        if patch:
            look.new = await self._patch(look, new, patch)
        assert look.new is not None
        if conditions.find(look.conditions, progress.PROGRESSING) is None:
            name = look.new["metadata"]["name"]
            self._progressing(look, "FoundNewReplicaSet", f'Found new replica set "{name}"')
        await self._write_revision(look, look.new)

    def _progressing(self, look: _Look, reason: str, message: str) -> None:
        if progress.has_deadline(look.deployment):
            made = conditions.condition(progress.PROGRESSING, True, reason, message)
            now = rfc3339(self.clock.now())
            look.conditions = conditions.put(look.conditions, made, now, updated=True)

    async def _write_revision(self, look: _Look, new: JSONObject) -> None:
        revision = str(revisions.revision_of(new))
        metadata = look.deployment["metadata"]
        if (metadata.get("annotations") or {}).get(revisions.REVISION) == revision:
            return
        patch = {
            "metadata": {"uid": metadata["uid"], "annotations": {revisions.REVISION: revision}}
        }
        answer = await self.client.patch(
            DEPLOYMENTS, metadata["name"], patch, namespace=metadata["namespace"]
        )
        self.unseen.wrote(look.key, self.owners, answer)
        look.deployment = answer

    # Sizes

    def _was_scaled(self, look: _Look) -> bool:
        wanted = str(scaling.replicas_of(look.deployment))
        return any(
            (each["metadata"].get("annotations") or {}).get(scaling.DESIRED, wanted) != wanted
            for each in look.every
            if scaling.replicas_of(each)
        )

    async def _scale(self, look: _Look) -> None:
        """The deployment's own size changed: one set takes it all, several share it."""
        wanted = scaling.replicas_of(look.deployment)
        active = [each for each in look.every if scaling.replicas_of(each)]
        if len(active) <= 1:
            target = active[0] if active else look.new
            if target is not None:
                await self._resize(look, target, wanted)
            return
        new = look.new
        if new is not None and scaling.count([new], "availableReplicas") == wanted and (
            scaling.replicas_of(new) == wanted
        ):  # fmt: skip
            for each in look.old:
                if scaling.replicas_of(each):
                    await self._resize(look, each, 0)
            return
        if scaling.is_rolling(look.deployment):
            sizes = scaling.proportional(look.deployment, active)
            for each in active:
                await self._resize(look, each, sizes[each["metadata"]["uid"]])

    async def _resize(self, look: _Look, replica_set: JSONObject, size: int) -> JSONObject:
        before = scaling.replicas_of(replica_set)
        annotations = replica_set["metadata"].get("annotations") or {}
        wanted = revisions.size_annotations(look.deployment)
        told = all(annotations.get(key) == text for key, text in wanted.items())
        if size == before and told:
            return replica_set
        patch: JSONObject = {"metadata": {"annotations": wanted}, "spec": {"replicas": size}}
        answer = await self._patch(look, replica_set, patch)
        look.old = [answer if each is replica_set else each for each in look.old]
        if look.new is replica_set:
            look.new = answer
        if size != before:
            self._tell_scaled(look, answer["metadata"]["name"], before, size)
        return answer

    def _tell_scaled(self, look: _Look, name: str, before: int, size: int) -> None:
        way = "up" if size > before else "down"
        message = f"Scaled {way} replica set {name} from {before} to {size}"
        self.events.record(DEPLOYMENTS, look.deployment, "ScalingReplicaSet", message)

    async def _patch(self, look: _Look, replica_set: JSONObject, patch: JSONObject) -> JSONObject:
        metadata = replica_set["metadata"]
        patch.setdefault("metadata", {})["uid"] = metadata["uid"]
        answer = await self.client.patch(
            REPLICA_SETS, metadata["name"], patch, namespace=metadata["namespace"]
        )
        self.unseen.wrote(look.key, self.children, answer)
        return answer

    async def _clean_up(self, look: _Look) -> None:
        for each in revisions.superfluous(look.deployment, look.old):
            metadata = each["metadata"]
            try:
                await self.client.delete(
                    REPLICA_SETS,
                    metadata["name"],
                    namespace=metadata["namespace"],
                    options=DeleteOptions(uid=metadata["uid"], propagation_policy="Background"),
                )
            except NotFoundError:
                continue
            self.unseen.deleted(look.key, self.children, each)

    # Status

    async def _write_status(self, look: _Look) -> None:
        now = self.clock.now()
        base = {**look.deployment}
        base["status"] = {**(base.get("status") or {}), "conditions": look.conditions}
        status = progress.status_of(base, look.every, look.new, now)
        if look.rolling_out:
            status = progress.with_progress(base, status, look.new, now)
        failure = revisions.failure_of(look.new) or next(
            filter(None, map(revisions.failure_of, look.old)), None
        )
        found = status["conditions"]
        if failure is None:
            found = conditions.without(found, "ReplicaFailure")
        else:
            made = {key: failure.get(key, "") for key in ("type", "status", "reason", "message")}
            found = conditions.put(
                found, made, rfc3339(now), updated=True, compared=conditions.WITHOUT_MESSAGE
            )
        status["conditions"] = found
        answer = await write_status(
            self.client, DEPLOYMENTS, look.deployment, status, keep=progress.KEPT
        )
        if answer is not None:
            self.unseen.wrote(look.key, self.owners, answer)
        current = conditions.find(found, progress.PROGRESSING)
        waits = current is not None and current["reason"] not in (
            progress.FINISHED, progress.TIMED_OUT, progress.PAUSED,
        )  # fmt: skip
        if current is not None and waits and progress.has_deadline(look.deployment):
            left = progress.seconds_left(look.deployment, current, now)
            self.queue.add_after(look.key, max(left, 0) + 1)

    def _pod_gone(self, gone: Deleted) -> None:
        """The last old pod is gone: a deployment that recreates goes on."""
        reference = None if gone.object is None else controller_of(gone.object)
        if reference is None or reference.get("kind") != REPLICA_SETS.kind:
            return
        owner = self.children.lister.get_or_none(f"{gone.namespace}/{reference['name']}")
        above = None if owner is None else controller_of(owner)
        if above is None:
            return
        key = f"{gone.namespace}/{above['name']}"
        deployment = self.owners.lister.get_or_none(key)
        if deployment is not None and not scaling.is_rolling(deployment):
            self.queue.add(key)
