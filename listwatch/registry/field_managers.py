"""Who set which fields of an object: noted with every write, as upstream's field managers do.

The verbs call this when a document is defaulted and before the strategy touches it, so that what
the server adds by itself is owned by nobody. What comes out is stored in the object's metadata;
`apply` comes here to learn what a configuration may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.patches import managed_fields, server_side_apply
from listwatch.patches.field_sets.comparing import Comparison, compare
from listwatch.patches.field_sets.elements import UnkeyedError
from listwatch.patches.field_sets.reconciling import reconciled
from listwatch.protocol.errors import Cause, invalid
from listwatch.protocol.kinds import split_api_version
from listwatch.protocol.options import FIELD_MANAGER_LENGTH
from listwatch.registry.context import SYSTEM
from listwatch.registry.conversions import converts, to_served
from listwatch.registry.field_resets import relevant
from listwatch.schemas.field_types import (
    FieldType,
    field_type,
    structural_type,
    zero_document,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.patches.field_sets.sets import FieldSet
    from listwatch.patches.managed_fields import Managers
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import RequestContext
    from listwatch.registry.resources import ResourceTable

Entries = list["JSONObject"]


class _Rules:
    """What tracking must know of a resource, found once: most writes are of few resources."""

    __slots__ = ("api_version", "converts", "ftype", "relevant", "resource", "zero")

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.api_version = resource.api_version
        self.converts = converts(resource)
        self.ftype = field_type(resource.gvk)
        if resource.custom is not None:
            self.ftype = structural_type(resource.custom.schema)
        self.zero = zero_document(resource.gvk)
        self.relevant: dict[str, Callable[[FieldSet], FieldSet]] = {}


_RULES: dict[int, _Rules] = {}
_MOST_RULES = 5_000  # of definitions that come and go


def _rules(resource: Resource) -> _Rules:
    # By identity: a Resource is large to hash, and is made anew when its definition changes.
    found = _RULES.get(id(resource))
    if found is None or found.resource is not resource:
        if len(_RULES) >= _MOST_RULES:
            _RULES.clear()
        found = _RULES[id(resource)] = _Rules(resource)
    return found


def type_of(resource: Resource) -> FieldType:
    """The type of a resource's objects: what is a leaf in them, and how lists are keyed."""
    return _rules(resource).ftype


class StoredVersions:
    """An object before and after a write, in the form that is kept, compared in any version.

    `old` None is an object that nobody has set anything of.
    """

    def __init__(
        self,
        resource: Resource,
        resources: ResourceTable,
        old: JSONObject | None,
        new: JSONObject,
    ) -> None:
        self._resource = resource
        self._resources = resources
        self._old = old
        self._new = new

    def compare(self, api_version: str) -> Comparison | None:
        """What the write changes, in that version; None if there is no such version."""
        rules = _rules(self._resource)
        if api_version != rules.api_version:
            resource = self._served_at(api_version)
            if resource is None:
                return None
            rules = _rules(resource)
        old, new = self._old, self._new
        if rules.converts:
            new = to_served(rules.resource, new)
            old = None if old is None else to_served(rules.resource, old)
        return compare(rules.ftype, rules.zero if old is None else old, new)

    def _served_at(self, api_version: str) -> Resource | None:
        group, version = split_api_version(api_version)
        found = self._resources.find(group, version, self._resource.resource)
        return found if found is not None and found.storage == self._resource.storage else None


def load(resource: Resource, entries: Entries) -> Managers:
    """The managers of a stored object, in terms of the schema that its kind has now."""
    managers = managed_fields.load(entries)
    ftype = _rules(resource).ftype
    if not ftype.loose or ftype.form == "deduced":
        return managers
    return {
        key: entry._replace(fields=reconciled(ftype, entry.fields))
        for key, entry in managers.items()
    }


def track_create(
    ctx: RequestContext, resources: ResourceTable, document: JSONObject, now: str
) -> None:
    """Note who made an object, in its metadata; what a client says of it himself counts as well."""
    if ctx.applied:
        return
    metadata = document["metadata"]
    managers = _sent(ctx, metadata.pop("managedFields", None)) or {}
    _put(metadata, _updated(ctx, resources, managers, (None, document), now))


