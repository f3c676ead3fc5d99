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

        Raises store.reads.Compacted if some of them may be gone.
        """
        return await self._readers.run(
            self._changes, group_resource, after=after, until=until, limit=limit
        )

    async def state_at(
        self,
        group_resource: GroupResource,
        revision: int,
        *,
        prefix: str = "",
        after_key: str = "",
        limit: int = 500,
    ) -> list[Version]:
        """The objects as they stood at a revision, in key order; raises store.reads.Compacted."""
        rows = await self._readers.run(
            reads.state_at,
            group_resource,
            revision,
            prefix=prefix,
            after_key=after_key,
            limit=limit,
        )
        resource = self._resources(group_resource)
        return [version_of(row, resource) for row in rows]

    async def compacted(self) -> int:
        """The revision up to which the log was compacted: it is exact from here on."""
        return (await self._readers.run(reads.head)).compacted

    def _changes(
        self, group_resource: GroupResource, *, after: int, until: int, limit: int
    ) -> list[Version]:
        rows = reads.changes(after, limit, group_resource, until)
        versions = linked(rows, self._resources)
        # Only now: what was read before a compaction is whole if none has passed `after` since.
        compacted = reads.head().compacted
        if after < compacted:
            raise reads.Compacted(compacted)
        return versions


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
    versions = []
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
    """Read everything that a start needs; called in a reader's thread.

    No transaction is held open for long: the objects are read row by row while others write, and
    the changes that came meanwhile are replayed over them. Replaying is exact whatever mixture of
    states the reading met, since every object that changed meanwhile has its last change there.
    """
    before = reads.head()
    fills: dict[GroupResource, Fill] = {}
    for stored in reads.objects():
        change = Change(
            stored.revision, stored.group_resource, stored.namespace, stored.name, stored.uid,
            ChangeType.MODIFIED, stored.encoded, 0, 0.0,
        )  # fmt: skip
        fill = fills.setdefault(stored.group_resource, Fill({}, []))
        version = version_of(change, resources(stored.group_resource))
        fill.objects[version.key] = version
    floor = reads.floor_since(since, byte_cap)
    rows = _changes_to_head(floor)
    revision = max(before.current, rows[-1].revision if rows else 0)
    for version, row in zip(linked(rows, resources), rows, strict=True):
        fill = fills.setdefault(row.group_resource, Fill({}, []))
        fill.history.append(version)
        if version.deleted:
            fill.objects.pop(version.key, None)
        else:
            fill.objects[version.key] = version
    return FillAll(revision, floor, fills)


def _changes_to_head(after: int) -> list[Change]:
    rows: list[Change] = []
    while True:
        batch = reads.changes(rows[-1].revision if rows else after, 1000)
        rows.extend(batch)
        if len(batch) < 1000:  # noqa: PLR2004 (a short batch is the last one)
            return rows
