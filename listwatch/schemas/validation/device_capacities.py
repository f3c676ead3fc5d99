"""Faults of attributes and capacities of devices, and of how much of one can be asked for.

Upstream: pkg/apis/resource/validation. The caller is `device_slices`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.device_names import unique
from listwatch.schemas.validation.faults import forbidden, invalid, required, too_long

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_LONGEST_VALUE = 64
_MOST_VALUES = 10
_NUMBER, _BUILD = r"(0|[1-9]\d*)", "[0-9a-zA-Z-]+"
_BEFORE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_version = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_BEFORE}(\.{_BEFORE})*)?(\+{_BUILD}(\.{_BUILD})*)?",
    re.ASCII,
)
_SHOWN = {
    "int": "IntValue", "bool": "BoolValue", "string": "StringValue", "version": "VersionValue",
    "ints": "IntValues", "bools": "BoolValues", "strings": "StringValues",
    "versions": "VersionValues",
}  # fmt: skip


def attribute_faults(attribute: JSONObject, field: str) -> list[Cause]:
    """Faults of an attribute: it has one value."""
    faults: list[Cause] = []
    text, version = attribute.get("string"), attribute.get("version")
    if text is not None and len(text.encode()) > _LONGEST_VALUE:
        faults.append(too_long(f"{field}.string", _LONGEST_VALUE))
    if version is not None:
        if not _version.fullmatch(version):
            why = "must be a string compatible with semver.org spec 2.0.0"
            faults.append(invalid(f"{field}.version", version, why))
        if len(version.encode()) > _LONGEST_VALUE:
            faults.append(too_long(f"{field}.version", _LONGEST_VALUE))
    given = [name for name in _SHOWN if attribute.get(name) is not None]
    if len(given) == 1:
        return faults
    shown = {go: attribute.get(name) for name, go in _SHOWN.items()} if given else ""
    return [*faults, invalid(field, shown, "exactly one value must be specified")]


def capacity_faults(capacity: JSONObject, field: str, *, shared: bool) -> list[Cause]:
    """Faults of a capacity: of a device that several may have each asks for a part of it."""
    policy, where = capacity.get("requestPolicy"), f"{field}.requestPolicy"
    if policy is None:
        return []
    if not shared:
        return [forbidden(where, "allowMultipleAllocations must be true")]
    values, bounds = policy.get("validValues") or [], policy.get("validRange")
    if values and bounds is not None:
        why = (
            'exactly one policy can be specified, cannot specify "validValues" and "validRange" '
            "at the same time"
        )
        return [forbidden(where, why)]
    if not values and bounds is None:
        return []
    name = "validValues" if values else "validRange"
    if policy.get("default") is None:
        return [required(f"{where}.default", f"required when {name} is defined")]
    default, most = Quantity.parse(policy["default"]), Quantity.parse(capacity.get("value") or "0")
    if values:
        amounts = [Quantity.parse(value) for value in values]
        return _values_faults(amounts, default, most, f"{where}.{name}")
    return _range_faults(bounds or {}, default, most, f"{where}.{name}")


def _values_faults(
    values: list[Quantity], default: Quantity, most: Quantity, field: str
) -> list[Cause]:
    why = "values must be sorted in ascending order"
    faults = [
        invalid(f"{field}[{index}]", str(value), why)
        for index, value in enumerate(values)
        if index and value < values[index - 1]
    ]

    def larger(value: Quantity, where: str) -> list[Cause]:
        why = f"option is larger than capacity value: {most}"
        return [invalid(where, str(value), why)] if most < value else []

    names = [str(value.value) for value in values]
    faults += unique(values, names, _MOST_VALUES, larger, field)
    if len(values) > _MOST_VALUES or default not in values:
        why = "default value is not valid according to the requestPolicy"
        faults.append(invalid(field, str(default), why))
    return faults


def _range_faults(bounds: JSONObject, default: Quantity, most: Quantity, field: str) -> list[Cause]:
    if bounds.get("min") is None:
        return [required(f"{field}.min", "required when validRange is defined")]
    low, faults = Quantity.parse(bounds["min"]), []
    high, step = (
        None if bounds.get(name) is None else Quantity.parse(bounds[name])
        for name in ("max", "step")
    )
    if most < low:
        why = f"min is larger than capacity value: {most}"
        faults.append(invalid(f"{field}.min", str(low), why))
    if default < low:
        faults.append(invalid(f"{field}.min", str(default), f"default is less than min: {low}"))
    if high is not None:
        where = f"{field}.max"
        if high < low:
            faults.append(invalid(where, str(low), f"min is larger than max: {high}"))
        if most < high:
            why = f"max is larger than capacity value: {most}"
            faults.append(invalid(where, str(high), why))
        if high < default:
            faults.append(invalid(where, str(default), f"default is more than max: {high}"))
    if step is not None:
        where = f"{field}.step"
        if most < low + step:
            why = f"one step {low + step} is larger than capacity value: {most}"
            faults.append(invalid(where, str(step), why))
        why = f"value is not a multiple of a given step ({step}) from ({low})"
        faults += [
            invalid(where, str(value), why)
            for value in (default, high)
            # Upstream divides by whatever is given; a step of nothing fits nothing here.
            if value is not None and (not step.value or (value.value - low.value) % step.value)
        ]
    return faults
