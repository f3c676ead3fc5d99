"""The rules of names that drivers and devices have, and those of lists and maps of them.

Upstream: pkg/apis/resource/validation. Used by `devices`, `device_slices` and `device_capacities`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from listwatch.protocol.names import (
    label_name_faults,
    label_value_faults,
    qualified_name_faults,
    subdomain_faults,
)
from listwatch.schemas.validation.faults import (
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

    # Any: a JSON value
    Check = Callable[[Any, str], list[Cause]]

_LONGEST_DRIVER = 63
_LONGEST_POOL = 253
_LONGEST_IDENTIFIER = 32
_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_identifier = re.compile(_IDENTIFIER)
_IDENTIFIER_FAULT = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    f"validation is '{_IDENTIFIER}')"
)
_EFFECTS = ("NoExecute", "NoSchedule", "None")


def label_faults(name: str, field: str) -> list[Cause]:
    """Faults of the name of a request, a device or a counter."""
    return [invalid(field, name, why) for why in label_name_faults(name)]


def driver_faults(name: str, field: str) -> list[Cause]:
    """Faults of the name of a driver, which is told from others without regard to case."""
    if not name:
        return [required(field)]
    faults = [too_long(field, _LONGEST_DRIVER)] if len(name) > _LONGEST_DRIVER else []
    return faults + [invalid(field, name, why) for why in subdomain_faults(name.lower())]


def pool_faults(name: str, field: str) -> list[Cause]:
    """Faults of the name of a pool: domains with slashes between them."""
    if not name:
        return [required(field)]
    faults = [too_long(field, _LONGEST_POOL)] if len(name) > _LONGEST_POOL else []
    return faults + [
        invalid(field, part, why) for part in name.split("/") for why in subdomain_faults(part)
    ]


def qualified_faults(name: str, field: str) -> list[Cause]:
    """Faults of the name of an attribute or capacity; upstream passes over more than one slash."""
    domain, slash, own = name.rpartition("/")
    if name.count("/") > 1:
        return []
    faults: list[Cause] = []
    if slash:
        why = "the domain must not be empty"
        faults += driver_faults(domain, field) if domain else [invalid(field, "", why)]
        if not own:
            return [*faults, invalid(field, "", "the name must not be empty")]
    if len(own) > _LONGEST_IDENTIFIER:
        faults.append(too_long(field, _LONGEST_IDENTIFIER))
    if not _identifier.fullmatch(own):
        faults.append(invalid(field, own, _IDENTIFIER_FAULT))
    return faults


def fully_qualified_faults(name: str, field: str) -> list[Cause]:
    """Faults of a name that must have its domain."""
    faults = qualified_faults(name, field)
    if "/" not in name:
        why = "a fully qualified name must be a domain and a name separated by a slash"
        faults.append(invalid(field, name, why))
    return faults


def key_faults(key: str, field: str) -> list[Cause]:
    """Faults of the key of a label, taint or condition."""
    return [invalid(field, key, why) for why in qualified_name_faults(key)]


def value_faults(value: str, field: str) -> list[Cause]:
    """Faults of the value of a taint or toleration."""
    return [invalid(field, value, why) for why in label_value_faults(value)]


def effect_faults(effect: str, field: str) -> list[Cause]:
    """Faults of what a taint does."""
    return [] if effect in _EFFECTS else [not_supported(field, effect, _EFFECTS)]


def each(items: Sequence[Any], most: int, check: Check, field: str) -> list[Cause]:
    """Faults of the items of a list; of one that is too long nothing else is told."""
    if len(items) > most:
        return [too_many(field, len(items), most)]
    return [fault for index, item in enumerate(items) for fault in check(item, f"{field}[{index}]")]


def unique(
    items: Sequence[Any], names: Iterable[str], most: int, check: Check, field: str
) -> list[Cause]:
    """The same of a list whose items differ by these names."""
    faults = each(items, most, check, field)
    if len(items) > most:
        return faults
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            faults.append(duplicate(f"{field}[{index}]", name))
        seen.add(name)
    return faults


def counters_faults(counters: JSONObject, most: int, field: str) -> list[Cause]:
    """Faults of a map of counters, which is told of by its own field."""
    if not counters:
        return [required(field)]
    if len(counters) > most:
        return [too_many(field, len(counters), most)]
    return [fault for name in counters for fault in label_faults(name, field)]
