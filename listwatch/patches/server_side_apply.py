"""Who owns which fields: what writes do to it, and what applying a configuration does.

Upstream: structured-merge-diff/merge/update.go and apimachinery/pkg/util/managedfields.
An ordinary write takes the fields that it touches from everybody. Applying merges a configuration,
takes out what its manager had applied before and names no more, and is refused where it changes
what others own, unless it is forced. `registry.field_managers` calls this for every write; what it
returns is stored with the object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from listwatch.patches.faults import refuses_deep_nesting
from listwatch.patches.field_sets import checking, elements
from listwatch.patches.field_sets.comparing import Comparison
from listwatch.patches.field_sets.merging import merge
from listwatch.patches.field_sets.reading import fields_of, with_named_fields
from listwatch.patches.field_sets.removing import remove
from listwatch.patches.field_sets.sets import (
    FieldSet,
    covers,
    difference,
    intersection,
    paths,
    union,
)
from listwatch.patches.managed_fields import APPLY, Entry, Manager, Managers
from listwatch.protocol.errors import Cause, StatusError
from listwatch.protocol.names import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.patches.field_sets.field_type import FieldType
    from listwatch.protocol.objects import JSONObject

# What the server says of an object is owned by nobody; nor is its metadata as such.
_UNOWNED: FieldSet = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        ".": {},
        **{
            f"f:{name}": {}
            for name in (
                "clusterName", "creationTimestamp", "generation", "managedFields", "name",
                "namespace", "resourceVersion", "selfLink", "uid",
            )
        },
    },
}  # fmt: skip


class Versions(Protocol):
    """What is asked of an object's other versions, in whose terms managers may have their sets."""

    def compare(self, api_version: str) -> Comparison | None:
        """What the write changes, in that version; None if there is no such version."""


class Change(NamedTuple):
    """A write: by whom, in which version, when, and what it changes.

    `relevant` takes from a set of fields what a write at this address can touch at all.
    """

    manager: Manager
    api_version: str
    time: str
    relevant: Callable[[FieldSet], FieldSet]
    versions: Versions


class Conflict(NamedTuple):
    """A field that an apply would change, and one who owns it."""

    manager: Manager
    path: tuple[str, ...]


class ConflictsError(StatusError):
    """409: applying would change what others own."""

    def __init__(self, conflicts: list[Conflict]) -> None:
        self.conflicts = conflicts
        causes = tuple(
            Cause(
                "FieldManagerConflict", f"conflict with {_named(each.manager)}",
                elements.shown(each.path),
            )
            for each in conflicts
        )  # fmt: skip
        super().__init__(409, "Conflict", _summary(conflicts), causes=causes)


def updated(managers: Managers, change: Change) -> Managers:
    """Who owns what after an ordinary write; the same value if the write touches nothing."""
    comparison = _comparison(change, change.api_version)
    if comparison is None or comparison.same:
        return managers
    changed = union(comparison.modified, comparison.added)
    result, _ = _released(managers, change, (changed, comparison.removed), change.manager)
    own = result.pop(change.manager, None)
    taken = difference(changed, _UNOWNED)
    fields = difference(own.fields, comparison.removed) if own else {}
    if not covers(fields, taken):
        fields = elements.arranged(union(fields, taken))
    if fields:
        time = change.time if own is None or taken else own.time
        result[change.manager] = Entry(change.api_version, fields, time)
    return result


@refuses_deep_nesting
def merged(
    ftype: FieldType, live: JSONObject, config: JSONObject, managers: Managers, change: Change
) -> tuple[JSONObject, Managers]:
    """The live object with a configuration applied, and the managers as the applier claims it.

    What the applier had applied before is gone, unless somebody else owns it, too. Parts of the
    arguments stand in the result. Raises UnkeyedError.
    """
    document: JSONObject = merge(ftype, live, config)
    last = managers.get(change.manager)
    named = change.relevant(fields_of(ftype, config))
    if last is not None and last.fields:
        owned = named
        for key, entry in managers.items():
            # Of versions that name a field differently nothing is known here: as if not owned.
            owned = owned if key == change.manager else union(owned, entry.fields)
        document = _pruned(ftype, document, owned, last.fields)
    fields = elements.arranged(difference(named, _UNOWNED))
    time = change.time if last is None or last.fields != fields else last.time
    return document, {**managers, change.manager: Entry(change.api_version, fields, time)}


