"""The definitions in the cache, and the table of resources that is kept by them.

Told of every definition by the pump, before the next change is applied: so every process serves
the same at the same revision, and knows after a restart what it served before. Objects of what is
not defined (any more) stay in the cache as they are, and are nobody's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from listwatch.changefeed.encoding import again
from listwatch.registry.custom_resources.resources_of import DEFINITIONS, defined, resources_of

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupResource, Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version
    from listwatch.registry.resources import ResourceTable
    from listwatch.watchcache.caches import Caches

Listener = Callable[[str], None]  # the name of a definition that has changed


class Definitions:
    """What the definitions serve.

    Promises that a resource is served from the event on that establishes its definition until the
    one that removes it, that objects look as the newest definition has it, and that watches end as
    `definition changed` when they would show anything else. Belongs to the pump's event loop.
    """

    def __init__(self, resources: ResourceTable, caches: Caches) -> None:
        self._resources = resources
        self._caches = caches
        self._served: dict[str, tuple[Resource, ...]] = {}
        self._accepted: dict[str, JSONObject] = {}
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Tell this one the name of every definition that comes, changes or goes."""
        self._listeners.append(listener)

    def names(self) -> tuple[str, ...]:
        """All definitions."""
        return tuple(version.name for version in self._caches.cacher(DEFINITIONS).versions.live())

    def accepted(self, group: str) -> dict[str, JSONObject]:
        """The names that each definition of a group has by now."""
        end = f".{group}"
        return {
            name: names for name, names in self._accepted.items()
            if name.endswith(end) and name.partition(".")[2] == group
        }  # fmt: skip

    def filled(self) -> None:
        """Serve what is defined in caches that were just filled; nobody has seen anything yet."""
        there = {
            version.name: version for version in self._caches.cacher(DEFINITIONS).versions.live()
        }
        for name in self._served.keys() - there.keys():
            self._resources.replace(self._served.pop(name)[0].storage, ())
        self._accepted.clear()
        for name, version in there.items():
            definition = version.decode()
            self._accepted[name] = _accepted(definition)
            resources = self._served[name] = resources_of(definition)
            storage = defined(definition)
            self._resources.replace(storage, resources)
            _mark_terminating(resources, definition["metadata"])
            stored = self._resources.stored(storage)
            for kept in self._caches.cacher(storage).versions.all():
                renewed = again(kept, storage, stored)
                if renewed is not kept:
                    kept.encoded, kept.fields = renewed.encoded, renewed.fields
            self._tell(name)

    def changed(self, version: Version) -> None:
        """A definition was written, or is gone."""
        definition = version.decode()
        resources = () if version.deleted else resources_of(definition)
        before = self._served.pop(version.name, ())
        self._accepted.pop(version.name, None)
        if not version.deleted:
            self._accepted[version.name] = _accepted(definition)
        if not version.deleted:
            self._served[version.name] = resources
        if resources == before:
            resources = before  # the same, and what hangs on them is used already
            if not version.deleted:
                self._served[version.name] = before
        else:
            self._redefine(defined(definition), before, resources)
        _mark_terminating(resources, definition["metadata"])
        self._tell(version.name)

    def _redefine(
        self, storage: GroupResource, before: tuple[Resource, ...], resources: tuple[Resource, ...]
    ) -> None:
        self._resources.replace(storage, resources)
        stored = self._resources.stored(storage)
        self._caches.cacher(storage).redefine(
            lambda version: again(version, storage, stored), anew=not before
        )

    def _tell(self, name: str) -> None:
        for listener in self._listeners:
            listener(name)


def _accepted(definition: JSONObject) -> JSONObject:
    names: JSONObject = (definition.get("status") or {}).get("acceptedNames") or {}
    return names


def _mark_terminating(resources: tuple[Resource, ...], metadata: dict[str, object]) -> None:
    for resource in resources:
        assert resource.custom is not None
        resource.custom.terminating = "deletionTimestamp" in metadata
