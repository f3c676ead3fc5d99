"""From an event to the lanes that may want it, without asking all the others.

An inverted index. A lane stands under its namespace and name and, within these, under the values
of one label or field that its selector requires; without one it is always asked. `lanes` evaluates
the selectors of what comes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from listwatch.protocol.selectors import Term
from listwatch.protocol.versions import Version
from listwatch.watchcache.lane import Lane
from listwatch.watchcache.value_index import indexable

_Lanes = dict[Lane, None]  # in the order they came; looked up, put in and taken out in one step
_Values = dict[str, dict[str, _Lanes]]  # by key, then by value


class _Place(NamedTuple):
    # Where a lane stands: in which bucket, and under which terms (none: always asked).
    scope: tuple[str, str]
    terms: tuple[Term, ...]


class _Bucket:
    # The lanes of one namespace and name.
    __slots__ = ("always", "fields", "labels", "lanes")

    def __init__(self) -> None:
        self.lanes = 0
        self.always: _Lanes = {}
        self.labels: _Values = {}
        self.fields: _Values = {}

    def values(self, kind: str) -> _Values:
        return self.fields if kind == "field" else self.labels


class LaneIndex:
    """Promises to find every lane whose selector matches an event's version or the one before."""

    def __init__(self) -> None:
        self._buckets: dict[tuple[str, str], _Bucket] = {}
        self._places: dict[Lane, _Place] = {}

    def __len__(self) -> int:
        return len(self._places)

    def add(self, lane: Lane) -> None:
        """A lane has opened."""
        scope = lane.namespace, lane.name
        bucket = self._buckets.setdefault(scope, _Bucket())
        bucket.lanes += 1
        choices = indexable(lane.selector)
        # Of several required values the least crowded one spares the most questions.
        terms = min(choices, key=lambda terms: (_crowd(bucket, terms), len(terms)), default=())
        for kind, key, value in terms:
            by_value = bucket.values(kind).setdefault(key, {})
            by_value.setdefault(value, {})[lane] = None
        if not terms:
            bucket.always[lane] = None
        self._places[lane] = _Place(scope, terms)

    def remove(self, lane: Lane) -> None:
        """A lane has closed."""
        scope, terms = self._places.pop(lane)
        bucket = self._buckets[scope]
        bucket.lanes -= 1
        for kind, key, value in terms:
            by_key = bucket.values(kind)
            del by_key[key][value][lane]
            if not by_key[key][value]:
                del by_key[key][value]
                if not by_key[key]:
                    del by_key[key]
        if not terms:
            del bucket.always[lane]
        if not bucket.lanes:
            del self._buckets[scope]

    def find(self, event: Version) -> list[Lane]:
        """The lanes that may want an event, each once; it looks at `previous`, too."""
        found: list[Lane] = []
        buckets = self._buckets
        if not buckets:
            return found
        after, before = _present(event), _present(event.previous)
        namespace, name = event.namespace, event.name
        scopes = [("", ""), ("", name)]
        if namespace:
            scopes += [(namespace, ""), (namespace, name)]
        for scope in scopes:
            bucket = buckets.get(scope)
            if bucket is not None:
                found += bucket.always
                if bucket.labels:
                    _find_labels(found, bucket.labels, after, before)
                for key, by_value in bucket.fields.items():
                    # A field that is not there is '': `spec.nodeName=` wants pods without a node.
                    new = None if after is None else after.fields.get(key, "")
                    old = None if before is None else before.fields.get(key, "")
                    _find(found, by_value, new, old)
        return found


_NO_LABELS: Mapping[str, str] = {}


def _present(version: Version | None) -> Version | None:
    # A tombstone matches nothing.
    return None if version is None or version.deleted else version


def _find_labels(
    found: list[Lane], indexed: _Values, after: Version | None, before: Version | None
) -> None:
    new = _NO_LABELS if after is None else after.labels
    old = _NO_LABELS if before is None else before.labels
    keys = indexed if len(indexed) <= len(new) + len(old) else {**new, **old}
    for key in keys:
        by_value = indexed.get(key)
        if by_value is not None:
            _find(found, by_value, new.get(key), old.get(key))


def _find(
    found: list[Lane], by_value: dict[str, _Lanes], after: str | None, before: str | None
) -> None:
    entering = by_value.get(after) if after is not None else None
    if entering:
        found += entering
    if before is None or before == after:
        return
    leaving = by_value.get(before)
    if leaving:
        # A selector with `in` may stand under both values, and is asked once.
        found += [lane for lane in leaving if lane not in entering] if entering else leaving


def _crowd(bucket: _Bucket, terms: tuple[Term, ...]) -> int:
    lanes = 0
    for kind, key, value in terms:
        lanes += len(bucket.values(kind).get(key, {}).get(value, ()))
    return lanes
