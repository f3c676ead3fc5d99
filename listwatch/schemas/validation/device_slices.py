"""Faults of ResourceSlices: whose devices, on which nodes, and what each of them is.

Upstream: pkg/apis/resource/validation. The caller is `validate`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from listwatch.protocol.names import subdomain_faults
from listwatch.schemas.validation.device_capacities import attribute_faults, capacity_faults
from listwatch.schemas.validation.device_names import (
    counters_faults,
    driver_faults,
    each,
    effect_faults,
    key_faults,
    label_faults,
    pool_faults,
    qualified_faults,
    unique,
    value_faults,
)
from listwatch.schemas.validation.faults import duplicate, immutable, invalid, required
from listwatch.schemas.validation.pod_placement import node_selector_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_MOST_DEVICES, _MOST_ADVANCED = 128, 64
_MOST_SETS, _MOST_CONSUMED, _MOST_COUNTERS = 8, 2, 32
_MOST_PROPERTIES, _MOST_TAINTS, _MOST_CONDITIONS = 32, 16, 4
_ANYWHERE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is "
_OF_ITS_OWN = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NOT_OF_ITS_OWN = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
    "to true in the ResourceSlice spec"
)


def slice_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ResourceSlice by itself."""
    spec = document.get("spec") or {}
    faults = driver_faults(spec.get("driver") or "", "spec.driver")
    pool = spec.get("pool") or {}
    faults += pool_faults(pool.get("name") or "", "spec.pool.name")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        why = "must be greater than zero"
        faults.append(invalid("spec.pool.resourceSliceCount", count, why))
    if generation < 0:
        why = "must be greater than or equal to zero"
        faults.append(invalid("spec.pool.generation", generation, why))
    faults += _place_faults(spec)
    devices, sets = spec.get("devices"), spec.get("sharedCounters")
    if devices is not None and sets is not None:
        faults.append(invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    devices, sets = devices or [], sets or []
    advanced = any(one.get("taints") or one.get("consumesCounters") for one in devices)
    most = _MOST_ADVANCED if advanced else _MOST_DEVICES
    check = partial(_device_faults, own=bool(spec.get("perDeviceNodeSelection")))
    names = [device.get("name") or "" for device in devices]
    faults += unique(devices, names, most, check, "spec.devices")
    names = [one.get("name") or "" for one in sets]
    return faults + unique(sets, names, _MOST_SETS, _set_faults, "spec.sharedCounters")


def slice_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Whose devices they are stays as it is."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    pool, pool_before = spec.get("pool") or {}, before.get("pool") or {}
    faults = immutable(pool, pool_before, ("name",), "spec.pool")
    return faults + immutable(spec, before, ("driver", "nodeName"), "spec")


def _place_faults(spec: JSONObject) -> list[Cause]:
    faults: list[Cause] = []
    given = ["`nodeName`"] if spec.get("nodeName") else []
    name, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if name:
        faults += _node_faults(name, "spec.nodeName")
    elif name is not None:
        why = "must be either unset or set to a non-empty string"
        faults.append(invalid("spec.nodeName", name, why))
    if selector is not None:
        given.append("`nodeSelector`")
        faults += node_selector_faults(selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            why = "must have exactly one node selector term"
            where = "spec.nodeSelector.nodeSelectorTerms"
            faults.append(invalid(where, _terms_in_go(terms), why))
    for flag in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(flag):
            given.append(f"`{flag}`")
        elif spec.get(flag) is not None:
            faults.append(invalid(f"spec.{flag}", False, "must be either unset or set to true"))
    if not given:
        faults.append(required("spec", f"{_ANYWHERE}required"))
    elif len(given) > 1:
        why = f"{_ANYWHERE}required, but multiple fields are set"
        faults.append(invalid("spec", f"{{{', '.join(given)}}}", why))
    return faults


def _terms_in_go(terms: list[JSONObject] | None) -> list[JSONObject] | None:
    # Terms are shown with the names that upstream has for their parts within the server.
    parts = {"MatchExpressions": "matchExpressions", "MatchFields": "matchFields"}
    if terms is None:
        return None
    return [
        {
            go: term.get(name)
            and [
                {
                    "Key": one.get("key") or "",
                    "Operator": one.get("operator") or "",
                    "Values": one.get("values"),
                }
                for one in term[name]
            ]
            for go, name in parts.items()
        }
        for term in terms
    ]


def _node_faults(name: str, field: str) -> list[Cause]:
    return [invalid(field, name, why) for why in subdomain_faults(name)]


def _set_faults(counters: JSONObject, field: str) -> list[Cause]:
    faults = _counter_name_faults(counters.get("name") or "", f"{field}.name")
    return faults + counters_faults(
        counters.get("counters") or {}, _MOST_COUNTERS, f"{field}.counters"
    )


def _consumption_faults(consumption: JSONObject, field: str) -> list[Cause]:
    faults = _counter_name_faults(consumption.get("counterSet") or "", f"{field}.counterSet")
    return faults + counters_faults(
        consumption.get("counters") or {}, _MOST_COUNTERS, f"{field}.counters"
    )


def _counter_name_faults(name: str, field: str) -> list[Cause]:
    return label_faults(name, field) if name else [required(field)]


def _device_faults(device: JSONObject, field: str, *, own: bool) -> list[Cause]:
    faults = label_faults(device.get("name") or "", f"{field}.name")
    attributes, capacities = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacities)
    if count > _MOST_PROPERTIES:
        why = f"the total number of attributes and capacities must not exceed {_MOST_PROPERTIES}"
        faults.append(invalid(field, count, why))
    for name, attribute in attributes.items():
        faults += qualified_faults(name, f"{field}.attributes")
        faults += attribute_faults(attribute, f"{field}.attributes[{name}]")
    shared = bool(device.get("allowMultipleAllocations"))
    for name, capacity in capacities.items():
        faults += qualified_faults(name, f"{field}.capacity")
        faults += capacity_faults(capacity, f"{field}.capacity[{name}]", shared=shared)
    faults += each(device.get("taints") or [], _MOST_TAINTS, _taint_faults, f"{field}.taints")
    consumed = device.get("consumesCounters") or []
    names = [one.get("counterSet") or "" for one in consumed]
    where = f"{field}.consumesCounters"
    faults += unique(consumed, names, _MOST_CONSUMED, _consumption_faults, where)
    if own:
        faults += _own_place_faults(device, field)
    elif any(device.get(name) is not None for name in ("nodeName", "nodeSelector", "allNodes")):
        faults.append(invalid(field, None, _NOT_OF_ITS_OWN))
    return faults + _conditions_faults(device, field)


def _taint_faults(taint: JSONObject, field: str) -> list[Cause]:
    key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
    faults = key_faults(key, f"{field}.key")
    if value:
        faults += value_faults(value, f"{field}.value")
    where = f"{field}.effect"
    return faults + (effect_faults(effect, where) if effect else [required(where)])


def _own_place_faults(device: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    given: list[str] = []
    name, selector = device.get("nodeName"), device.get("nodeSelector")
    if name:
        given.append("`nodeName`")
        faults += _node_faults(name, f"{field}.nodeName")
    elif name is not None:
        faults.append(invalid(f"{field}.nodeName", name, "must not be empty"))
    if selector is not None:
        given.append("`nodeSelector`")
        faults += node_selector_faults(selector, f"{field}.nodeSelector")
    if device.get("allNodes"):
        given.append("`allNodes`")
    elif device.get("allNodes") is not None:
        why = "must be either unset or set to true"
        faults.append(invalid(f"{field}.allNodes", False, why))
    if not given:
        faults.append(required(field, _OF_ITS_OWN))
    elif len(given) > 1:
        faults.append(invalid(field, f"{{{', '.join(given)}}}", _OF_ITS_OWN))
    return faults


def _conditions_faults(device: JSONObject, field: str) -> list[Cause]:
    names = ("bindingConditions", "bindingFailureConditions")
    (binding, binding_field), (failing, failing_field) = (
        (device.get(name) or [], f"{field}.{name}") for name in names
    )
    faults = each(binding, _MOST_CONDITIONS, key_faults, binding_field)
    faults += each(failing, _MOST_CONDITIONS, key_faults, failing_field)
    for conditions, where in ((binding, binding_field), (failing, failing_field)):
        for index, condition in enumerate(conditions):
            if condition in conditions[:index]:
                faults.append(duplicate(f"{where}[{index}]", condition))
            if where == failing_field and condition in binding:
                why = "bindingFailureConditions must not overlap with bindingConditions"
                faults.append(invalid(f"{where}[{index}]", condition, why))
    if failing and not binding:
        why = "bindingConditions are required to use bindingFailureConditions"
        faults.append(invalid(binding_field, device.get(names[0]), why))
    if binding and not failing:
        why = "bindingFailureConditions are required to use bindingConditions"
        faults.append(invalid(failing_field, device.get(names[1]), why))
    return faults
