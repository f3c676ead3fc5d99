"""Label selectors as objects have them: their faults, and which labels they select."""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_value_faults, qualified_name_faults
from listwatch.schemas.validation.faults import forbidden, invalid, required
from listwatch.schemas.validation.metadata import label_faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject


def selector_faults(selector: JSONObject, field: str) -> list[Cause]:
    """Faults of a LabelSelector."""
    faults = label_faults(selector.get("matchLabels") or {}, f"{field}.matchLabels")
    for index, term in enumerate(selector.get("matchExpressions") or ()):
        where = f"{field}.matchExpressions[{index}]"
        values = term.get("values") or []
        faults += operator_faults(term, where)
        key = term.get("key", "")
        faults += [invalid(f"{where}.key", key, why) for why in qualified_name_faults(key)]
        faults += [
            invalid(f"{where}.values[{place}]", value, why)
            for place, value in enumerate(values)
            for why in label_value_faults(value)
        ]
    return faults


def operator_faults(requirement: JSONObject, field: str, *, compares: bool = False) -> list[Cause]:
    """Faults of an operator, and of how many values go with it; `compares`: it may be Lt or Gt."""
    operator, values = requirement.get("operator") or "", requirement.get("values") or []
    if operator in ("In", "NotIn"):
        why = "must be specified when `operator` is 'In' or 'NotIn'"
        return [] if values else [required(f"{field}.values", why)]
    if operator in ("Exists", "DoesNotExist"):
        why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        return [forbidden(f"{field}.values", why)] if values else []
    if compares and operator in ("Gt", "Lt"):
        why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        return [] if len(values) == 1 else [required(f"{field}.values", why)]
    return [invalid(f"{field}.operator", operator, "not a valid selector operator")]


def selects(selector: JSONObject, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector without faults selects these labels."""
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(_holds(term, labels) for term in selector.get("matchExpressions") or ())


def _holds(term: JSONObject, labels: Mapping[str, str]) -> bool:
    key, values = term["key"], term.get("values") or ()
    match term["operator"]:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
    return key not in labels