def settled(managers: Managers, change: Change, *, force: bool) -> Managers:
    """Who owns what after an apply that `merged` prepared; raises ConflictsError."""
    comparison = _comparison(change, change.api_version)
    if comparison is None or comparison.same:
        return {key: entry for key, entry in managers.items() if entry.fields}
    parts = union(comparison.modified, comparison.added), comparison.removed
    result, conflicts = _released(managers, change, parts, change.manager)
    if conflicts and not force:
        raise ConflictsError(conflicts)
    own = result.get(change.manager)
    if own is not None:
        result[change.manager] = own._replace(time=change.time)
    return result


def refusal(ftype: FieldType, config: JSONObject) -> str:
    """What is wrong with a configuration as one of its kind, '' for nothing."""
    return refuses_deep_nesting(checking.faults)(ftype, config)


def _comparison(change: Change, api_version: str) -> Comparison | None:
    found = change.versions.compare(api_version)
    return None if found is None else Comparison(*map(change.relevant, found))


def _released(
    managers: Managers,
    change: Change,
    parts: tuple[FieldSet, FieldSet],
    but: Manager,
) -> tuple[Managers, list[Conflict]]:
    """The managers without what a write takes from them, and what that is.

    `parts` is what the write sets and what it removes, in its own version. Nothing is taken from
    whoever writes.
    """
    result: Managers = {}
    conflicts: list[Conflict] = []
    touched: dict[str, tuple[FieldSet, FieldSet] | None] = {change.api_version: parts}
    for key, entry in managers.items():
        if key == but:
            if entry.fields:
                result[key] = entry
            continue
        version = entry.api_version
        if version not in touched:
            found = _comparison(change, version)
            touched[version] = found and (union(found.modified, found.added), found.removed)
        theirs = touched[version]
        if theirs is None:
            continue  # nobody can tell what was meant in a version that is no more
        taken = intersection(entry.fields, theirs[0])
        conflicts += [Conflict(key, path) for path in paths(taken)]
        left = difference(difference(entry.fields, taken), theirs[1])
        if left:
            result[key] = entry._replace(fields=left)
    return result, conflicts


def _pruned(ftype: FieldType, document: JSONObject, owned: FieldSet, last: FieldSet) -> JSONObject:
    # Removing an element or a map removes what others have in it: so first see what is gone, then
    # leave in what somebody owns, and what was not the applier's to remove.
    everything = with_named_fields(ftype, fields_of(ftype, document))
    mine = with_named_fields(ftype, last)

    def gone(pruned: JSONObject) -> FieldSet:
        kept = with_named_fields(ftype, fields_of(ftype, pruned))
        return difference(everything, kept)

    once = remove(ftype, document, mine)
    twice = remove(ftype, document, difference(gone(once), with_named_fields(ftype, owned)))
    pruned: JSONObject = remove(ftype, document, intersection(gone(twice), mine))
    return pruned


def _named(key: Manager) -> str:
    text = quoted(key.name)
    if key.subresource:
        text += f" with subresource {quoted(key.subresource)}"
    return f"{text} using {key.api_version}" if key.operation != APPLY else text


def _summary(conflicts: list[Conflict]) -> str:
    if len(conflicts) == 1:
        only = conflicts[0]
        where = elements.shown(only.path)
        return f"Apply failed with 1 conflict: conflict with {_named(only.manager)}: {where}"
    by_manager: dict[Manager, list[str]] = {}
    for each in sorted(conflicts, key=lambda each: each.manager):
        by_manager.setdefault(each.manager, []).append(elements.shown(each.path))
    lines = []
    for key, fields in by_manager.items():
        lines += [f"conflicts with {_named(key)}:", *(f"- {field}" for field in fields)]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