def track_update(
    ctx: RequestContext, resources: ResourceTable, document: JSONObject, old: JSONObject, now: str
) -> None:
    """Note who changed an object, in its metadata. An object that is not tracked stays so.

    At `scale` that is noted before.
    """
    if ctx.applied or ctx.subresource == "scale":
        return
    metadata, before = document["metadata"], old["metadata"]
    sent, kept = metadata.pop("managedFields", None), before.pop("managedFields", None)
    entries = kept
    try:
        managers = None
        if sent is not None and sent != kept and not ctx.subresource:
            managers = {} if managed_fields.is_reset(sent) else _sent(ctx, sent) or None
        if managers is None and kept:
            loaded = load(ctx.resource, kept)
            after = _updated(ctx, resources, loaded, (old, document), now)
            entries = kept if after is loaded else managed_fields.dump(after)
        elif managers is not None:
            after = _updated(ctx, resources, managers, (old, document), now) if managers else {}
            entries = managed_fields.dump(after)
    finally:
        if kept is not None:
            before["managedFields"] = kept
    if entries:
        metadata["managedFields"] = entries


def guard(ctx: RequestContext, document: JSONObject, tracked: Entries | None) -> None:
    """Put back what admission made of the managers, if that cannot be understood."""
    metadata = document["metadata"]
    entries = metadata.get("managedFields")
    if entries == tracked:
        return
    try:
        managed_fields.read(entries or [])
    except (ValueError, TypeError) as error:
        warning = (
            ".metadata.managedFields was in an invalid state after admission; this could be caused "
            "by an outdated mutating admission controller; please fix your requests: "
            f"{error}"
        )
        if warning not in ctx.warnings:
            ctx.warnings.append(warning)
        metadata.pop("managedFields", None)
        if tracked:
            metadata["managedFields"] = tracked


def change_of(
    ctx: RequestContext, versions: server_side_apply.Versions, kind: tuple[str, str], now: str
) -> server_side_apply.Change:
    """The write that a request is; `kind` is its operation and the version that it is made in."""
    operation, api_version = kind
    known, subresource = _rules(ctx.resource).relevant, ctx.subresource
    if subresource not in known:
        known[subresource] = relevant(ctx.resource, subresource)
    return server_side_apply.Change(
        managed_fields.manager(manager_name(ctx), operation, api_version, subresource),
        api_version,
        now,
        known[subresource],
        versions,
    )


def manager_name(ctx: RequestContext) -> str:
    """The name that a request's fields are owned under."""
    return ctx.field_manager or ("kube-apiserver" if ctx.user is SYSTEM else "unknown")


def restore_times(metadata: JSONObject, old: JSONObject) -> bool:
    """Whether the managers differ in their times alone; then the old ones are put back."""
    new_entries, entries = metadata.get("managedFields"), old.get("managedFields")
    if not new_entries or not entries or len(new_entries) != len(entries):
        return False
    if new_entries == entries or _timeless(new_entries) != _timeless(entries):
        return False
    metadata["managedFields"] = entries
    return True


def _timeless(entries: Entries) -> Entries:
    return [{**entry, "time": None} for entry in entries]


def _put(metadata: JSONObject, managers: Managers) -> None:
    if managers:
        metadata["managedFields"] = managed_fields.dump(managers)


def _sent(ctx: RequestContext, sent: object) -> Managers | None:
    if not isinstance(sent, list) or managed_fields.is_reset(sent):
        return None
    try:
        managers = managed_fields.read(sent)
    except ValueError:
        return None  # as upstream, which takes what is stored instead
    causes = []
    for index, key in enumerate(managers):
        if len(key.name.encode()) > FIELD_MANAGER_LENGTH:
            why = f"Too long: may not be more than {FIELD_MANAGER_LENGTH} bytes"
            where = f"metadata.managedFields[{index}].manager"
            causes.append(Cause("FieldValueTooLong", why, where))
    if causes:
        raise invalid(ctx.resource.gvk, ctx.name, tuple(causes))
    return managers


def _updated(
    ctx: RequestContext,
    resources: ResourceTable,
    managers: Managers,
    documents: tuple[JSONObject | None, JSONObject],
    now: str,
) -> Managers:
    versions = StoredVersions(ctx.resource, resources, *documents)
    change = change_of(
        ctx, versions, (managed_fields.UPDATE, _rules(ctx.resource).api_version), now
    )
    try:
        after = server_side_apply.updated(managers, change)
    except UnkeyedError:
        return managers  # validation will say what is wrong with it
    return after if after is managers else managed_fields.capped(after)
