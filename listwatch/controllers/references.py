"""Who owns whom: references to owners, read, written, and as indexes of caches.

Used by every controller that makes objects of others, and by the garbage collector.
"""

from __future__ import annotations

from listwatch.informer import APIResource
from listwatch.protocol.objects import JSONObject

CONTROLLER = "controller"  # the name of the index below


def owner_references(subject: JSONObject) -> list[JSONObject]:
    """The references of an object to its owners."""
    references: list[JSONObject] = subject["metadata"].get("ownerReferences") or []
    return references


def controller_of(subject: JSONObject) -> JSONObject | None:
    """The reference to the one owner that controls the object."""
    for reference in owner_references(subject):
        if reference.get("controller"):
            return reference
    return None


def controller_reference(resource: APIResource, owner: JSONObject) -> JSONObject:
    """A reference that makes `owner` the controller of whoever carries it."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def by_controller(subject: JSONObject) -> list[str]:
    """An index function: the uid of the controller, or `orphan/namespace` for those without."""
    reference = controller_of(subject)
    if reference is not None:
        return [str(reference["uid"])]
    return [orphans_of(subject["metadata"].get("namespace") or "")]


def orphans_of(namespace: str) -> str:
    """The value in that index of objects without a controller."""
    return f"orphan/{namespace}"
