"""Faults of what a value is taken from: a field of the pod, a resource, a key, a file.

Upstream: pkg/apis/core/validation/validation.go. Used by `environment`, `volumes` and `pods`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, qualified_name_faults, subdomain_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.faults import invalid, not_found, not_supported, required
from listwatch.schemas.validation.names import config_key_faults, variable_faults
from listwatch.schemas.validation.paths import backstep_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_RESOURCES = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
    "requests.ephemeral-storage", "requests.memory",
)  # fmt: skip
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_SUBSCRIPTED = ("metadata.annotations", "metadata.labels")
# What can be named, though not everywhere; the last is an old name of `spec.nodeName`.
_LABELS = frozenset((
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
    "metadata.uid", "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName",
    "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs", "status.podIP",
    "status.podIPs", "spec.host",
))  # fmt: skip
_OF_CPU = ["1m", "1"]
_OF_BYTES = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"]
# By what a resource can be divided, and how upstream calls it.
_DIVISORS = {
    "cpu": (_OF_CPU, " and ", "cpu"),
    "memory": (_OF_BYTES, ", ", "memory"),
    "ephemeral-storage": (_OF_BYTES, ", ", "local ephemeral storage"),
    "hugepages": (_OF_BYTES, ", ", "hugepages"),
}


def key_reference_faults(reference: JSONObject, field: str) -> list[Cause]:
    """Faults of what names a key of a config map or a secret."""
    name, key = reference.get("name") or "", reference.get("key")
    faults = [invalid(f"{field}.name", name, why) for why in subdomain_faults(name)]
    if not key:
        return [*faults, required(f"{field}.key")]
    return faults + [invalid(f"{field}.key", key, why) for why in config_key_faults(key)]


def file_reference_faults(reference: JSONObject, field: str) -> list[Cause]:
    """Faults of what names a variable in a file of a volume."""
    faults: list[Cause] = []
    for name, rule in (("key", variable_faults), ("volumeName", label_name_faults)):
        value, where = reference.get(name), f"{field}.{name}"
        if value:
            faults += [invalid(where, value, why) for why in rule(value)]
        else:
            faults.append(required(where))
    path, where = reference.get("path"), f"{field}.path"
    return faults + (backstep_faults(path, where) if path else [required(where)])


def file_volume_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of the volumes that a pod's variables are taken from: each is an empty directory."""
    volumes = {volume.get("name") or "": volume for volume in spec.get("volumes") or ()}
    faults: list[Cause] = []
    for name, where in _file_volumes(spec, field):
        if name not in volumes:
            faults.append(not_found(where, name))
        elif volumes[name].get("emptyDir") is None:
            faults.append(invalid(where, name, "referenced volume must be of type emptyDir"))
    return faults


def _file_volumes(spec: JSONObject, field: str) -> Iterator[tuple[str, str]]:
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            for place, variable in enumerate(container.get("env") or ()):
                reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
                if reference is not None:
                    where = f"{field}.{kind}[{index}].env[{place}].valueFrom.fileKeyRef.volumeName"
                    yield reference.get("volumeName") or "", where


def resource_reference_faults(
    reference: JSONObject, field: str, *, volume: bool = False
) -> list[Cause]:
    """Faults of what names a container's request or limit; a `volume` has to name the container."""
    resource = reference.get("resource") or ""
    faults = _divisor(resource, reference.get("divisor") or "0", f"{field}.divisor")
    if volume and not reference.get("containerName"):
        return [required(f"{field}.containerName"), *faults]
    if not resource:
        return [required(f"{field}.resource"), *faults]
    if resource in _RESOURCES or resource.startswith(_HUGE_PAGES):
        return faults
    return [not_supported(f"{field}.resource", resource, _RESOURCES), *faults]


def _divisor(resource: str, divisor: str, field: str) -> list[Cause]:
    known = resource in _RESOURCES or resource.startswith(_HUGE_PAGES)
    if not known or not Quantity.parse(divisor):
        return []
    kind = "hugepages" if resource.startswith(_HUGE_PAGES) else resource.partition(".")[2]
    values, joint, called = _DIVISORS[kind]
    if divisor in values:
        return []
    names = joint.join(values)
    why = f"only divisor's values {names} are supported with the {called} resource"
    return [invalid(field, resource, why)]


def field_reference_faults(
    reference: JSONObject, field: str, fields: tuple[str, ...]
) -> list[Cause]:
    """Faults of what names a field of the pod, one of a few."""
    path, where = reference.get("fieldPath") or "", f"{field}.fieldPath"
    version = reference.get("apiVersion") or "v1"
    if not path:
        return [required(where)]
    name, bracket, rest = path.partition("['")
    subscript = rest.removesuffix("']") if name and bracket and rest.endswith("']") else None
    why = ""
    if version != "v1":
        why = f"unsupported pod version: {version}"
    elif subscript is not None and name not in _SUBSCRIPTED:
        why = f"field label does not support subscript: {path}"
    elif subscript is None and path not in _LABELS:
        why = f"field label not supported: {path}"
    if why:
        return [invalid(where, path, f"error converting fieldPath: {why}")]
    if subscript is not None:
        if name == "metadata.annotations":
            subscript = subscript.lower()
        return [invalid(field, subscript, text) for text in qualified_name_faults(subscript)]
    path = "spec.nodeName" if path == "spec.host" else path
    return [] if path in fields else [not_supported(where, path, fields)]
