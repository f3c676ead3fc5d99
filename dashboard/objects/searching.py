"""Search across all kinds, by name, namespace and label, in the caches.

The text is words, each of which must match: part of a name, `ns:` part of a namespace, `kind:` part
of a kind, `app=web` and every other label selector, also as `-l app=web`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dashboard.objects.catalogue import browsable, object_url
from dashboard.objects.tables import moment
from listwatch.protocol.objects import decode
from listwatch.protocol.selectors import LabelSelector
from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.versions import Version

JSON = dict[str, Any]  # Any: JSON values

FOUND = 200  # shown at most
AT_ONCE = 2000  # objects looked at in one turn of the loop


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; words are lower case."""

    names: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    labels: LabelSelector = field(default_factory=LabelSelector)

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read the text of the field; raises 400 for a selector that is none."""
        names, namespaces, kinds, labels = [], [], [], []
        for word in text.split():
            name, colon, rest = word.partition(":")
            if word == "-l":
                continue
            if colon and name == "ns":
                namespaces.append(rest.lower())
            elif colon and name == "kind":
                kinds.append(rest.lower())
            elif "=" in word or word.startswith("!"):
                labels.append(word)
            else:
                names.append(word.lower())
        return cls(
            tuple(names), tuple(namespaces), tuple(kinds), LabelSelector.parse(",".join(labels))
        )

    @property
    def empty(self) -> bool:
        """Whether it would find everything."""
        return not (self.names or self.namespaces or self.kinds or self.labels.requirements)

    def wants(self, resource: Resource) -> bool:
        """Whether objects of this kind can be meant."""
        words = (resource.kind.lower(), str(resource.group_resource), *resource.short_names)
        return all(any(kind in word for word in words) for kind in self.kinds)

    def matches(self, version: Version) -> bool:
        """Whether this object is meant."""
        return (
            all(word in version.name for word in self.names)
            and all(word in version.namespace for word in self.namespaces)
            and self.labels.matches(version.labels)
        )


async def search(asker: Asker, text: str) -> JSON:
    """What the text finds, the best first; `more` says that there are others."""
    query = Query.parse(text)
    found: list[tuple[tuple[Any, ...], Resource, Version]] = []  # Any: an order
    total = looked = 0
    if not query.empty:
        for resource in browsable(asker.runtime.resources.served()):
            if resource.storage != resource.group_resource or not query.wants(resource):
                continue  # a second name of objects that are found under the first
            for version in _visible(asker, resource):
                looked += 1
                if looked % AT_ONCE == 0:
                    await asyncio.sleep(0)
                if query.matches(version):
                    total += 1
                    found.append((_rank(query, resource, version), resource, version))
                    if len(found) > 8 * FOUND:
                        found = sorted(found, key=lambda each: each[0])[:FOUND]
    found.sort(key=lambda each: each[0])
    rows = [_row(resource, version) for _, resource, version in found[:FOUND]]
    return {"rows": rows, "total": total, "looked": looked}


def _visible(asker: Asker, resource: Resource) -> Iterator[Version]:
    """The objects of a kind that the user may list."""
    cacher = asker.runtime.caches.cacher(resource.storage)
    for namespace in asker.places("list", resource):
        yield from cacher.list(ListRequest(namespace=namespace)).versions


def _rank(query: Query, resource: Resource, version: Version) -> tuple[Any, ...]:
    """Exact names first, then those that begin with what was typed, then by name.

    Events are named after what they are about: they stand behind all else (Any: an order).
    """
    exact = any(word == version.name for word in query.names)
    starts = any(version.name.startswith(word) for word in query.names)
    return (not exact, resource.kind == "Event", not starts, version.name, version.namespace)


def _row(resource: Resource, version: Version) -> JSON:
    metadata = decode(version.encoded, version.revision)["metadata"]
    return {
        "id": f"{resource.group_resource}/{version.key}",
        "kind": resource.kind,
        "resource": str(resource.group_resource),
        "namespace": version.namespace,
        "name": version.name,
        "labels": labels_text(version.labels.items()),
        "created": moment(metadata.get("creationTimestamp")),
        "revision": str(version.revision),
        "url": object_url(resource, version.namespace, version.name),
    }


def labels_text(labels: Iterable[tuple[str, str]]) -> str:
    """Labels as kubectl writes them."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels))
