"""One object under two APIs: kept in one form, and served in two.

Events are kept as the core group's, autoscalers as those of `autoscaling/v2`, custom objects in the
version that their definition stores. The verbs convert what comes in and what they answer; lists
and watches hold versions in the stored form, and `api` converts those as it writes them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import orjson

from listwatch.protocol.errors import invalid
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


class ConversionNeededError(Exception):
    """A webhook must convert a document first: then the same will succeed.

    Whoever catches this puts the answer into `resource.custom.converted` under `key`.
    """

    def __init__(
        self, resource: Resource, key: bytes, document: JSONObject, api_version: str
    ) -> None:
        super().__init__(f"{resource.kind} to {api_version}")
        self.resource = resource
        self.key = key
        self.document = document
        self.api_version = api_version


def by_webhook(resource: Resource) -> bool:
    """Whether a webhook makes one version of a custom kind out of another."""
    custom = resource.custom
    return custom is not None and custom.conversion.get("strategy") == "Webhook"


def kept(resource: Resource, document: JSONObject) -> JSONObject:
    """An object as it was stored once, in the form that is kept now."""
    if resource.custom is None:
        return document
    if by_webhook(resource):
        return _asked(resource, document, stored_kind(resource).api_version)
    resource.custom.complete(document)
    return document


def _asked_to_stored(resource: Resource, document: JSONObject) -> JSONObject:
    custom, target = resource.custom, stored_kind(resource).api_version
    assert custom is not None
    if document.get("apiVersion", target) == target:
        return document
    # What goes to the webhook is a valid object of the version that was sent.
    document = copy.deepcopy(document)
    custom.apply_defaults(document)
    faults = custom.faults(document, None)
    if faults:
        name = (document.get("metadata") or {}).get("name") or ""
        raise invalid(resource.gvk, name, tuple(faults))
    return _asked(resource, document, target)


def _asked(resource: Resource, document: JSONObject, api_version: str) -> JSONObject:
    if document.get("apiVersion", api_version) == api_version:
        return document
    assert resource.custom is not None
    key = orjson.dumps([api_version, document])
    known = resource.custom.converted.get(key)
    if known is None:
        raise ConversionNeededError(resource, key, document, api_version)
    return copy.deepcopy(known)


def converts(resource: Resource) -> bool:
    """Whether the objects of a resource are kept in another form than they are served in."""
    if resource.custom is not None:
        return resource.version != resource.custom.stored_version and not by_webhook(resource)
    return resource.gvk in _CONVERSIONS


def stored_kind(resource: Resource) -> GroupVersionKind:
    """The kind in which the objects of a resource are kept."""
    if resource.custom is not None:
        return GroupVersionKind(resource.group, resource.custom.stored_version, resource.kind)
    conversion = _CONVERSIONS.get(resource.gvk)
    return resource.gvk if conversion is None else conversion.stored


def to_stored(resource: Resource, document: JSONObject) -> JSONObject:
    """A served object in the form that is kept."""
    if by_webhook(resource):
        return _asked_to_stored(resource, document)
    if resource.custom is not None:
        return {**document, "apiVersion": stored_kind(resource).api_version}
    conversion = _CONVERSIONS.get(resource.gvk)
    return document if conversion is None else conversion.to_stored(document)


def to_served(resource: Resource, document: JSONObject) -> JSONObject:
    """A kept object in the form that is served."""
    if by_webhook(resource):
        return _asked(resource, document, resource.api_version)
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
    if resource.custom is None or by_webhook(resource):
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
