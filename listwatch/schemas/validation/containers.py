"""Faults of containers: names, images, ports, environment, mounts, probes, resources.

Upstream: pkg/apis/core/validation/validation.go, whose order of checks this keeps. The caller is
`validation.pods`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from listwatch.protocol.names import label_name_faults
from listwatch.schemas.validation.faults import (
    NEGATIVE,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from listwatch.schemas.validation.names import port_name_faults, port_number_faults
from listwatch.schemas.validation.resources import resource_requirement_faults

if TYPE_CHECKING:
    from collections.abc import Collection

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")


def container_list_faults(
    containers: list[JSONObject], field: str, volumes: Collection[str], names: set[str]
) -> list[Cause]:
    """Faults of a list of containers; `names` are those taken, and grow."""
    faults: list[Cause] = []
    for index, container in enumerate(containers):
        where = f"{field}[{index}]"
        faults += _container_faults(container, where, volumes)
        name = container.get("name")
        if name and name in names:
            faults.append(duplicate(f"{where}.name", name))
        elif name:
            names.add(name)
    return faults


def _container_faults(container: JSONObject, field: str, volumes: Collection[str]) -> list[Cause]:
    faults = _identity_faults(container, field)
    if "ports" in container:
        faults += _port_faults(container["ports"], f"{field}.ports")
    if "env" in container:
        faults += _environment_faults(container["env"], f"{field}.env")
    if "envFrom" in container:
        faults += _environment_source_faults(container["envFrom"], f"{field}.envFrom")
    if "volumeMounts" in container:
        faults += _mount_faults(container["volumeMounts"], f"{field}.volumeMounts", volumes)
    pull = container.get("imagePullPolicy", "Always")
    if pull not in _PULL_POLICIES:
        faults.append(not_supported(f"{field}.imagePullPolicy", pull, _PULL_POLICIES))
    if container.get("resources"):
        faults += resource_requirement_faults(container["resources"], f"{field}.resources")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in container:
            faults += _probe_faults(container[probe], f"{field}.{probe}")
            successes = container[probe].get("successThreshold", 1)
            if successes != 1 and probe != "readinessProbe":
                where = f"{field}.{probe}.successThreshold"
                faults.append(invalid(where, successes, "must be 1"))
    return faults


def _identity_faults(container: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    name, image = container.get("name"), container.get("image")
    if not name:
        faults.append(required(f"{field}.name"))
    else:
        faults += [invalid(f"{field}.name", name, why) for why in label_name_faults(name)]
    if not image:
        faults.append(required(f"{field}.image"))
    elif image != image.strip():
        why = "must not have leading or trailing whitespace"
        faults.append(invalid(f"{field}.image", image, why))
    policy = container.get("terminationMessagePolicy", "File")
    if policy not in _MESSAGE_POLICIES:
        faults.append(not_supported(f"{field}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    return faults


def _port_faults(ports: list[JSONObject], field: str) -> list[Cause]:
    faults: list[Cause] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        where = f"{field}[{index}]"
        name, number, host = port.get("name"), port.get("containerPort"), port.get("hostPort")
        if name:
            why = port_name_faults(name)
            faults += [invalid(f"{where}.name", name, text) for text in why]
            if not why and name in names:
                faults.append(duplicate(f"{where}.name", name))
            names.add(name)
        if not number:
            faults.append(required(f"{where}.containerPort"))
        else:
            faults += _number(number, f"{where}.containerPort")
        if host:
            faults += _number(host, f"{where}.hostPort")
        protocol = port.get("protocol")
        if not protocol:
            faults.append(required(f"{where}.protocol"))
        elif protocol not in PROTOCOLS:
            faults.append(not_supported(f"{where}.protocol", protocol, PROTOCOLS))
    return faults


def _number(port: int, field: str) -> list[Cause]:
    return [invalid(field, port, why) for why in port_number_faults(port)]


_VARIABLE_FAULT = (
    "a valid environment variable name must consist only of printable ASCII characters other "
    "than '='"
)
_ENV_SOURCES = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"


def _environment_faults(variables: list[JSONObject], field: str) -> list[Cause]:
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
            if not reference.get("key"):
                faults.append(required(f"{field}.{kind}.key"))
    if "fieldRef" in source and not source["fieldRef"].get("fieldPath"):
        faults.append(required(f"{field}.fieldRef.fieldPath"))
    if "resourceFieldRef" in source and not source["resourceFieldRef"].get("resource"):
        faults.append(required(f"{field}.resourceFieldRef.resource"))
    return faults


def _environment_source_faults(sources: list[JSONObject], field: str) -> list[Cause]:
    faults = []
    for index, source in enumerate(sources):
        where = f"{field}[{index}]"
        given = [kind for kind in ("configMapRef", "secretRef") if kind in source]
        faults += [
            required(f"{where}.{kind}.name") for kind in given if not source[kind].get("name")
        ]
        if not given:
            faults.append(invalid(where, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            why = "may not have more than one field specified at a time"
            faults.append(invalid(where, "", why))
    return faults


def _mount_faults(mounts: list[JSONObject], field: str, volumes: Collection[str]) -> list[Cause]:
    faults = []
    paths: set[str] = set()
    for index, mount in enumerate(mounts):
        where = f"{field}[{index}]"
        name, path, part = mount.get("name"), mount.get("mountPath"), mount.get("subPath")
        if not name:
            faults.append(required(f"{where}.name"))
        if name not in volumes:
            faults.append(not_found(f"{where}.name", name or ""))
        if not path:
            faults.append(required(f"{where}.mountPath"))
        elif path in paths:
            faults.append(invalid(f"{where}.mountPath", path, "must be unique"))
        paths.add(path or "")
        if part and part.startswith("/"):
            faults.append(invalid(f"{where}.subPath", part, "must be a relative path"))
        if part and ".." in part.split("/"):
            faults.append(invalid(f"{where}.subPath", part, "must not contain '..'"))
    return faults


_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_PROBE_NUMBERS = (
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
    "failureThreshold",
)  # fmt: skip


def _probe_faults(probe: JSONObject, field: str) -> list[Cause]:
    faults = []
    given = [kind for kind in _HANDLERS if kind in probe]
    faults += [
        forbidden(f"{field}.{kind}", "may not specify more than 1 handler type")
        for kind in given[1:]
    ]
    if not given:
        faults.append(required(field, "must specify a handler type"))
    else:
        faults += _handler_faults(given[0], probe[given[0]], f"{field}.{given[0]}")
    faults += [
        invalid(f"{field}.{name}", probe[name], NEGATIVE)
        for name in _PROBE_NUMBERS
        if probe.get(name, 0) < 0
    ]
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        why = "must be greater than 0"
        faults.append(invalid(f"{field}.terminationGracePeriodSeconds", grace, why))
    return faults


def _handler_faults(kind: str, handler: JSONObject, field: str) -> list[Cause]:
    if kind == "exec":
        return [] if handler.get("command") else [required(f"{field}.command")]
    faults = []
    if kind == "httpGet" and not handler.get("path"):
        faults.append(required(f"{field}.path"))
    faults += port_faults(handler.get("port", 0), f"{field}.port")
    if kind == "httpGet" and handler.get("scheme") not in ("HTTP", "HTTPS"):
        schemes = ("HTTP", "HTTPS")
        faults.append(not_supported(f"{field}.scheme", handler.get("scheme", ""), schemes))
    return faults


def port_faults(port: Any, field: str) -> list[Cause]:  # Any: a number or a name
    """Faults of a port that is a number or the name of one."""
    why = port_name_faults(port) if isinstance(port, str) else port_number_faults(port)
    return [invalid(field, port, text) for text in why]
