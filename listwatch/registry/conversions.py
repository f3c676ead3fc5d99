"""One object under two APIs: kept in one form, and served in two.

Events are kept as the core group's, autoscalers as those of `autoscaling/v2`, custom objects in the
version that their definition stores. The verbs convert what comes in and what they answer; lists
and watches hold versions in the stored form, and `api` converts those as it writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.objects import Encoded, JSONObject, decode, encode, header
from listwatch.schemas import autoscaling

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource

_CORE = GroupVersionKind("", "v1", "Event")
_EVENTS = GroupVersionKind("events.k8s.io", "v1", "Event")
_CORE_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_EVENTS_NAMES = {core: name for name, core in _CORE_NAMES.items()}


class _Conversion(NamedTuple):
    stored: GroupVersionKind
    to_stored: Callable[[JSONObject], JSONObject]
    to_served: Callable[[JSONObject], JSONObject]


def converts(resource: Resource) -> bool:
    """Whether the objects of a resource are kept in another form than they are served in."""
    if resource.custom is not None:
        return resource.version != resource.custom.stored_version
    return resource.gvk in _CONVERSIONS


def stored_kind(resource: Resource) -> GroupVersionKind:
    """The kind in which the objects of a resource are kept."""
    if resource.custom is not None:
        return GroupVersionKind(resource.group, resource.custom.stored_version, resource.kind)
    conversion = _CONVERSIONS.get(resource.gvk)
    return resource.gvk if conversion is None else conversion.stored


def to_stored(resource: Resource, document: JSONObject) -> JSONObject:
    """A served object in the form that is kept."""
    if resource.custom is not None:
        return {**document, "apiVersion": stored_kind(resource).api_version}
    conversion = _CONVERSIONS.get(resource.gvk)
    return document if conversion is None else conversion.to_stored(document)


def to_served(resource: Resource, document: JSONObject) -> JSONObject:
    """A kept object in the form that is served."""
    if resource.custom is not None:
        resource.custom.complete(document)
        return {**document, "apiVersion": resource.api_version}
    conversion = _CONVERSIONS.get(resource.gvk)
    return document if conversion is None else conversion.to_served(document)


def served(resource: Resource, encoded: Encoded) -> Encoded:
    """The encoding of a kept object in the form that is served."""
    if not converts(resource):
        return encoded
    if resource.custom is not None:
        return _renamed_version(encoded, resource)
    return encode(to_served(resource, decode(encoded, 0)))


def completed(resource: Resource, encoded: Encoded) -> Encoded:
    """The encoding of an object as it was stored once, in the form that is kept now."""
    if resource.custom is None:
        return encoded
    document = decode(encoded, 0)
    return encode(document) if resource.custom.complete(document) else encoded


def _renamed_version(encoded: Encoded, resource: Resource) -> Encoded:
    # Versions differ in their name alone, so nothing is parsed.
    head = header(resource.kind, resource.api_version) + b'"metadata":{'
    return Encoded(head + encoded.body[encoded.splice :], len(head))


def _renamed(document: JSONObject, gvk: GroupVersionKind, names: dict[str, str]) -> JSONObject:
    renamed = {names.get(key, key): value for key, value in document.items()}
    return {**renamed, "kind": gvk.kind, "apiVersion": gvk.api_version}


_CONVERSIONS = {
    _EVENTS: _Conversion(
        _CORE,
        lambda document: _renamed(document, _CORE, _CORE_NAMES),
        lambda document: _renamed(document, _EVENTS, _EVENTS_NAMES),
    ),
    GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler"): _Conversion(
        GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
        autoscaling.from_v1,
        autoscaling.to_v1,
    ),
}
