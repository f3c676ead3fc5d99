"""Index tables: which keys have which values under which function.

Kept beside each object's key, so that neither an impure function nor a changed object can leave an
entry behind. Owned by `indexer`, which holds the lock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from listwatch.informer.objects import JSONObject

logger = logging.getLogger(__name__)

IndexFunction = Callable[[JSONObject], Iterable[str]]
NAMESPACE = "namespace"


def by_namespace(subject: JSONObject) -> list[str]:
    """The index function of the index `namespace`."""
    return [str(subject["metadata"].get("namespace") or "")]


class UnknownIndexError(LookupError):
    """An index that nobody added."""


class Indices:
    """The tables. Not thread safe by itself.

    A function that raises gives no values for that object; the fault is logged and counted.
    """

    def __init__(self) -> None:
        self._functions: dict[str, IndexFunction] = {}
        self._keys: dict[str, dict[str, set[str]]] = {}  # index, value, keys
        self._values: dict[str, dict[str, frozenset[str]]] = {}  # index, key, values
        self.faults = 0

    @property
    def functions(self) -> Mapping[str, IndexFunction]:
        """The index functions by their names."""
        return self._functions

    def add_functions(
        self, functions: Mapping[str, IndexFunction], stored: Mapping[str, JSONObject]
    ) -> None:
        """Add indexes and fill them; raises ValueError for a name that is taken."""
        taken = sorted(set(functions) & set(self._functions))
        if taken:
            raise ValueError(f"indexer conflict: {', '.join(taken)}")
        for name, function in functions.items():
            self._functions[name] = function
            self._keys[name] = {}
            self._values[name] = {}
            for key, subject in stored.items():
                self._set(name, key, self._compute(name, subject))

    def put(self, key: str, subject: JSONObject) -> None:
        """The object under this key is now this one."""
        for name in self._functions:
            self._set(name, key, self._compute(name, subject))

    def remove(self, key: str) -> None:
        """There is no object under this key."""
        for name in self._functions:
            self._set(name, key, frozenset())

    def clear(self) -> None:
        """There are no objects."""
        for name in self._functions:
            self._keys[name] = {}
            self._values[name] = {}

    def keys(self, name: str, value: str) -> set[str]:
        """The keys under a value, not to be changed; raises UnknownIndexError."""
        return self._table(name).get(value, _NONE)

    def keys_like(self, name: str, subject: JSONObject) -> set[str]:
        """The keys that share a value with this object; raises UnknownIndexError."""
        table = self._table(name)
        found: set[str] = set()
        for value in self._compute(name, subject):
            found |= table.get(value, _NONE)
        return found

    def values(self, name: str) -> list[str]:
        """The values that an index has now; none for an index nobody added."""
        return list(self._keys.get(name, ()))

    def sizes(self) -> dict[str, int]:
        """How many values each index has now."""
        return {name: len(table) for name, table in self._keys.items()}

    def _table(self, name: str) -> dict[str, set[str]]:
        try:
            return self._keys[name]
        except KeyError:
            raise UnknownIndexError(f"Index with name {name} does not exist") from None

    def _compute(self, name: str, subject: JSONObject) -> frozenset[str]:
        try:
            return frozenset(self._functions[name](subject))
        except Exception:
            self.faults += 1
            logger.exception("Index function %r failed; the object has no values there", name)
            return frozenset()

    def _set(self, name: str, key: str, values: frozenset[str]) -> None:
        table, by_key = self._keys[name], self._values[name]
        old = by_key.get(key, frozenset())
        if old == values:
            return
        for value in old - values:
            keys = table[value]
            keys.discard(key)
            if not keys:
                del table[value]  # or the values of the past stay for ever
        for value in values - old:
            table.setdefault(value, set()).add(key)
        if values:
            by_key[key] = values
        else:
            by_key.pop(key, None)


_NONE: set[str] = set()
