"""What is wrong with how a schema says that lists and maps are merged.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation. The caller is `schema_faults`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import forbidden, invalid, not_supported, required

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.schemas.structural.nodes import Schema

_LIST, _KEYS, _MAP = (
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
)  # fmt: skip
_LIST_TYPES = ("atomic", "set", "map")
_MAP_TYPES = ("atomic", "granular")
_SCALARS = frozenset(("string", "integer", "number", "boolean"))


def list_faults(schema: Schema, path: str) -> list[Cause]:
    """Faults of a list's type and its keys."""
    found: list[Cause] = []
    kind, keys = schema.get(_LIST), schema.get(_KEYS) or ()
    field = f"{path}.{_LIST}"
    if kind and schema.get("type") != "array":
        why = "must be array if x-kubernetes-list-type is specified"
        given, at = schema.get("type"), f"{path}.type"
        found.append(invalid(at, given, why) if given else required(at, why))
    if kind is not None and kind not in _LIST_TYPES:
        found.append(not_supported(field, kind, _LIST_TYPES))
    if keys and kind != "map":
        why = "must be map if x-kubernetes-list-map-keys is non-empty"
        found.append(invalid(field, kind, why) if kind else required(field, why))
    items = schema.get("items")
    if not isinstance(items, Mapping):
        items = {}
    if kind == "map":
        found += _keyed(items, keys, path)
    if kind == "set":
        found += _set(items, f"{path}.items")
    if kind in ("map", "set") and items.get("nullable"):
        why = f"cannot be nullable when x-kubernetes-list-type is {kind}"
        found.append(forbidden(f"{path}.items.nullable", why))
    return found


def _keyed(items: Schema, keys: Sequence[str], path: str) -> list[Cause]:
    found: list[Cause] = []
    place, properties = f"{path}.{_KEYS}", items.get("properties") or {}
    if not keys:
        why = "must not be empty if x-kubernetes-list-type is map"
        found.append(required(place, why))
    if items.get("type") != "object":
        why = "must be object if parent array's x-kubernetes-list-type is map"
        return [*found, invalid(f"{path}.items.type", items.get("type") or "", why)]
    for key in keys:
        prop = properties.get(key)
        if prop is None:
            found.append(invalid(place, keys, "entries must all be names of item properties"))
        elif prop.get("type") not in _SCALARS and not prop.get("x-kubernetes-int-or-string"):
            why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            where = f"{path}.items.properties[{key}].type"
            found.append(invalid(where, prop.get("type") or "", why))
    if len(set(keys)) < len(keys):
        found.append(invalid(place, keys, "must not contain duplicate entries"))
    what = "this property is in x-kubernetes-list-map-keys, so it"
    for key in keys:
        prop = properties.get(key)
        where = f"{path}.items.properties[{key}]"
        if prop is None:
            continue
        if prop.get("nullable"):
            found.append(forbidden(f"{where}.nullable", f"{what} cannot be nullable"))
        if key not in (items.get("required") or ()) and "default" not in prop:
            why = f"{what} must have a default or be a required property"
            found.append(required(f"{where}.default", why))
    return found


def _set(items: Schema, path: str) -> list[Cause]:
    # What is compared as a whole is not merged.
    why = "must be atomic as item of a list with x-kubernetes-list-type=set"
    if items.get("type") == "object" and items.get(_MAP) != "atomic":
        return [invalid(f"{path}.{_MAP}", items.get(_MAP), why)]
    if items.get("type") == "array" and items.get(_LIST) not in (None, "atomic"):
        return [invalid(f"{path}.{_LIST}", items[_LIST], why)]
    return []


def map_faults(schema: Schema, path: str) -> list[Cause]:
    """Faults of a map's type."""
    kind, given = schema.get(_MAP), schema.get("type") or ""
    if kind is None:
        return []
    found = []
    if given != "object":
        why = "must be object if x-kubernetes-map-type is specified"
        field = f"{path}.type"
        found.append(invalid(field, given, why) if given else required(field, why))
    if kind not in _MAP_TYPES:
        found.append(not_supported(f"{path}.{_MAP}", kind, _MAP_TYPES))
    return found
