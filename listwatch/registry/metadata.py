"""The metadata that the server sets, guards or restores, whatever the kind.

Used by the verbs before validation; the order of keys is kube-apiserver's, which people see.
"""

from __future__ import annotations

import os
import random
from typing import Any

from listwatch.protocol.errors import StatusError, bad_request
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.uids import new_uid
from listwatch.registry.context import RequestContext

_ORDER = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations",
    "ownerReferences", "finalizers", "managedFields",
)  # fmt: skip
_DROPPED = ("selfLink",)
_WIPED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")

# No vowels and no look-alikes: a generated name spells no word and is read aloud safely.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_BASE_LENGTH = 58  # of a generated name, so that it fits a label value
GENERATE_TRIES = 8

# Not the system's: names are no secrets, and each call to it lets go of the interpreter's lock.
_random = random.Random()  # noqa: S311
os.register_at_fork(after_in_child=_random.seed)  # or a child would choose its parent's names


def ordered(metadata: JSONObject) -> JSONObject:
    """A copy in the usual order, without what is empty and what is never kept."""
    ordered = {key: metadata[key] for key in _ORDER if not _empty(metadata.get(key))}
    for key, value in metadata.items():
        if key not in ordered and not _empty(value) and key not in _DROPPED:
            ordered[key] = value
    return ordered


def _empty(value: Any) -> bool:  # Any: a JSON value
    return value is None or value == "" or value == {} or value == []


def metadata_of(document: JSONObject) -> JSONObject:
    """The metadata of a body; made if it has none; raises 400 if it is no object."""
    metadata = document.get("metadata")
    if metadata is None:
        metadata = document["metadata"] = {}
    if not isinstance(metadata, dict):
        raise bad_request("json: cannot unmarshal into Go value of type v1.ObjectMeta: metadata")
    return metadata


def wipe(metadata: JSONObject) -> None:
    """What a client sent for the server's own fields goes."""
    for key in _WIPED:
        metadata.pop(key, None)


def for_create(metadata: JSONObject, timestamp: str) -> None:
    """What a client sent for the server's own fields goes; the server's values come."""
    wipe(metadata)
    metadata["uid"] = new_uid()
    metadata["creationTimestamp"] = timestamp


def for_update(metadata: JSONObject, old: JSONObject) -> None:
    """What no update may change is taken from the old object."""
    if not metadata.get("uid"):
        metadata["uid"] = old["uid"]
    _restore(metadata, old, "creationTimestamp")
    _restore(metadata, old, "generation")
    if old.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = old["deletionTimestamp"]
    if metadata.get("deletionGracePeriodSeconds") is None:
        _restore(metadata, old, "deletionGracePeriodSeconds")


def _restore(metadata: JSONObject, old: JSONObject, key: str) -> None:
    if key in old:
        metadata[key] = old[key]
    else:
        metadata.pop(key, None)


def match_namespace(ctx: RequestContext, metadata: JSONObject) -> None:
    """The namespace is the request's; raises 400 if the body says another one."""
    if not ctx.resource.namespaced:
        metadata.pop("namespace", None)
        return
    given = metadata.get("namespace")
    if given and given != ctx.namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = ctx.namespace


def match_name(ctx: RequestContext, metadata: JSONObject) -> None:
    """The name must be the path's; raises 400 if it is another or missing."""
    name = metadata.get("name")
    if not name:
        raise bad_request(
            f"the name of the object ({ctx.name} based on URL) was undeterminable: "
            "name must be provided"
        )
    if name != ctx.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({ctx.name})"
        )


def generated_name(base: str) -> str:
    """A name that begins with the base and is most probably new."""
    return base[:_BASE_LENGTH] + "".join(_random.choices(_ALPHABET, k=5))


def name_exhausted(ctx: RequestContext, name: str) -> StatusError:
    """409 when every generated name was taken already."""
    resource = ctx.resource.group_resource
    details: JSONObject = {"name": name}
    if resource.group:
        details["group"] = resource.group
    details |= {"kind": resource.resource, "retryAfterSeconds": 1}
    message = (
        f'{resource} "{name}" already exists, the server was not able to generate a unique name '
        "for the object"
    )
    return StatusError(409, "AlreadyExists", message, details=details)
