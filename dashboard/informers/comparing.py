"""An informer's indexer against the server's cache, key by key: what differs, and for how long.

Both are read in one step of the event loop, so that a difference is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from listwatch.protocol.objects import decode
from listwatch.registry.conversions import served

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version

JSON = dict[str, Any]  # Any: JSON values

COMPARED = 5_000  # keys at most
SHOWN = 100  # rows at most, those that differ first
FIELDS = 8  # differing fields named of one object
_DEPTH = 6


class Comparison(NamedTuple):
    """How the two stand."""

    rows: list[JSON]
    same: int
    behind: int  # other revisions
    missing: int  # not in the informer
    ghosts: int  # in the informer alone
    left_out: int  # keys that were not compared


class Comparer:
    """Remembers since when each key differs."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._since: dict[str, float] = {}

    def compare(
        self, truth: Iterable[Version], cached: Mapping[str, JSONObject], now: float
    ) -> Comparison:
        """One look at both; `now` is wall time."""
        versions = {version.key: version for version in truth}
        keys = sorted(versions.keys() | cached.keys())
        left_out = max(0, len(keys) - COMPARED)
        counts = {"same": 0, "behind": 0, "missing": 0, "ghost": 0}
        differing: list[JSON] = []
        equal: list[JSON] = []
        since: dict[str, float] = {}
        for key in keys[:COMPARED]:
            version, subject = versions.get(key), cached.get(key)
            state = _state(version, subject)
            counts[state] += 1
            if state == "same":
                if len(equal) < SHOWN:
                    equal.append(self._row(key, state, version, subject, None))
                continue
            since[key] = self._since.get(key, now)
            if len(differing) < SHOWN:
                differing.append(self._row(key, state, version, subject, since[key]))
        self._since = since
        return Comparison(
            [*differing, *equal][:SHOWN], counts["same"], counts["behind"], counts["missing"],
            counts["ghost"], left_out,
        )  # fmt: skip

    def _row(
        self,
        key: str,
        state: str,
        version: Version | None,
        subject: JSONObject | None,
        since: float | None,
    ) -> JSON:
        fields: list[str] = []
        if state == "behind" and version is not None and subject is not None:
            fields = differing_fields(
                decode(served(self._resource, version.encoded), version.revision), subject
            )
        return {
            "id": key,
            "key": key,
            "state": state,
            "server": "" if version is None else str(version.revision),
            "informer": "" if subject is None else _revision(subject),
            "fields": ", ".join(fields),
            "since": since,
        }


def differing_fields(one: JSONObject, other: JSONObject) -> list[str]:
    """Paths at which two objects differ, the deepest that can be named, FIELDS at most."""
    found: list[str] = []
    _walk(one, other, "", found, 0)
    return [*found[:FIELDS], "..."] if len(found) > FIELDS else found


def _walk(one: Any, other: Any, path: str, found: list[str], depth: int) -> None:  # Any: JSON
    if one == other or len(found) > FIELDS:
        return
    if isinstance(one, dict) and isinstance(other, dict) and depth < _DEPTH:
        for name in sorted(one.keys() | other.keys()):
            # These change with every write, and say nothing here.
            if name not in ("managedFields", "resourceVersion"):
                inner = f"{path}.{name}" if path else name
                _walk(one.get(name), other.get(name), inner, found, depth + 1)
        return
    found.append(path)


def _state(version: Version | None, subject: JSONObject | None) -> str:
    if version is None:
        return "ghost"
    if subject is None:
        return "missing"
    return "same" if _revision(subject) == str(version.revision) else "behind"


def _revision(subject: JSONObject) -> str:
    return str(subject["metadata"].get("resourceVersion", ""))
