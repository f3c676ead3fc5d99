"""Faults of what claims ask for: requests of devices, constraints, and configuration.

Upstream: pkg/apis/resource/validation. The caller is `validate`; `device_slices` has the rules
of what drivers offer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from listwatch.protocol.names import qualified_name_faults, subdomain_faults
from listwatch.schemas.validation.device_names import (
    driver_faults,
    each,
    effect_faults,
    fully_qualified_faults,
    key_faults,
    label_faults,
    unique,
    value_faults,
)
from listwatch.schemas.validation.expressions import syntax_faults
from listwatch.schemas.validation.faults import (
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from listwatch.schemas.validation.metadata import template_metadata_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_MOST = 32
_MOST_CHOICES = 8
_LONGEST_EXPRESSION = _LONGEST_PARAMETERS = 10 * 1024
_MODES = ("All", "ExactCount")
_OPERATORS = ("Equal", "Exists")
_UNKNOWN = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)
_ONE = "exactly one of `exactly` or `firstAvailable` is required"


def new_claim_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ResourceClaim; nothing that is looked at here changes later."""
    return _claim_faults((document.get("spec") or {}).get("devices") or {}, "spec.devices")


def new_template_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ResourceClaimTemplate."""
    spec = document.get("spec") or {}
    faults = template_metadata_faults(spec.get("metadata") or {}, "spec.metadata")
    return faults + _claim_faults(
        (spec.get("spec") or {}).get("devices") or {}, "spec.spec.devices"
    )


def claim_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What is asked for stays as it is."""
    return immutable(new, old, ("spec",))


def class_faults(document: JSONObject) -> list[Cause]:
    """Faults of a DeviceClass by itself."""
    spec = document.get("spec") or {}
    faults = each(spec.get("selectors") or [], _MOST, _selector_faults, "spec.selectors")
    faults += each(spec.get("config") or [], _MOST, _opaque_faults, "spec.config")
    name = spec.get("extendedResourceName")
    if name is not None and not _is_extended(name):
        why = "must be a valid extended resource name"
        faults.append(invalid("spec.extendedResourceName", name, why))
    return faults


def _is_extended(name: str) -> bool:
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not qualified_name_faults(f"requests.{name}")


def _claim_faults(devices: JSONObject, field: str) -> list[Cause]:
    requests = devices.get("requests") or []
    # Which names can be referred to: those of requests, and of the choices within them.
    known = {request.get("name") or "" for request in requests}
    known |= {
        f"{request.get('name') or ''}/{choice.get('name') or ''}"
        for request in requests
        for choice in request.get("firstAvailable") or ()
    }

    def reference_faults(name: str, where: str) -> list[Cause]:
        parts = name.split("/")
        if len(parts) > 2:
            return [invalid(where, name, _UNKNOWN)]
        faults = [fault for part in parts for fault in label_faults(part, where)]
        return faults if name in known else [*faults, invalid(where, name, _UNKNOWN)]

    def references_faults(part: JSONObject, where: str) -> list[Cause]:
        names = part.get("requests") or []
        return unique(names, names, _MOST, reference_faults, f"{where}.requests")

    def constraint_faults(constraint: JSONObject, where: str) -> list[Cause]:
        return references_faults(constraint, where) + _attribute_faults(constraint, where)

    def config_faults(config: JSONObject, where: str) -> list[Cause]:
        return references_faults(config, where) + _opaque_faults(config, where)

    names = [request.get("name") or "" for request in requests]
    faults = unique(requests, names, _MOST, _request_faults, f"{field}.requests")
    constraints, configs = devices.get("constraints") or [], devices.get("config") or []
    faults += each(constraints, _MOST, constraint_faults, f"{field}.constraints")
    return faults + each(configs, _MOST, config_faults, f"{field}.config")


