"""Which objects have a given label or field value: what makes `spec.nodeName=` lists cheap.

Kept for what is asked, not for what is there. An index of every label and field of 100,000 pods
would take some 80 MB and slow each write down for questions that nobody asks; one that is asked for
is built by the first list that wants it, for about the price of two scans, and kept up from then on
for 0.1 us a write. The few that were asked for last stay. `lists` uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from listwatch.protocol.selectors import Selector, Term
from listwatch.protocol.versions import Version

_KEYS = ("metadata.name", "metadata.namespace")
_KEPT = 8  # indices of one resource, each some 100 bytes an object


def value_of(version: Version, kind: str, key: str) -> str | None:
    """What an equality term compares with: a missing field is '', a missing label None."""
    if kind == "field":
        return version.fields.get(key, "")
    return version.labels.get(key)


def indexable(selector: Selector) -> list[tuple[Term, ...]]:
    """The selector's equality terms without name and namespace, which are part of the key."""
    return [terms for terms in selector.equality_terms() if terms and terms[0].key not in _KEYS]


class ValueIndex:
    """Keys of objects by the value of one label or field; exact for all that `move` was told."""

    __slots__ = ("_indices",)

    def __init__(self) -> None:
        self._indices: dict[tuple[str, str], dict[str, set[str]]] = {}

    def move(self, before: Version | None, after: Version | None) -> None:
        """An object was created, changed or deleted; None: there was, or is, none."""
        for (kind, key), values in self._indices.items():
            old = None if before is None else value_of(before, kind, key)
            new = None if after is None else value_of(after, kind, key)
            if old == new:
                continue
            if old is not None and before is not None:
                _discard(values, old, before.key)
            if new is not None and after is not None:
                values.setdefault(new, set()).add(after.key)

    def candidates(
        self, selector: Selector, live: Callable[[], Iterable[Version]], most: int
    ) -> set[str] | None:
        """Keys among which all objects that match are, at most `most`; a set of the caller's own.

        None if the selector pins no value, or one that is too common to help. `live` gives all
        objects, and is called only if an index has to be built.
        """
        choices = [self._sets(terms, live) for terms in indexable(selector)]
        sizes = [sum(map(len, sets)) for sets in choices]
        if not sizes or min(sizes) > most:
            return None
        return set().union(*choices[sizes.index(min(sizes))])

    def names(self) -> list[str]:
        """Which labels and fields are indexed now, as `field:spec.nodeName`."""
        return [f"{kind}:{key}" for kind, key in self._indices]

    def _sets(
        self, alternatives: tuple[Term, ...], live: Callable[[], Iterable[Version]]
    ) -> list[set[str]]:
        sets = []
        for kind, key, value in alternatives:
            values = self._indices.pop((kind, key), None)
            if values is None:
                values = _built(kind, key, live())
            self._indices[kind, key] = values  # at the end: asked for last
            if value in values:
                sets.append(values[value])
        while len(self._indices) > _KEPT:
            del self._indices[next(iter(self._indices))]
        return sets


def _built(kind: str, key: str, live: Iterable[Version]) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for version in live:
        value = value_of(version, kind, key)
        if value is not None:
            values.setdefault(value, set()).add(version.key)
    return values


def _discard(values: dict[str, set[str]], value: str, key: str) -> None:
    keys = values.get(value)
    if keys is not None:
        keys.discard(key)
        if not keys:
            del values[value]
