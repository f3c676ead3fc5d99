"""One object under two APIs: events are kept as the core group's, and served by two groups.

The verbs convert what comes in and what they answer; lists and watches hold versions in the
stored form, and `api` converts those as it writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.protocol.objects import Encoded, JSONObject, decode, encode

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


def converts(resource: Resource) -> bool:
    """Whether the objects of a resource are kept in another form than they are served in."""
    return resource.gvk == _EVENTS


def stored_kind(resource: Resource) -> GroupVersionKind:
    """The kind in which the objects of a resource are kept."""
    return _CORE if converts(resource) else resource.gvk


def to_stored(resource: Resource, document: JSONObject) -> JSONObject:
    """A served object in the form that is kept."""
    return _renamed(document, _CORE, _CORE_NAMES) if converts(resource) else document


def to_served(resource: Resource, document: JSONObject) -> JSONObject:
    """A kept object in the form that is served."""
    return _renamed(document, _EVENTS, _EVENTS_NAMES) if converts(resource) else document


def served(resource: Resource, encoded: Encoded) -> Encoded:
    """The encoding of a kept object in the form that is served."""
    if not converts(resource):
        return encoded
    return encode(to_served(resource, decode(encoded, 0)))


def _renamed(document: JSONObject, gvk: GroupVersionKind, names: dict[str, str]) -> JSONObject:
    renamed = {names.get(key, key): value for key, value in document.items()}
    return {**renamed, "kind": gvk.kind, "apiVersion": gvk.api_version}
