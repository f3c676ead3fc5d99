"""The table of all resources that are served now; definitions come and go while the server runs.

Asked by `api` for paths and discovery, by the registry for kinds, by `changefeed` for the fields
of what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from listwatch.schemas.kinds import builtin_resources

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupResource, GroupVersionKind, Resource

Subscriber = Callable[["Resource", bool], None]  # the resource, and whether it is served now


class ResourceTable:
    """What is served, by path and by kind.

    Owned by one event loop: subscribers are called inside `add` and `remove`, after the table has
    changed, and must not await. A resource is the same as long as its definition is.
    """

    def __init__(self, resources: Iterable[Resource] | None = None) -> None:
        self._by_path: dict[tuple[str, str, str], Resource] = {}
        self._by_kind: dict[GroupVersionKind, Resource] = {}
        self._stored: dict[GroupResource, Resource] = {}
        self._equivalents: dict[GroupResource, tuple[Resource, ...]] = {}
        self._subscribers: list[Subscriber] = []
        for resource in builtin_resources() if resources is None else resources:
            self._put(resource)

    def find(self, group: str, version: str, resource: str) -> Resource | None:
        """The resource at `/apis/{group}/{version}/{resource}`; the core group is ''."""
        return self._by_path.get((group, version, resource))

    def by_kind(self, gvk: GroupVersionKind) -> Resource | None:
        """The resource whose objects are of this kind."""
        return self._by_kind.get(gvk)

    def knows_kind(self, gvk: GroupVersionKind) -> bool:
        """Whether a kind is served, or is the list of one that is."""
        item = gvk._replace(kind=gvk.kind.removesuffix("List"))
        return gvk in self._by_kind or item in self._by_kind

    def stored(self, group_resource: GroupResource) -> Resource | None:
        """The resource in whose form objects are stored; None if it is not served."""
        return self._stored.get(group_resource)

    def equivalents(self, storage: GroupResource) -> tuple[Resource, ...]:
        """All versions, in all groups, in which the objects of one resource are served."""
        found = self._equivalents.get(storage)
        if found is None:
            found = tuple(one for one in self.served() if one.storage == storage)
            self._equivalents[storage] = found
        return found

    def served(self) -> tuple[Resource, ...]:
        """Every resource, sorted by group, version and name."""
        return tuple(self._by_path[path] for path in sorted(self._by_path))

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The versions of every group, groups and versions sorted; the core group is ''."""
        versions: dict[str, set[str]] = {}
        for group, version, _ in self._by_path:
            versions.setdefault(group, set()).add(version)
        return {group: tuple(sorted(versions[group])) for group in sorted(versions)}

    def of(self, group: str, version: str) -> tuple[Resource, ...]:
        """The resources of one version of one group, sorted by name."""
        return tuple(r for r in self.served() if (r.group, r.version) == (group, version))

    def is_built_in(self, group: str) -> bool:
        """Whether the server's own kinds are of that group, in whatever version."""
        return any(r.group == group and r.custom is None for r in self._by_path.values())

    def add(self, resource: Resource) -> None:
        """Serve a resource, or serve it anew with another definition."""
        old = self._by_path.get((resource.group, resource.version, resource.resource))
        if old == resource:
            return
        if old is not None:
            self._take(old)
        self._put(resource)
        self._tell(resource, served=True)

    def remove(self, resource: Resource) -> None:
        """Serve it no longer; nothing happens if it was not served."""
        if self._by_path.get((resource.group, resource.version, resource.resource)) is None:
            return
        self._take(resource)
        self._tell(resource, served=False)

    def replace(self, storage: GroupResource, resources: Sequence[Resource]) -> None:
        """Serve these as all versions of a custom resource, instead of those before.

        The one whose form is stored comes first; none ends its being served.
        """
        old = [r for r in self._by_path.values() if r.storage == storage]
        for resource in old:
            self._take(resource)
        self._stored.pop(storage, None)
        for resource in resources:
            self._put(resource)
        if resources:
            self._stored[storage] = resources[0]
        paths = {(r.version, r.resource) for r in resources}
        for resource in old:
            if (resource.version, resource.resource) not in paths:
                self._tell(resource, served=False)
        for resource in resources:
            if resource not in old:
                self._tell(resource, served=True)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call this on every change from now on."""
        self._subscribers.append(subscriber)

    def _put(self, resource: Resource) -> None:
        self._equivalents.clear()
        self._by_path[resource.group, resource.version, resource.resource] = resource
        self._by_kind[resource.gvk] = resource
        if resource.storage == resource.group_resource:
            self._stored[resource.storage] = resource

    def _take(self, resource: Resource) -> None:
        self._equivalents.clear()
        old = self._by_path.pop((resource.group, resource.version, resource.resource))
        self._by_kind.pop(old.gvk, None)
        if self._stored.get(old.storage) == old:
            del self._stored[old.storage]
            for other in self._by_path.values():
                if other.storage == other.group_resource == old.storage:
                    self._stored[old.storage] = other

    def _tell(self, resource: Resource, *, served: bool) -> None:
        for subscriber in tuple(self._subscribers):
            subscriber(resource, served)
