"""Reads of a cache, as controllers want them: by name, by namespace, by labels, by index.

A view of an `indexer`; made by `shared_informer`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable

from listwatch.informer.errors import NotFoundError
from listwatch.informer.indexer import Indexer
from listwatch.informer.indices import NAMESPACE
from listwatch.informer.objects import JSONObject, JSONObjects
from listwatch.informer.resources import APIResource
from listwatch.protocol.label_selectors import EVERYTHING, LabelSelector
from listwatch.protocol.objects import key_of, labels_of

_Read = Callable[[], Iterable[JSONObject]]
Selects = LabelSelector | str | None


class Lister:
    """Reads without a request. Objects are the cache's own unless `copies` is set.

    `selector` is a LabelSelector or its text; None selects nothing (`LabelSelector.of(None)`).
    """

    def __init__(
        self, indexer: Indexer, resource: APIResource | None = None, *, copies: bool = False
    ) -> None:
        self._indexer = indexer
        self._resource = resource
        self._copies = copies

    def list(self, selector: Selects = EVERYTHING) -> JSONObjects:
        """All objects that the selector wants."""
        return self._selected(self._indexer.list, selector)

    def namespaced(self, namespace: str) -> NamespaceLister:
        """The same for one namespace; '' means all."""
        return NamespaceLister(self, namespace)

    def in_namespace(self, namespace: str, selector: Selects = EVERYTHING) -> JSONObjects:
        """The objects of a namespace that the selector wants; '' means all namespaces."""
        if not namespace:
            return self.list(selector)
        if NAMESPACE in self._indexer.indexers:
            return self._selected(lambda: self._indexer.by_index(NAMESPACE, namespace), selector)
        return self._selected(lambda: self._scan(namespace), selector)

    def by_index(self, name: str, value: str) -> JSONObjects:
        """The objects with this value in an index; raises UnknownIndexError."""
        return [self._given(subject) for subject in self._indexer.by_index(name, value)]

    def get(self, name: str, namespace: str = "") -> JSONObject:
        """The object; raises NotFoundError as the server would."""
        found = self.get_or_none(key_of(namespace, name))
        if found is None:
            what = str(self._resource or "objects")
            details = {"name": name, "kind": self._resource.resource if self._resource else ""}
            message = f'{what} "{name}" not found'
            raise NotFoundError(404, "NotFound", message, details=details)
        return found

    def get_or_none(self, key: str) -> JSONObject | None:
        """The object under a key."""
        found = self._indexer.get_by_key(key)
        return None if found is None else self._given(found)

    def _scan(self, namespace: str) -> JSONObjects:
        return [
            subject
            for subject in self._indexer.list()
            if subject["metadata"].get("namespace") == namespace
        ]

    def _selected(self, read: _Read, selector: Selects) -> JSONObjects:
        if selector is None:
            return []
        if isinstance(selector, str):
            selector = LabelSelector.parse(selector)
        found: Iterable[JSONObject] = read()
        if not selector.empty:
            found = (subject for subject in found if selector.matches(labels_of(subject)))
        return [self._given(subject) for subject in found]

    def _given(self, subject: JSONObject) -> JSONObject:
        return copy.deepcopy(subject) if self._copies else subject


class NamespaceLister:
    """A Lister of one namespace."""

    def __init__(self, lister: Lister, namespace: str) -> None:
        self._lister = lister
        self.namespace = namespace

    def list(self, selector: Selects = EVERYTHING) -> JSONObjects:
        """The objects of the namespace that the selector wants."""
        return self._lister.in_namespace(self.namespace, selector)

    def get(self, name: str) -> JSONObject:
        """The object; raises NotFoundError."""
        return self._lister.get(name, self.namespace)

    def get_or_none(self, name: str) -> JSONObject | None:
        """The object."""
        return self._lister.get_or_none(key_of(self.namespace, name))
