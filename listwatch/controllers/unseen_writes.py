"""What a controller wrote and its caches do not show yet: until they do, it does nothing more.

Upstream counts what it expects to see. Here the server's own order answers: a cache that has
reached the resourceVersion of a write shows that write. Asked by `controller` before every look at
a key, so that nothing is created twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from listwatch.informer import SharedIndexInformer, object_key
from listwatch.protocol.clock import Clock
from listwatch.protocol.objects import JSONObject

PATIENCE = 30.0  # seconds: a cache that lags longer serves another history


@dataclass(slots=True)
class _Waiting:
    since: float
    versions: dict[SharedIndexInformer, int] = field(default_factory=dict)
    deletions: list[tuple[SharedIndexInformer, str, str]] = field(default_factory=list)


class UnseenWrites:
    """By key of the work queue; belongs to one controller. One event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}

    def wrote(self, key: str, informer: SharedIndexInformer, answer: JSONObject) -> None:
        """The server answered a write of an object in this informer's scope with this state."""
        version = _number(answer.get("metadata", {}).get("resourceVersion"))
        if version > _number(informer.indexer.resource_version):
            versions = self._of(key).versions
            versions[informer] = max(version, versions.get(informer, 0))

    def deleted(self, key: str, informer: SharedIndexInformer, subject: JSONObject) -> None:
        """The server took the deletion of this object."""
        entry = (informer, object_key(subject), str(subject["metadata"]["uid"]))
        self._of(key).deletions.append(entry)

    def seen(self, key: str) -> bool:
        """Whether the caches show all that was written for this key."""
        waiting = self._waiting.get(key)
        if waiting is None:
            return True
        if self._clock.monotonic() - waiting.since < PATIENCE and not _is_seen(waiting):
            return False
        del self._waiting[key]
        return True

    def forget(self, key: str) -> None:
        """Nothing is done for this key any more."""
        self._waiting.pop(key, None)

    def __len__(self) -> int:
        return len(self._waiting)

    def _of(self, key: str) -> _Waiting:
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(self._clock.monotonic())
        return waiting


def _is_seen(waiting: _Waiting) -> bool:
    for informer, version in waiting.versions.items():
        if _number(informer.indexer.resource_version) < version:
            return False
    for informer, key, uid in waiting.deletions:
        cached = informer.indexer.get_by_key(key)
        if cached is None or cached["metadata"].get("uid") != uid:
            continue
        if "deletionTimestamp" not in cached["metadata"]:
            return False
    return True


def _number(version: object) -> int:
    text = str(version or "")
    return int(text) if text.isdecimal() else 0
