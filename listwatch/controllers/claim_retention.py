"""Which claims of a stateful set go with it, and which with a pod that is scaled away.

Told to the garbage collector by owner references. Upstream: pkg/controller/statefulset/
stateful_set_utils.go, claimOwnerMatchesSetAndPod. Used by `stateful_sets`.
"""

from __future__ import annotations

from listwatch.controllers.references import owner_references
from listwatch.informer.resources import PODS, STATEFUL_SETS
from listwatch.protocol.objects import JSONObject

RETAIN, DELETE = "Retain", "Delete"


def policy_of(owner: JSONObject) -> tuple[str, str]:
    """What happens to claims when the set is deleted, and when it is scaled down."""
    policy = owner["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenDeleted") or RETAIN, policy.get("whenScaled") or RETAIN


def wanted_references(
    owner: JSONObject, pod: JSONObject | None, claim: JSONObject | None, *, condemned: bool
) -> list[JSONObject]:
    """The owner references that a claim should have; those of others stay.

    `claim` None: one that is about to be made. `condemned`: its pod is scaled away.
    """
    when_deleted, when_scaled = policy_of(owner)
    with_pod = condemned and when_scaled == DELETE and pod is not None
    with_set = when_deleted == DELETE and not (condemned and when_scaled == DELETE)
    kept = [
        each
        for each in (owner_references(claim) if claim is not None else ())
        if not _is_ours(each, owner)
    ]
    if with_set:
        kept.append(_reference(STATEFUL_SETS.api_version, "StatefulSet", owner))
    if with_pod and pod is not None:
        kept.append(_reference(PODS.api_version, "Pod", pod))
    return kept


def _is_ours(reference: JSONObject, owner: JSONObject) -> bool:
    if reference.get("kind") == "StatefulSet":
        return bool(reference.get("uid") == owner["metadata"]["uid"])
    # Of a pod of the set, of this or an earlier life: its name begins as all of them do.
    prefix = f"{owner['metadata']['name']}-"
    return reference.get("kind") == "Pod" and str(reference.get("name") or "").startswith(prefix)


def _reference(api_version: str, kind: str, subject: JSONObject) -> JSONObject:
    metadata = subject["metadata"]
    return {
        "apiVersion": api_version, "kind": kind, "name": metadata["name"],
        "uid": metadata["uid"],
    }  # fmt: skip
