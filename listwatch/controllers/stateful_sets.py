"""StatefulSets: pods with names and volumes of their own, one after the other.

Upstream: pkg/controller/statefulset/stateful_set_control.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.claim_retention import wanted_references
from listwatch.controllers.events import WARNING
from listwatch.controllers.pods import (
    is_available,
    is_finished,
    is_ready,
    is_terminating,
    ready_since,
)
from listwatch.controllers.references import owner_references
from listwatch.controllers.revisions import HASH, History, Revisions, template_of
from listwatch.controllers.status import write_status
from listwatch.controllers.templates import pod_from
from listwatch.controllers.workloads import Workloads
from listwatch.informer.errors import AlreadyExistsError, ApiError
from listwatch.informer.resources import PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from listwatch.protocol.objects import JSONObject, labels_of

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment

NAME_LABEL, INDEX_LABEL = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
_NUMBERED = re.compile(r"(.*)-([0-9]+)")


@dataclass(slots=True)
class _Look:
    """One look at one set."""

    key: str
    owner: JSONObject
    revisions: Revisions
    current: JSONObject  # the revision that is being left
    pods: dict[int, JSONObject]

    @property
    def update(self) -> JSONObject:
        """The revision to come to."""
        return self.revisions.current

    @property
    def ordinals(self) -> range:
        """The numbers that there shall be."""
        spec = self.owner["spec"]
        start = (spec.get("ordinals") or {}).get("start") or 0
        replicas = spec.get("replicas")
        return range(start, start + (1 if replicas is None else replicas))

    @property
    def in_order(self) -> bool:
        """Whether each waits for the one before."""
        return bool(self.owner["spec"].get("podManagementPolicy") != "Parallel")

    @property
    def partition(self) -> int:
        """The lowest number that is updated."""
        strategy = self.owner["spec"].get("updateStrategy") or {}
        return int((strategy.get("rollingUpdate") or {}).get("partition") or 0)


class StatefulSets(Workloads):
    """At most one pod for each number, at any time."""

    name = "statefulset-controller"
    resource = STATEFUL_SETS

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.volumes = self.informer(PERSISTENT_VOLUME_CLAIMS)
        self._history = History(self, self.owners)

    async def reconcile(self, key: str) -> None:
        """Take the steps that are due, and write the status."""
        wanted = self.owner_of(key)
        if wanted is None:
            return
        owner, selector = wanted
        claimed = await self.claims.claim(owner, selector, key)
        revisions = await self._history.of(owner, selector, key)
        name = (owner.get("status") or {}).get("currentRevision") or ""
        current = revisions.named(name) or revisions.current
        pods = {number: pod for pod in claimed if (number := _number_of(owner, pod)) is not None}
        look = _Look(key, owner, revisions, current, pods)
        try:
            if "deletionTimestamp" not in owner["metadata"]:
                await self._manage(look)
        finally:
            await self._write_status(look)
        live = [labels_of(pod).get(HASH, "") for pod in look.pods.values()]
        await self._history.clean_up(owner, revisions, [*live, current["metadata"]["name"]], key)

    async def _manage(self, look: _Look) -> None:
        await self._retain(look)
        for number in look.ordinals:
            if not await self._see_to(look, number) and look.in_order:
                return
        condemned = sorted((n for n in look.pods if n not in look.ordinals), reverse=True)
        for number in condemned:
            if not is_terminating(look.pods[number]):
                if look.in_order and not self._healthy_below(look, number):
                    return
                await self._delete(look, look.pods[number])
            if look.in_order:
                return
        await self._roll(look)

    async def _see_to(self, look: _Look, number: int) -> bool:
        """Whether the pod of this number is well, so that the next may come."""
        pod = look.pods.get(number)
        if pod is not None and is_finished(pod) and not is_terminating(pod):
            await self._delete(look, pod)  # it comes back under its name
            return False
        if pod is None:
            await self._create(look, number)
            return False
        return not is_terminating(pod) and self._is_available(look, pod)

    async def _roll(self, look: _Look) -> None:
        """Replace one pod of an older revision: from the highest number down."""
        strategy = (look.owner["spec"].get("updateStrategy") or {}).get("type", "RollingUpdate")
        if strategy == "OnDelete":
            return
        wanted = look.update["metadata"]["name"]
        for number in reversed(look.ordinals):
            if number < look.partition:
                return
            pod = look.pods.get(number)
            if pod is None or is_terminating(pod):
                return
            if labels_of(pod).get(HASH) != wanted:
                await self._delete(look, pod)
                return
            if not self._is_available(look, pod):
                return

    def _healthy_below(self, look: _Look, number: int) -> bool:
        below = [pod for n, pod in look.pods.items() if n < number]
        return all(not is_terminating(pod) and self._is_available(look, pod) for pod in below)

    def _is_available(self, look: _Look, pod: JSONObject) -> bool:
        least = look.owner["spec"].get("minReadySeconds") or 0
        if is_available(pod, least, self.clock.now()):
            return True
        since = ready_since(pod)
        if since is not None:
            self.queue.add_after(look.key, max(since + least - self.clock.now(), 0.1))
        return False

    # Writes

    async def _retain(self, look: _Look) -> None:
        """Let claims know with whom they go, before anybody does."""
        metadata = look.owner["metadata"]
        for number, pod in look.pods.items():
            for template in _claim_templates(look.owner):
                name = f"{template['metadata']['name']}-{metadata['name']}-{number}"
                claim = self.volumes.lister.get_or_none(f"{metadata['namespace']}/{name}")
                if claim is None or is_terminating(claim):
                    continue
                condemned = number not in look.ordinals
                wanted = wanted_references(look.owner, pod, claim, condemned=condemned)
                if wanted == owner_references(claim):
                    continue
                patch = {
                    "metadata": {
                        "uid": claim["metadata"]["uid"],
                        "resourceVersion": claim["metadata"]["resourceVersion"],
                        "ownerReferences": wanted or None,
                    }
                }
                answer = await self.client.patch(
                    PERSISTENT_VOLUME_CLAIMS, name, patch, namespace=metadata["namespace"]
                )
                self.unseen.wrote(look.key, self.volumes, answer)

    async def _create(self, look: _Look, number: int) -> None:
        revision = self._revision_for(look, number)
        owner = look.owner
        name = f"{owner['metadata']['name']}-{number}"
        pod = pod_from(template_of(revision), owner, STATEFUL_SETS, name=name)
        pod["metadata"]["labels"] |= {
            HASH: revision["metadata"]["name"], NAME_LABEL: name, INDEX_LABEL: str(number),
        }  # fmt: skip
        spec = pod["spec"]
        spec["hostname"] = name
        if owner["spec"].get("serviceName"):
            spec["subdomain"] = owner["spec"]["serviceName"]
        await self._make_volumes(look, pod, number)
        try:
            made = await self.client.create(PODS, pod)
        except AlreadyExistsError:
            raise  # another's, or one that the cache does not show yet: looked at again
        except ApiError as error:
            message = (
                f"create Pod {name} in StatefulSet {owner['metadata']['name']} failed error: "
                f"{error.message}"
            )
            self.events.record(STATEFUL_SETS, owner, "FailedCreate", message, kind=WARNING)
            raise
        look.pods[number] = made
        self.unseen.wrote(look.key, self.children, made)
        message = f"create Pod {name} in StatefulSet {owner['metadata']['name']} successful"
        self.events.record(STATEFUL_SETS, owner, "SuccessfulCreate", message)

    def _revision_for(self, look: _Look, number: int) -> JSONObject:
        strategy = (look.owner["spec"].get("updateStrategy") or {}).get("type", "RollingUpdate")
        if strategy != "RollingUpdate":
            return look.update
        status = look.owner.get("status") or {}
        kept = look.partition or look.ordinals.start + (status.get("currentReplicas") or 0)
        return look.current if number < kept else look.update

    async def _make_volumes(self, look: _Look, pod: JSONObject, number: int) -> None:
        owner, spec = look.owner, pod["spec"]
        namespace, name = owner["metadata"]["namespace"], owner["metadata"]["name"]
        volumes = [
            each
            for each in spec.get("volumes") or []
            if each["name"] not in {t["metadata"]["name"] for t in _claim_templates(owner)}
        ]
        for template in _claim_templates(owner):
            kind = template["metadata"]["name"]
            claim = f"{kind}-{name}-{number}"
            volumes.append({"name": kind, "persistentVolumeClaim": {"claimName": claim}})
            if self.volumes.lister.get_or_none(f"{namespace}/{claim}") is not None:
                continue
            labels = {
                **(template["metadata"].get("labels") or {}),
                **((owner["spec"].get("selector") or {}).get("matchLabels") or {}),
            }
            metadata: JSONObject = {"name": claim, "namespace": namespace, "labels": labels}
            references = wanted_references(owner, None, None, condemned=False)
            if references:
                metadata["ownerReferences"] = references
            wanted = {"metadata": metadata, "spec": template["spec"]}
            try:
                await self.client.create(PERSISTENT_VOLUME_CLAIMS, wanted)
            except AlreadyExistsError:
                continue
        if volumes:
            spec["volumes"] = volumes

    async def _delete(self, look: _Look, pod: JSONObject) -> None:
        if not await self.delete_child(pod, look.key):
            return
        message = (
            f"delete Pod {pod['metadata']['name']} in StatefulSet {look.owner['metadata']['name']} "
            "successful"
        )
        self.events.record(STATEFUL_SETS, look.owner, "SuccessfulDelete", message)

    async def _write_status(self, look: _Look) -> None:
        owner, now = look.owner, self.clock.now()
        least = owner["spec"].get("minReadySeconds") or 0
        current, update = look.current["metadata"]["name"], look.update["metadata"]["name"]
        alive = [pod for pod in look.pods.values() if not is_finished(pod)]
        steady = [pod for pod in alive if not is_terminating(pod)]
        updated = sum(labels_of(pod).get(HASH) == update for pod in steady)
        ready = sum(is_ready(pod) for pod in alive)
        status = {
            **(owner.get("status") or {}),
            "observedGeneration": owner["metadata"].get("generation") or 0,
            "replicas": len(alive),
            "readyReplicas": ready,
            "availableReplicas": sum(is_available(pod, least, now) for pod in alive),
            "currentReplicas": sum(labels_of(pod).get(HASH) == current for pod in steady),
            "updatedReplicas": updated,
            "currentRevision": current,
            "updateRevision": update,
            "collisionCount": (owner.get("status") or {}).get("collisionCount") or 0,
        }
        rolling = (owner["spec"].get("updateStrategy") or {}).get("type") != "OnDelete"
        if rolling and current != update and updated == ready == len(alive) == len(look.ordinals):
            status |= {"currentRevision": update, "currentReplicas": updated}
        keep = ("replicas", "availableReplicas", "collisionCount")
        # A count of 0 says something here, where upstream keeps it: kubectl reads it as a number.
        answer = await write_status(self.client, STATEFUL_SETS, owner, status, keep=keep)
        if answer is not None:
            self.unseen.wrote(look.key, self.owners, answer)


def _claim_templates(owner: JSONObject) -> list[JSONObject]:
    templates: list[JSONObject] = owner["spec"].get("volumeClaimTemplates") or []
    return templates


def _number_of(owner: JSONObject, pod: JSONObject) -> int | None:
    found = _NUMBERED.fullmatch(pod["metadata"]["name"])
    if found is None or found[1] != owner["metadata"]["name"]:
        return None
    return int(found[2])
