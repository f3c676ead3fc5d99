"""One version of one object, and the change that made it.

`store` makes Changes, `changefeed.encoding` makes Versions of them, `watchcache` keeps those.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import Encoded, JSONObject, decode


class ChangeType(StrEnum):
    """What a write did to its object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Change(NamedTuple):
    """One row of the log: `revision` is its number and the object's resourceVersion.

    `encoded` is the new state; of a deletion, the last state the object had. `previous_revision`
    is the object's revision before this change, 0 if there was none. `committed_at` is wall time.
    """

    revision: int
    group_resource: GroupResource
    namespace: str
    name: str
    uid: str
    type: ChangeType
    encoded: Encoded
    previous_revision: int
    committed_at: float


class Version:
    """One version of one object as the watch cache keeps it: immutable but for `previous`.

    `labels` and `fields` are what selectors look at, taken from the object once; a field that the
    object lacks stands in `fields` as ''. `deleted` marks a tombstone, whose `encoded` is the last
    state. `previous` is the version before, while the ring still needs it.
    `stored` is what the log holds: the same as `encoded`, unless the object's definition has come
    to say more since. `cached` holds encodings that were made of it, by representation.
    """

    __slots__ = (
        "cached", "committed_at", "deleted", "encoded", "fields", "key", "labels", "name",
        "namespace", "previous", "received_at", "revision", "stored", "uid",
    )  # fmt: skip

    def __init__(
        self,
        *,
        namespace: str,
        name: str,
        uid: str,
        revision: int,
        encoded: Encoded,
        labels: Mapping[str, str],
        fields: Mapping[str, str],
        deleted: bool = False,
        committed_at: float = 0.0,
        stored: Encoded | None = None,
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.key = f"{namespace}/{name}" if namespace else name
        self.uid = uid
        self.revision = revision
        self.encoded = encoded
        self.stored = encoded if stored is None else stored
        self.labels = labels
        self.fields = fields
        self.deleted = deleted
        self.committed_at = committed_at
        self.received_at = 0.0
        self.previous: Version | None = None
        self.cached: dict[str, bytes] | None = None

    def decode(self, revision: int | None = None) -> JSONObject:
        """The object as a new dict, its resourceVersion this version's or the one given."""
        return decode(self.encoded, self.revision if revision is None else revision)

    def __repr__(self) -> str:
        return f"<Version {self.key}@{self.revision}{' deleted' if self.deleted else ''}>"
