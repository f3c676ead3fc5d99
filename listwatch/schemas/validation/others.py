"""Faults of the kinds that are small: leases, events, namespaces, nodes."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from listwatch.protocol.names import label_value_faults, qualified_name_faults
from listwatch.schemas.validation.faults import (
    NEGATIVE,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.tolerations import EFFECTS

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject


def lease_faults(document: JSONObject) -> list[Cause]:
    """Faults of a Lease by itself."""
    spec = document.get("spec") or {}
    faults = []
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        faults.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        faults.append(invalid("spec.leaseTransitions", transitions, NEGATIVE))
    if spec.get("preferredHolder") is not None and not spec.get("strategy"):
        why = "may only be specified if `strategy` is defined"
        faults.append(forbidden("spec.preferredHolder", why))
    return faults


def event_faults(document: JSONObject) -> list[Cause]:
    """Faults of an Event by itself: it stands in the namespace of what it tells of."""
    namespace = (document.get("metadata") or {}).get("namespace", "")
    involved = (document.get("involvedObject") or {}).get("namespace", "")
    fits = namespace == involved or (not involved and namespace == "default")
    if fits:
        return []
    return [invalid("involvedObject.namespace", involved, "does not match event.namespace")]


def namespace_faults(document: JSONObject) -> list[Cause]:
    """Faults of a Namespace by itself."""
    faults: list[Cause] = []
    for name in (document.get("spec") or {}).get("finalizers") or ():
        faults += [invalid("spec.finalizers", name, why) for why in qualified_name_faults(name)]
        if "/" not in name and name not in ("kubernetes", "orphan", "foregroundDeletion"):
            why = "name is neither a standard finalizer name nor is it fully qualified"
            faults.append(invalid("spec.finalizers", name, why))
    return faults


def node_faults(document: JSONObject) -> list[Cause]:
    """Faults of a Node by itself."""
    spec = document.get("spec") or {}
    faults = _taint_faults(spec.get("taints") or [])
    ranges = spec.get("podCIDRs") or []
    families: set[bool | None] = set()
    for index, text in enumerate(ranges):
        if _is_network(text):
            families.add(":" in text)
            continue
        families.add(None)
        why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        faults.append(invalid(f"spec.podCIDRs[{index}]", text, why))
    if len(ranges) > 1 and (None in families or len(families) != 2 or len(ranges) > 2):
        why = "may specify no more than one CIDR for each IP family"
        faults.append(invalid("spec.podCIDRs", ranges, why))
    return faults


def node_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What a node once was given stays its own: its ranges, and who provides it."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    why = 'node updates may not change {} except from "" to valid'
    faults = []
    if before.get("podCIDRs") and before["podCIDRs"] != spec.get("podCIDRs"):
        faults.append(forbidden("spec.podCIDRs", why.format("podCIDR")))
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        faults.append(forbidden("spec.providerID", why.format("providerID")))
    return faults


def _is_network(text: str) -> bool:
    # Bits beyond the prefix were always taken here.
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _taint_faults(taints: list[JSONObject]) -> list[Cause]:
    faults: list[Cause] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        field = f"metadata.taints[{index}]"  # upstream looks for them there
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        faults += [invalid(f"{field}.key", key, why) for why in qualified_name_faults(key)]
        faults += [invalid(f"{field}.value", value, why) for why in label_value_faults(value)]
        if not effect:
            faults.append(required(f"{field}.effect"))
        elif effect not in EFFECTS:
            faults.append(not_supported(f"{field}.effect", effect, EFFECTS))
        if (key, effect) in seen:
            # A structure of the server, whose fields have no names but their own.
            shown = {"Key": key, "Value": value, "Effect": effect}
            shown["TimeAdded"] = taint.get("timeAdded")
            faults.append(duplicate(field, shown, "taints must be unique by key and effect pair"))
        seen.add((key, effect))
    return faults
