"""Faults of what containers ask for: names of resources, quantities, requests above limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import qualified_name_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.faults import NEGATIVE, invalid

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})


def resource_requirement_faults(resources: JSONObject, field: str) -> list[Cause]:
    """Faults of limits and requests."""
    faults: list[Cause] = []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, quantity in limits.items():
        faults += _entry_faults(name, quantity, f"{field}.limits[{name}]")
    for name, quantity in requests.items():
        faults += _entry_faults(name, quantity, f"{field}.requests[{name}]")
        limit = limits.get(name)
        if limit is None or limit == quantity:
            continue
        if not _may_be_shared(name) and Quantity.parse(quantity) != Quantity.parse(limit):
            why = f"must be equal to {name} limit of {limit}"
            faults.append(invalid(f"{field}.requests", quantity, why))
        elif Quantity.parse(quantity) > Quantity.parse(limit):
            why = f"must be less than or equal to {name} limit of {limit}"
            faults.append(invalid(f"{field}.requests", quantity, why))
    return faults


def _may_be_shared(name: str) -> bool:
    return "/" not in name and not name.startswith("hugepages-")


def _entry_faults(name: str, quantity: str, field: str) -> list[Cause]:
    faults = []
    if name not in _STANDARD:
        faults += [invalid(field, name, why) for why in qualified_name_faults(name)]
        if not faults and "/" not in name and not name.startswith("hugepages-"):
            why = "must be a standard resource type or fully qualified"
            faults.append(invalid(field, name, why))
            faults.append(invalid(field, name, "must be a standard resource for containers"))
    if quantity.startswith("-"):
        faults.append(invalid(field, quantity, NEGATIVE))
    return faults