def _request_faults(request: JSONObject, field: str) -> list[Cause]:
    faults = label_faults(request.get("name") or "", f"{field}.name")
    exactly, choices = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is None and not choices:
        return [*faults, required(field, _ONE)]
    if exactly is not None and choices:
        return [*faults, invalid(field, None, f"{_ONE}, but multiple fields are set")]
    if exactly is not None:
        return faults + _wanted_faults(exactly, f"{field}.exactly")
    names = [choice.get("name") or "" for choice in choices]
    return faults + unique(choices, names, _MOST_CHOICES, _choice_faults, f"{field}.firstAvailable")


def _choice_faults(choice: JSONObject, field: str) -> list[Cause]:
    return label_faults(choice.get("name") or "", f"{field}.name") + _wanted_faults(choice, field)


def _wanted_faults(wanted: JSONObject, field: str) -> list[Cause]:
    name, where = wanted.get("deviceClassName") or "", f"{field}.deviceClassName"
    faults = [invalid(where, name, why) for why in subdomain_faults(name)] if name else []
    if not name:
        faults.append(required(where))
    faults += each(wanted.get("selectors") or [], _MOST, _selector_faults, f"{field}.selectors")
    mode, count = wanted.get("allocationMode") or "", wanted.get("count") or 0
    if mode not in _MODES:
        faults.append(not_supported(f"{field}.allocationMode", mode, _MODES))
    elif mode == "All" and count:
        why = "must not be specified when allocationMode is 'All'"
        faults.append(invalid(f"{field}.count", count, why))
    elif mode == "ExactCount" and count <= 0:
        faults.append(invalid(f"{field}.count", count, "must be greater than zero"))
    tolerations = wanted.get("tolerations") or []
    for index, toleration in enumerate(tolerations):
        faults += _toleration_faults(toleration, f"{field}.tolerations[{index}]")
    return faults


def _selector_faults(selector: JSONObject, field: str) -> list[Cause]:
    if selector.get("cel") is None:
        return [required(f"{field}.cel")]
    text, where = selector["cel"].get("expression") or "", f"{field}.cel.expression"
    if len(text) > _LONGEST_EXPRESSION:
        return [too_long(where, _LONGEST_EXPRESSION)]
    return syntax_faults(text, where, ("device",))


def _toleration_faults(toleration: JSONObject, field: str) -> list[Cause]:
    key, value, operator, effect = (
        toleration.get(name) or "" for name in ("key", "value", "operator", "effect")
    )
    faults = key_faults(key, f"{field}.key") if key else []
    if operator not in _OPERATORS:
        faults.append(not_supported(f"{field}.operator", operator, _OPERATORS))
    elif operator == "Equal":
        faults += value_faults(value, f"{field}.value")
    elif value:
        faults.append(invalid(f"{field}.value", value, "must be empty for operator `Exists`"))
    return faults + effect_faults(effect, f"{field}.effect") if effect else faults


def _attribute_faults(constraint: JSONObject, field: str) -> list[Cause]:
    for name in ("matchAttribute", "distinctAttribute"):
        if constraint.get(name) is not None:
            return fully_qualified_faults(constraint[name], f"{field}.{name}")
    why = (
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields '
        "are set"
    )
    return [required(field, why)]


def _opaque_faults(config: JSONObject, field: str) -> list[Cause]:
    opaque, where = config.get("opaque"), f"{field}.opaque"
    if opaque is None:
        return [required(where)]
    faults = driver_faults(opaque.get("driver") or "", f"{where}.driver")
    parameters = opaque.get("parameters")
    if parameters is None:
        return [*faults, required(f"{where}.parameters")]
    if len(orjson.dumps(parameters)) > _LONGEST_PARAMETERS:
        return [*faults, too_long(f"{where}.parameters", _LONGEST_PARAMETERS)]
    if not isinstance(parameters, dict):
        why = "must be a valid JSON object"
        return [*faults, invalid(f"{where}.parameters", "<value omitted>", why)]
    return faults
