"""The replica sets of a deployment as its revisions: the new one found or made, old ones cleaned.

Upstream: pkg/controller/deployment/sync.go (getNewReplicaSet, cleanupDeployment).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.deployments.scaling import (
    DESIRED,
    MAXIMUM,
    limits,
    new_replicas,
    replicas_of,
)
from listwatch.controllers.references import controller_of, controller_reference
from listwatch.controllers.templates import template_hash
from listwatch.informer.errors import AlreadyExistsError
from listwatch.informer.resources import DEPLOYMENTS, REPLICA_SETS

if TYPE_CHECKING:
    from listwatch.informer import Client
    from listwatch.protocol.objects import JSONObject

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
_NOT_COPIED = frozenset({
    "kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MAXIMUM,
    "deprecated.deployment.rollback.to",
})  # fmt: skip


class CollisionError(Exception):
    """Another template's replica set has the name: `collisionCount` must grow."""


def find_new(deployment: JSONObject, replica_sets: Iterable[JSONObject]) -> JSONObject | None:
    """The replica set of the deployment's template: of several the oldest."""
    template = _without_hash(deployment["spec"]["template"])
    same = [each for each in replica_sets if _without_hash(each["spec"]["template"]) == template]
    return min(same, key=lambda each: each["metadata"]["creationTimestamp"], default=None)


def revision_of(subject: JSONObject) -> int:
    """The revision in the annotations; 0 for none."""
    text = (subject["metadata"].get("annotations") or {}).get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def next_revision(old: Iterable[JSONObject]) -> str:
    """The number after the highest of the old ones."""
    return str(max(map(revision_of, old), default=0) + 1)


def new_replica_set(
    deployment: JSONObject, every: Sequence[JSONObject], old: Sequence[JSONObject]
) -> JSONObject:
    """The replica set to make for the deployment's template."""
    collisions = (deployment.get("status") or {}).get("collisionCount") or 0
    template = copy.deepcopy(deployment["spec"]["template"])
    value = template_hash(template, collisions)
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    labels[HASH] = value
    selector = copy.deepcopy(deployment["spec"].get("selector") or {})
    selector.setdefault("matchLabels", {})[HASH] = value
    metadata = deployment["metadata"]
    spec: JSONObject = {
        "replicas": new_replicas(deployment, every, None),
        "selector": selector,
        "template": template,
    }
    if deployment["spec"].get("minReadySeconds"):
        spec["minReadySeconds"] = deployment["spec"]["minReadySeconds"]
    return {
        "metadata": {
            "name": f"{metadata['name']}-{value}",
            "namespace": metadata["namespace"],
            "labels": dict(labels),
            "annotations": wanted_annotations(deployment, None, next_revision(old)),
            "ownerReferences": [controller_reference(DEPLOYMENTS, deployment)],
        },
        "spec": spec,
    }


def wanted_annotations(
    deployment: JSONObject, replica_set: JSONObject | None, revision: str
) -> dict[str, str]:
    """The annotations of the new replica set: the deployment's, its revision, and its sizes."""
    before = {} if replica_set is None else replica_set["metadata"].get("annotations") or {}
    given = deployment["metadata"].get("annotations") or {}
    made = {**before, **{key: text for key, text in given.items() if key not in _NOT_COPIED}}
    current = before.get(REVISION, "")
    if not current.isdecimal() or int(current) < int(revision):
        made[REVISION] = revision
        if current:
            past = [*filter(None, before.get(HISTORY, "").split(",")), current]
            made[HISTORY] = ",".join(past)
    return made | size_annotations(deployment)


def size_annotations(deployment: JSONObject) -> dict[str, str]:
    """What a scaling is recognized by later."""
    wanted, (surge, _) = replicas_of(deployment), limits(deployment)
    return {DESIRED: str(wanted), MAXIMUM: str(wanted + surge)}


async def make(client: Client, deployment: JSONObject, wanted: JSONObject) -> JSONObject:
    """Create the replica set; raises CollisionError if its name is another template's."""
    try:
        return await client.create(REPLICA_SETS, wanted)
    except AlreadyExistsError:
        metadata = wanted["metadata"]
        found = await client.get(REPLICA_SETS, metadata["name"], namespace=metadata["namespace"])
        owner = controller_of(found)
        ours = owner is not None and owner["uid"] == deployment["metadata"]["uid"]
        if ours and find_new(deployment, [found]) is not None:
            return found
        raise CollisionError(metadata["name"]) from None


def superfluous(deployment: JSONObject, old: Sequence[JSONObject]) -> list[JSONObject]:
    """Old replica sets beyond the limit of the history: empty ones, the oldest first."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    if limit is None or limit == 2**31 - 1:
        return []
    alive = [each for each in old if "deletionTimestamp" not in each["metadata"]]
    ordered = sorted(alive, key=revision_of)
    return [each for each in ordered[: max(len(ordered) - limit, 0)] if _is_empty(each)]


def failure_of(replica_set: JSONObject | None) -> JSONObject | None:
    """The condition ReplicaFailure of a replica set."""
    status = {} if replica_set is None else replica_set.get("status") or {}
    return conditions.find(status.get("conditions"), "ReplicaFailure")


def _is_empty(replica_set: JSONObject) -> bool:
    status = replica_set.get("status") or {}
    seen = (status.get("observedGeneration") or 0) >= replica_set["metadata"].get("generation", 0)
    return seen and not status.get("replicas") and not replicas_of(replica_set)


def _without_hash(template: JSONObject) -> JSONObject:
    metadata = dict(template.get("metadata") or {})
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != HASH}
    metadata["labels"] = labels
    metadata.pop("creationTimestamp", None)
    return {**template, "metadata": metadata}
