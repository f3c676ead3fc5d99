"""Which volume suits a claim, and where: pure functions over volumes, claims and classes.

Upstream: pkg/controller/volume/persistentvolume/index.go. Used by `binder` and by the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.controllers.scheduler.affinity import matches_term
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.quantities import Quantity
from listwatch.protocol.selectors import LabelSelector

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
DELAYED = "WaitForFirstConsumer"


def annotation(subject: JSONObject, name: str) -> str:
    """The text of an annotation; '' if it has none."""
    return str((subject["metadata"].get("annotations") or {}).get(name) or "")


def class_of(subject: JSONObject) -> str:
    """The storage class of a volume or claim; '' for none."""
    return str(subject["spec"].get("storageClassName") or "")


def is_bound(claim: JSONObject) -> bool:
    """Whether a claim has its volume, and the volume knows."""
    return bool(claim["spec"].get("volumeName")) and bool(annotation(claim, BIND_COMPLETED))


def is_delayed(claim: JSONObject, storage_class: JSONObject | None) -> bool:
    """Whether a claim waits for a pod that wants it, because its class says so."""
    return (
        not claim["spec"].get("volumeName")
        and storage_class is not None
        and storage_class.get("volumeBindingMode") == DELAYED
    )


def is_for(volume: JSONObject, claim: JSONObject) -> bool:
    """Whether a volume is kept for this claim, by uid or, made beforehand, by name."""
    reference = volume["spec"].get("claimRef")
    if not reference:
        return False
    metadata = claim["metadata"]
    if reference.get("namespace") != metadata["namespace"] or (
        reference.get("name") != metadata["name"]
    ):
        return False
    return reference.get("uid") in (None, "", metadata["uid"])


def best(
    volumes: Iterable[JSONObject], claim: JSONObject, node: JSONObject | None = None
) -> JSONObject | None:
    """The volume kept for a claim, else the smallest free one that suits it, on `node` if given."""
    found: list[tuple[Quantity, str, JSONObject]] = []
    for volume in volumes:
        if is_for(volume, claim):
            return volume
        if _is_free(volume) and _suits(volume, claim) and reaches(volume, node):
            found.append((size_of(volume), volume["metadata"]["name"], volume))
    return min(found, key=lambda each: each[:2])[2] if found else None


def reaches(volume: JSONObject, node: JSONObject | None) -> bool:
    """Whether a volume can be used on a node."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    if node is None or not required:
        return True
    return any(matches_term(term, node) for term in required.get("nodeSelectorTerms") or ())


def _is_free(volume: JSONObject) -> bool:
    return (
        not volume["spec"].get("claimRef")
        and "deletionTimestamp" not in volume["metadata"]
        and (volume.get("status") or {}).get("phase") in ("Available", "Pending", None)
    )


def _suits(volume: JSONObject, claim: JSONObject) -> bool:
    wanted, has = claim["spec"], volume["spec"]
    if class_of(volume) != class_of(claim):
        return False
    if (wanted.get("volumeMode") or "Filesystem") != (has.get("volumeMode") or "Filesystem"):
        return False
    if not set(wanted.get("accessModes") or ()) <= set(has.get("accessModes") or ()):
        return False
    if size_of(volume) < request_of(claim):
        return False
    selector = wanted.get("selector")
    if not selector:
        return True
    found = LabelSelector.of(selector)
    return found is not None and found.matches(labels_of(volume))


def size_of(volume: JSONObject) -> Quantity:
    """How much a volume holds."""
    return Quantity.of((volume["spec"].get("capacity") or {}).get("storage") or "0")


def request_of(claim: JSONObject) -> Quantity:
    """How much a claim asks for."""
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return Quantity.of(requests.get("storage") or "0")
