"""Faults of a container's environment: names of variables, and where their values come from.

Upstream: pkg/apis/core/validation/validation.go. Used by `validation.containers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import subdomain_faults
from listwatch.schemas.validation.faults import invalid, not_supported, required
from listwatch.schemas.validation.names import config_key_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_VARIABLE_FAULT = (
    "a valid environment variable name must consist only of printable ASCII characters other "
    "than '='"
)
_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_RESOURCES = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
    "requests.ephemeral-storage", "requests.memory",
)  # fmt: skip
_SUBSCRIPTED = ("metadata.annotations", "metadata.labels")
_ENV_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"


def environment_faults(variables: list[JSONObject], field: str) -> list[Cause]:
    """Faults of a list of variables."""
    faults: list[Cause] = []
    for index, variable in enumerate(variables):
        where = f"{field}[{index}]"
        name = variable.get("name")
        if not name:
            faults.append(required(f"{where}.name"))
        elif not name.isascii() or not name.isprintable() or "=" in name:
            faults.append(invalid(f"{where}.name", name, _VARIABLE_FAULT))
        source = variable.get("valueFrom")
        if source is not None:
            faults += _value_source_faults(source, f"{where}.valueFrom", variable.get("value"))
    return faults


def _value_source_faults(source: JSONObject, field: str, value: str | None) -> list[Cause]:
    faults = []
    if value:
        if source:
            faults.append(invalid(field, "", "may not be specified when `value` is not empty"))
    elif not source:
        faults.append(invalid(field, "", f"must specify one of: {_ENV_SOURCES}"))
    elif len(source) > 1:
        faults.append(invalid(field, "", "may not have more than one field specified at a time"))
    for kind in ("configMapKeyRef", "secretKeyRef"):
        reference = source.get(kind)
        if reference is not None:
            if not reference.get("name"):
                faults.append(required(f"{field}.{kind}.name"))
            else:
                name = reference["name"]
                faults += [
                    invalid(f"{field}.{kind}.name", name, why) for why in subdomain_faults(name)
                ]
            key = reference.get("key")
            if not key:
                faults.append(required(f"{field}.{kind}.key"))
            else:
                faults += [
                    invalid(f"{field}.{kind}.key", key, why) for why in config_key_faults(key)
                ]
    if "fieldRef" in source:
        faults += _field_reference_faults(source["fieldRef"], f"{field}.fieldRef")
    if "resourceFieldRef" in source:
        faults += resource_reference_faults(source["resourceFieldRef"], f"{field}.resourceFieldRef")
    return faults


def resource_reference_faults(reference: JSONObject, field: str) -> list[Cause]:
    """Faults of what names a container's request or limit."""
    resource = reference.get("resource")
    if not resource:
        return [required(f"{field}.resource")]
    known = resource in _RESOURCES or resource.startswith(("limits.huge", "requests.huge"))
    return [] if known else [not_supported(f"{field}.resource", resource, _RESOURCES)]


def _field_reference_faults(reference: JSONObject, field: str) -> list[Cause]:
    return field_reference_faults(reference, field, _FIELDS)


def field_reference_faults(
    reference: JSONObject, field: str, fields: tuple[str, ...], *, whole: bool = False
) -> list[Cause]:
    """Faults of what names a field of the pod; `whole` maps of labels or notes may be named too."""
    path = reference.get("fieldPath")
    if not path:
        return [required(f"{field}.fieldPath")]
    name, bracket, _ = path.partition("[")
    if (bracket and name in _SUBSCRIPTED) or path in fields:
        return []
    if path in _SUBSCRIPTED:
        return [] if whole else [not_supported(f"{field}.fieldPath", path, fields)]
    if path in _FIELDS:
        return [not_supported(f"{field}.fieldPath", path, fields)]
    why = f"error converting fieldPath: field label not supported: {path}"
    return [invalid(f"{field}.fieldPath", path, why)]


def environment_source_faults(sources: list[JSONObject], field: str) -> list[Cause]:
    """Faults of what all variables are taken from."""
    faults: list[Cause] = []
    for index, source in enumerate(sources):
        where = f"{field}[{index}]"
        given = [kind for kind in ("configMapRef", "secretRef") if kind in source]
        for kind in given:
            name = source[kind].get("name")
            if not name:
                faults.append(required(f"{where}.{kind}.name"))
                continue
            faults += [invalid(f"{where}.{kind}.name", name, why) for why in subdomain_faults(name)]
        if not given:
            faults.append(invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            why = "may not have more than one field specified at a time"
            faults.append(invalid(field, "", why))
    return faults
