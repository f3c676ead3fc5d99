"""Which fields a write at an address cannot touch, so that nobody comes to own them there.

The status where there is a status address, all else there; upstream has it in the GetResetFields of
each strategy. For `field_managers`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from listwatch.patches.field_sets.sets import FieldSet, within, without
from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.kinds import Resource

_ALL: FieldSet = {}
_STATUS: FieldSet = {"f:status": _ALL}
_SPEC: FieldSet = {"f:spec": _ALL}
_SPEC_AND_METADATA: FieldSet = {"f:spec": _ALL, "f:metadata": _ALL}
# What an update of the status cannot touch beyond the spec.
_AT_STATUS: dict[GroupResource, FieldSet] = {
    GroupResource("", "pods"): {
        **_SPEC, "f:metadata": {"f:deletionTimestamp": _ALL, "f:ownerReferences": _ALL},
    },
    GroupResource("apps", "deployments"): {**_SPEC, "f:metadata": {"f:labels": _ALL}},
    GroupResource("apiextensions.k8s.io", "customresourcedefinitions"): _SPEC_AND_METADATA,
    GroupResource("apiregistration.k8s.io", "apiservices"): _SPEC_AND_METADATA,
    GroupResource("certificates.k8s.io", "certificatesigningrequests"): _SPEC_AND_METADATA,
}  # fmt: skip
_SIZES: FieldSet = {"*": {"f:resources": _ALL, "f:resizePolicy": _ALL}}
# Some addresses are for a few fields, and none besides.
_ONLY: dict[str, FieldSet] = {
    "ephemeralcontainers": {"f:spec": {"f:ephemeralContainers": _ALL}},
    "resize": {"f:spec": {"f:containers": _SIZES, "f:initContainers": _SIZES}},
}


def relevant(resource: Resource, subresource: str) -> Callable[[FieldSet], FieldSet]:
    """What takes from a set of fields those that count at an address."""
    if subresource in _ONLY:
        return partial(within, pattern=_ONLY[subresource])
    resets = _resets(resource, subresource)
    return partial(without, other=resets) if resets else _all_of


def _all_of(fields: FieldSet) -> FieldSet:
    return fields


def _resets(resource: Resource, subresource: str) -> FieldSet:
    if subresource == "status":
        usual = _SPEC if resource.custom is None else _SPEC_AND_METADATA
        return _AT_STATUS.get(resource.group_resource, usual)
    if subresource == "scale":
        return {}
    if subresource in ("finalize", "approval"):
        return _STATUS if subresource == "finalize" else _SPEC
    return _STATUS if resource.subresource("status") is not None else {}
