"""Faults of a container's environment: names of variables, and where their values come from.

Upstream: pkg/apis/core/validation/validation.go. Used by `validation.containers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import invalid, required
from listwatch.schemas.validation.names import name_faults, variable_faults
from listwatch.schemas.validation.references import (
    field_reference_faults,
    file_reference_faults,
    key_reference_faults,
    resource_reference_faults,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_ENV_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"


def environment_faults(variables: list[JSONObject], field: str) -> list[Cause]:
    """Faults of a list of variables."""
    faults: list[Cause] = []
    for index, variable in enumerate(variables):
        where = f"{field}[{index}]"
        name = variable.get("name")
        if not name:
            faults.append(required(f"{where}.name"))
        else:
            faults += [invalid(f"{where}.name", name, why) for why in variable_faults(name)]
        source = variable.get("valueFrom")
        if source is not None:
            faults += _value_source_faults(source, f"{where}.valueFrom", variable.get("value"))
    return faults


_SOURCES: dict[str, Callable[[JSONObject, str], list[Cause]]] = {
    "fieldRef": lambda reference, field: field_reference_faults(reference, field, _FIELDS),
    "resourceFieldRef": resource_reference_faults,
    "configMapKeyRef": key_reference_faults,
    "secretKeyRef": key_reference_faults,
    "fileKeyRef": file_reference_faults,
}


def _value_source_faults(source: JSONObject, field: str, value: str | None) -> list[Cause]:
    given = [kind for kind in _SOURCES if source.get(kind) is not None]
    faults = [fault for kind in given for fault in _SOURCES[kind](source[kind], f"{field}.{kind}")]
    if not given:
        faults.append(invalid(field, "", f"must specify one of: {_ENV_SOURCES}"))
    elif value:
        faults.append(invalid(field, "", "may not be specified when `value` is not empty"))
    elif len(given) > 1:
        faults.append(invalid(field, "", "may not have more than one field specified at a time"))
    return faults


def environment_source_faults(sources: list[JSONObject], field: str) -> list[Cause]:
    """Faults of what all variables are taken from."""
    faults: list[Cause] = []
    for index, source in enumerate(sources):
        where = f"{field}[{index}]"
        given = [kind for kind in ("configMapRef", "secretRef") if kind in source]
        prefix = source.get("prefix") or ""
        if prefix:
            faults += [invalid(f"{where}.prefix", prefix, why) for why in variable_faults(prefix)]
        for kind in given:
            name = source[kind].get("name")
            if not name:
                faults.append(required(f"{where}.{kind}.name"))
                continue
            # Upstream judges the name as the beginning of one.
            found = name_faults("", "Secret", name, prefix=True)
            faults += [invalid(f"{where}.{kind}.name", name, why) for why in found]
        if not given:
            faults.append(invalid(field, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            why = "may not have more than one field specified at a time"
            faults.append(invalid(field, "", why))
    return faults
