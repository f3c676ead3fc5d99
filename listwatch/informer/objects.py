"""Keys of objects, and what stands in for an object whose end nobody saw.

Objects are JSON documents as dicts, shared by everyone who reads them: copy before a change. Keys
go into queues (`deltas`), the `indexer` and everybody's workqueue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from listwatch.protocol import objects
from listwatch.protocol.objects import JSONObject

__all__ = [
    "Deleted", "InvalidObjectError", "JSONObject", "JSONObjects", "KeyFunction", "Tombstone",
    "Transform", "is_resync", "label_values", "object_key", "resource_version", "split_key",
]  # fmt: skip

JSONObjects = list[JSONObject]  # for classes in which `list` is a method
KeyFunction = Callable[[JSONObject], str]
Transform = Callable[[JSONObject], JSONObject]


class InvalidObjectError(ValueError):
    """An object that cannot have a key; carries it, and `__cause__` is what went wrong."""

    def __init__(self, subject: object, why: object) -> None:
        super().__init__(f"couldn't create key for object {subject!r}: {why}")
        self.subject = subject


@dataclass(frozen=True, slots=True)
class Tombstone:
    """An object that is gone although its deletion was missed.

    `object` is the last state seen, which may be stale, or None if none was ever seen.
    """

    key: str
    object: JSONObject | None


@dataclass(frozen=True, slots=True)
class Deleted:
    """What `on_delete` receives; key, namespace and name are always there.

    `object` is the state at deletion, or with `final_state_unknown` the last one seen (or None).
    """

    key: str
    object: JSONObject | None
    final_state_unknown: bool = False

    @property
    def namespace(self) -> str:
        """The namespace in the key; '' for an object that stands in none."""
        return self.key.partition("/")[0] if "/" in self.key else ""

    @property
    def name(self) -> str:
        """The name in the key; whatever follows the first slash belongs to it."""
        return self.key.partition("/")[2] or self.key


def object_key(subject: JSONObject) -> str:
    """`namespace/name`, or `name`; raises InvalidObjectError for what has neither."""
    try:
        metadata = subject["metadata"]
        name = metadata["name"]
        if not isinstance(name, str) or not name:
            raise ValueError("object has no name")
        return objects.key_of(metadata.get("namespace") or "", name)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise InvalidObjectError(subject, error) from error


def split_key(key: str) -> tuple[str, str]:
    """Namespace and name of a key; raises ValueError for more than two parts."""
    parts = key.split("/")
    if len(parts) == 1:
        return "", key
    if len(parts) == 2:
        return parts[0], parts[1]
    raise ValueError(f"unexpected key format: {key!r}")


def resource_version(subject: object) -> str:
    """The resourceVersion of an object; '' for what has no metadata."""
    if isinstance(subject, dict):
        metadata = subject.get("metadata")
        if isinstance(metadata, dict):
            return str(metadata.get("resourceVersion") or "")
    return ""


def is_resync(old: JSONObject, new: JSONObject) -> bool:
    """Whether an update tells nothing new: equal resourceVersions are equal states."""
    version = resource_version(new)
    return bool(version) and resource_version(old) == version


def label_values(label: str) -> Callable[[JSONObject], list[str]]:
    """An index function: the value of a label, for objects that carry it."""

    def values(subject: JSONObject) -> list[str]:
        value = objects.labels_of(subject).get(label)
        return [] if value is None else [value]

    return values
