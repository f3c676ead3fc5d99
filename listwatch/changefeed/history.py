"""Reading the log for the watch cache: what is older than its rings, and what fills them.

Every version that comes out has its `previous` in place, because a selector's verdict on a write
needs both. The results go to a watch that starts below the ring, to lists at an old revision, and
at the start of a server to `Cacher.fill`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from listwatch.changefeed.encoding import version_of
from listwatch.protocol.kinds import GroupResource, Resource
from listwatch.protocol.versions import Change, ChangeType, Version
from listwatch.store import reads
from listwatch.store.readers import Readers
from listwatch.watchcache.history import HistoryLost

Resources = Callable[[GroupResource], Resource | None]


class LogHistory:
    """The log, read in the readers' threads; each call is one short transaction or less."""

    def __init__(self, readers: Readers, resources: Resources) -> None:
        self._readers = readers
        self._resources = resources

    async def changes(
        self, group_resource: GroupResource, after: int, until: int, limit: int
    ) -> list[Version]:
        """The changes with after < revision <= until, oldest first, at most `limit` of them.

        Raises HistoryLost if some of them may be gone.
        """
        try:
            return await self._readers.run(
                self._changes, group_resource, after=after, until=until, limit=limit
            )
        except reads.Compacted as error:
            raise HistoryLost(error.oldest) from error

    async def state_at(
        self,
        group_resource: GroupResource,
        revision: int,
        *,
        prefix: str = "",
        after_key: str = "",
        limit: int = 500,
    ) -> list[Version]:
        """The objects as they stood at a revision, in key order; raises HistoryLost."""
        try:
            rows = await self._readers.run(
                reads.state_at,
                group_resource,
                revision,
                prefix=prefix,
                after_key=after_key,
                limit=limit,
            )
        except reads.Compacted as error:
            raise HistoryLost(error.oldest) from error
        resource = self._resources(group_resource)
        return [version_of(row, resource) for row in rows]

    async def compacted(self) -> int:
        """The revision up to which the log was compacted: it is exact from here on."""
        return (await self._readers.run(reads.head)).compacted

    def _changes(
        self, group_resource: GroupResource, *, after: int, until: int, limit: int
    ) -> list[Version]:
        rows = reads.changes(after, limit, group_resource, until)
        return linked(rows, self._resources)


def linked(rows: Sequence[Change], resources: Resources) -> list[Version]:
    """Versions of these changes, each with its `previous`; reads those the rows do not hold."""
    made: dict[int, Version] = {}
    missing = [
        row.previous_revision
        for row in rows
        if row.previous_revision and row.previous_revision < rows[0].revision
    ]
    for row in reads.at_revisions(missing):
        made[row.revision] = version_of(row, resources(row.group_resource))
    versions: list[Version] = []
    for row in rows:
        version = version_of(row, resources(row.group_resource))
        previous = made.get(row.previous_revision)
        if previous is not None and not previous.deleted:
            version.previous = previous
        made[row.revision] = version
        versions.append(version)
    return versions


@dataclass(slots=True)
class Fill:
    """What one Cacher starts from: its objects at the common revision, and its recent history."""

    objects: dict[str, Version]
    history: list[Version]


@dataclass(frozen=True, slots=True)
class FillAll:
    """What all Cachers start from: exact at `revision`, their rings exact down to `floor`."""

    revision: int
    floor: int
    fills: dict[GroupResource, Fill]


def read_fill(resources: Resources, since: float, byte_cap: int) -> FillAll:
    """Read everything that a start needs, as of one revision; called in a reader's thread.

    `since` (wall time) and `byte_cap` (bytes of bodies) bound the history.
    """
    fills: dict[GroupResource, Fill] = {}
    with reads.snapshot() as head:
        for stored in reads.objects():
            change = Change(
                stored.revision, stored.group_resource, stored.namespace, stored.name, stored.uid,
                ChangeType.MODIFIED, stored.encoded, 0, 0.0,
            )  # fmt: skip
            version = version_of(change, resources(stored.group_resource))
            fills.setdefault(stored.group_resource, Fill({}, [])).objects[version.key] = version
        floor = reads.floor_since(since, byte_cap)
        rows = reads.changes(floor, max(head.current - floor, 0))
        history = linked(rows, resources)
    for row, version in zip(rows, history, strict=True):
        fill = fills.setdefault(row.group_resource, Fill({}, []))
        fill.history.append(version)
        if not version.deleted:
            fill.objects[version.key] = version  # the same one as in the ring
    return FillAll(head.current, floor, fills)
