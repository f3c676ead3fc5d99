"""Faults of what a claim asks for, be it a claim or the template of one.

Upstream: pkg/apis/core/validation/validation.go. Used by `storage`, `volumes` and `workloads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import subdomain_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.faults import forbidden, invalid, not_supported, required
from listwatch.schemas.validation.selectors import selector_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")
_ZERO = Quantity.parse("0")


def claim_spec_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of the spec of a PersistentVolumeClaim."""
    modes, faults = spec.get("accessModes") or [], []
    if not modes:
        faults.append(required(f"{field}.accessModes", "at least 1 access mode is required"))
    if spec.get("selector") is not None:
        faults += selector_faults(spec["selector"], f"{field}.selector")
    faults += mode_faults(modes, field)
    amount = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if amount is None:
        faults.append(required(f"{field}.resources[storage]"))
    elif Quantity.parse(amount) <= _ZERO:
        faults.append(invalid(f"{field}.resources[storage]", amount, "must be greater than zero"))
    faults += class_faults(spec, field) + volume_mode_faults(spec, field)
    name = spec.get("volumeAttributesClassName")
    if name:
        where = f"{field}.volumeAttributesClassName"
        faults += [invalid(where, name, why) for why in subdomain_faults(name)]
    return faults + _source_faults(spec, field)


def _source_faults(spec: JSONObject, field: str) -> list[Cause]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    faults: list[Cause] = []
    if source is not None:
        faults += _reference_faults(source, f"{field}.dataSource")
    if reference is not None:
        faults += _reference_faults(reference, f"{field}.dataSourceRef")
    if source is not None and reference is not None and not reference.get("namespace"):
        same = ("name", "kind", "apiGroup")
        if any((source.get(name) or "") != (reference.get(name) or "") for name in same):
            # What upstream shows is a path within the server, which has no text.
            faults.append(invalid(field, {}, "must match dataSourceRef"))
    return faults


def _reference_faults(reference: JSONObject, field: str) -> list[Cause]:
    kind, group = reference.get("kind") or "", reference.get("apiGroup") or ""
    faults = [required(f"{field}.{name}") for name in ("name", "kind") if not reference.get(name)]
    if not group and kind != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        faults.append(invalid(field, kind, why))
    if group:
        faults += [invalid(f"{field}.apiGroup", group, why) for why in subdomain_faults(group)]
    return faults


def mode_faults(modes: list[str], field: str) -> list[Cause]:
    """Faults of access modes."""
    faults = [
        not_supported(f"{field}.accessModes", mode, _MODES) for mode in modes if mode not in _MODES
    ]
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        why = "may not use ReadWriteOncePod with other access modes"
        faults.append(forbidden(f"{field}.accessModes", why))
    return faults


def class_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of the name of a storage class."""
    name = spec.get("storageClassName")
    if not name:
        return []
    return [invalid(f"{field}.storageClassName", name, why) for why in subdomain_faults(name)]


def volume_mode_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of how a volume is seen."""
    mode = spec.get("volumeMode")
    if mode is None or mode in _VOLUME_MODES:
        return []
    return [not_supported(f"{field}.volumeMode", mode, _VOLUME_MODES)]
