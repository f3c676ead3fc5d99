"""Who set the replicas of a workload by its Scale: between the managers of both.

A Scale's managers are those of the workload that own its replicas, as if they had set them in the
Scale; what a write makes of them goes back into the workload's entries. Upstream: apimachinery's
managedfields/scalehandler.go. For `scale`.

A Scale has its replicas in one place, a workload where its kind has them: those of custom objects
where each version of their definition says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.patches import managed_fields, server_side_apply
from listwatch.patches.field_sets.comparing import Comparison, compare
from listwatch.patches.field_sets.sets import at, difference, has
from listwatch.patches.managed_fields import UPDATE, Entry, Managers
from listwatch.protocol.kinds import GroupVersionKind
from listwatch.registry.apply import Target, configured
from listwatch.registry.field_managers import change_of
from listwatch.schemas.field_types import FieldType, field_type, zero_document

if TYPE_CHECKING:
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import RequestContext
    from listwatch.registry.resources import ResourceTable

_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_VERSION = _SCALE.api_version
_REPLICAS = ("f:spec", "f:replicas")  # of a Scale, and of a workload that is built in

Path = tuple[str, ...]
Places = dict[str, Path]  # where a workload's replicas stand in a set of fields, by API version


class _Scales:
    """A Scale before and after a write; it has one version."""

    def __init__(self, ftype: FieldType, old: JSONObject | None, new: JSONObject) -> None:
        self._ftype = ftype
        self._old = zero_document(_SCALE) if old is None else old
        self._new = new

    def compare(self, api_version: str) -> Comparison | None:
        """What the write changes."""
        return compare(self._ftype, self._old, self._new) if api_version == _VERSION else None


def places(resources: ResourceTable, resource: Resource) -> Places:
    """Where the replicas are in each version of a workload that has a scale."""
    found: Places = {}
    for each in (resource, *resources.equivalents(resource.storage)):
        if each.custom is None:
            found[each.api_version] = _REPLICAS
        elif each.custom.scale is not None:
            found[each.api_version] = tuple(f"f:{name}" for name in each.custom.scale.replicas)
    return found


def track(
    ctx: RequestContext, workload: JSONObject, scales: tuple[JSONObject, JSONObject],
    where: Places, now: str,
) -> None:  # fmt: skip
    """Note in the workload who changed the replicas, by the Scale before and after."""
    managers = managed_fields.load(workload["metadata"].get("managedFields") or [])
    if not managers:
        return
    change = change_of(ctx, _Scales(field_type(_SCALE), *scales), (UPDATE, _VERSION), now)
    after = server_side_apply.updated(_of_scale(managers, where), change)
    _put(ctx, workload, managers, after, where)


def apply(
    ctx: RequestContext, workload: JSONObject, scales: tuple[JSONObject, JSONObject],
    where: Places, now: str,
) -> JSONObject:  # fmt: skip
    """The Scale with a configuration applied, its managers noted in the workload.

    `scales` is the Scale as it is, and the configuration. Raises 400, 409.
    """
    scale, config = scales
    ftype = field_type(_SCALE)
    target = Target(_SCALE, ftype, lambda old, new: _Scales(ftype, old, new))
    managers = managed_fields.load(workload["metadata"].get("managedFields") or [])
    document, after = configured(ctx, target, config, (scale, _of_scale(managers, where)), now)
    _put(ctx, workload, managers, after, where)
    return document


def _owned(entry: Entry, where: Places) -> Path | None:
    """The place of the replicas in the terms of an entry; None if it does not own them."""
    path = where.get(entry.api_version)
    return path if path is not None and has(entry.fields, path) else None


def _of_scale(managers: Managers, where: Places) -> Managers:
    return {
        key: Entry(_VERSION, at(_REPLICAS), entry.time)
        for key, entry in managers.items()
        if _owned(entry, where) is not None
    }


def _put(
    ctx: RequestContext, workload: JSONObject, managers: Managers, after: Managers, where: Places
) -> None:
    result: Managers = {}
    left = dict(after)
    for key, entry in managers.items():
        path = _owned(entry, where)
        if path is None:
            result[key] = entry
        elif key in left:
            result[key] = entry._replace(time=left.pop(key).time)
        else:
            fields = difference(entry.fields, at(path))
            if fields:
                result[key] = entry._replace(fields=fields)
    version = ctx.resource.api_version
    for key, entry in left.items():
        if has(entry.fields, _REPLICAS):
            mine = managed_fields.manager(key.name, key.operation, version, key.subresource)
            result[mine] = Entry(version, at(where[version]), entry.time)
    workload["metadata"]["managedFields"] = managed_fields.dump(managed_fields.capped(result))
