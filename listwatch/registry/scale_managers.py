"""Who set the replicas of a workload by its Scale: between the managers of both.

A Scale's managers are those of the workload that own its replicas, as if they had set them in the
Scale; what a write makes of them goes back into the workload's entries. Upstream: apimachinery's
managedfields/scalehandler.go. For `scale`.
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
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import RequestContext

_SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_VERSION = _SCALE.api_version
_REPLICAS = ("f:spec", "f:replicas")


class _Scales:
    """A Scale before and after a write; it has one version."""

    def __init__(self, ftype: FieldType, old: JSONObject | None, new: JSONObject) -> None:
        self._ftype = ftype
        self._old = zero_document(_SCALE) if old is None else old
        self._new = new

    def compare(self, api_version: str) -> Comparison | None:
        """What the write changes."""
        return compare(self._ftype, self._old, self._new) if api_version == _VERSION else None


def track(
    ctx: RequestContext, workload: JSONObject, scales: tuple[JSONObject, JSONObject], now: str
) -> None:
    """Note in the workload who changed the replicas, by the Scale before and after."""
    managers = managed_fields.load(workload["metadata"].get("managedFields") or [])
    if not managers:
        return
    change = change_of(ctx, _Scales(field_type(_SCALE), *scales), (UPDATE, _VERSION), now)
    _put(ctx, workload, managers, server_side_apply.updated(_of_scale(managers), change))


def apply(
    ctx: RequestContext, workload: JSONObject, scales: tuple[JSONObject, JSONObject], now: str
) -> JSONObject:
    """The Scale with a configuration applied, its managers noted in the workload.

    `scales` is the Scale as it is, and the configuration. Raises 400, 409.
    """
    scale, config = scales
    ftype = field_type(_SCALE)
    target = Target(_SCALE, ftype, lambda old, new: _Scales(ftype, old, new))
    managers = managed_fields.load(workload["metadata"].get("managedFields") or [])
    document, after = configured(ctx, target, config, (scale, _of_scale(managers)), now)
    _put(ctx, workload, managers, after)
    return document


def _of_scale(managers: Managers) -> Managers:
    return {
        key: Entry(_VERSION, at(_REPLICAS), entry.time)
        for key, entry in managers.items()
        if has(entry.fields, _REPLICAS)
    }


def _put(ctx: RequestContext, workload: JSONObject, managers: Managers, after: Managers) -> None:
    result: Managers = {}
    left = dict(after)
    for key, entry in managers.items():
        if not has(entry.fields, _REPLICAS):
            result[key] = entry
        elif key in left:
            result[key] = entry._replace(time=left.pop(key).time)
        else:
            fields = difference(entry.fields, at(_REPLICAS))
            if fields:
                result[key] = entry._replace(fields=fields)
    version = ctx.resource.api_version
    for key, entry in left.items():
        if has(entry.fields, _REPLICAS):
            mine = managed_fields.manager(key.name, key.operation, version, key.subresource)
            result[mine] = Entry(version, at(_REPLICAS), entry.time)
    workload["metadata"]["managedFields"] = managed_fields.dump(managed_fields.capped(result))
