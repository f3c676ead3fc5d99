"""What selectors can be completed with: labels and fields of the objects in a cache.

Asked for by the attach form; whoever may not watch the resource is told nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from listwatch.watchcache.requests import ListRequest

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.runtime import Runtime

JSON = dict[str, Any]  # Any: JSON values

OBJECTS = 5_000  # looked at, at most
KEYS = 60  # label keys told at most
VALUES = 40  # values of each
AT_ONCE = 500  # objects looked at in one turn of the loop


async def vocabulary(runtime: Runtime, resource: Resource, namespace: str) -> JSON:
    """Keys and values, each sorted; `partial` if there were too many to look at or to tell."""
    cacher = runtime.caches.cacher(resource.storage)
    versions = cacher.list(ListRequest(namespace=namespace)).versions
    labels: dict[str, set[str]] = {}
    names = ["metadata.name", *(["metadata.namespace"] if resource.namespaced else [])]
    fields: dict[str, set[str]] = {name: set() for name in (*names, *resource.selectable_fields)}
    partial = len(versions) > OBJECTS
    for number, version in enumerate(versions[:OBJECTS], start=1):
        for key, value in version.labels.items():
            if key in labels or len(labels) < KEYS:
                partial |= _add(labels.setdefault(key, set()), value)
            else:
                partial = True
        for name, values in fields.items():
            value = version.fields.get(name, "")
            if value:
                partial |= _add(values, value)
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    return {
        "labels": {key: sorted(values) for key, values in sorted(labels.items())},
        "fields": {name: sorted(values) for name, values in fields.items()},
        "partial": partial,
    }


def _add(values: set[str], value: str) -> bool:
    if value in values:
        return False
    if len(values) >= VALUES:
        return True
    values.add(value)
    return False
