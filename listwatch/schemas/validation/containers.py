"""Faults of containers: names, images, ports, environment, mounts, probes, resources.

Upstream: pkg/apis/core/validation/validation.go, whose order of checks this keeps. The caller is
`validation.pods`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults
from listwatch.schemas.validation.environment import (
    environment_faults,
    environment_source_faults,
)
from listwatch.schemas.validation.faults import (
    chosen,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from listwatch.schemas.validation.names import port_name_faults, port_number_faults
from listwatch.schemas.validation.paths import descending_path_faults
from listwatch.schemas.validation.pod_security import container_security_faults
from listwatch.schemas.validation.pod_settings import id_faults
from listwatch.schemas.validation.probes import lifecycle_faults, probe_faults
from listwatch.schemas.validation.resources import resource_requirement_faults
from listwatch.schemas.validation.restarts import restart_faults

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")
PROTOCOLS = ("SCTP", "TCP", "UDP")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")


def container_list_faults(
    spec: JSONObject, kind: str, field: str, volumes: Collection[str], names: set[str]
) -> list[Cause]:
    """Faults of a pod's containers of one kind; `names` are those taken, and grow."""
    faults: list[Cause] = []
    grace, host_users = spec.get("terminationGracePeriodSeconds"), spec.get("hostUsers", True)
    for index, container in enumerate(spec[kind]):
        where = f"{field}.{kind}[{index}]"
        faults += _container_faults(container, where, volumes, host_users=host_users)
        if kind == "initContainers":
            faults += _initial_faults(container, where, grace)
        elif kind == "containers":
            faults += _life_faults(container, where, grace)
        if kind != "ephemeralContainers":
            faults += restart_faults(container, where)
        name = container.get("name")
        if name and name in names:
            faults.append(duplicate(f"{where}.name", name))
        elif name:
            names.add(name)
    return faults


def _container_faults(
    container: JSONObject, field: str, volumes: Collection[str], *, host_users: bool
) -> list[Cause]:
    faults = _identity_faults(container, field)
    if "ports" in container:
        faults += _port_faults(container["ports"], f"{field}.ports")
    if "env" in container:
        faults += environment_faults(container["env"], f"{field}.env")
    if "envFrom" in container:
        faults += environment_source_faults(container["envFrom"], f"{field}.envFrom")
    if "volumeMounts" in container:
        faults += _mount_faults(container["volumeMounts"], f"{field}.volumeMounts", volumes)
    if "volumeDevices" in container:
        faults += _device_faults(container, f"{field}.volumeDevices", volumes)
    pull = container.get("imagePullPolicy", "Always")
    if pull not in _PULL_POLICIES:
        faults.append(not_supported(f"{field}.imagePullPolicy", pull, _PULL_POLICIES))
    if container.get("resources"):
        faults += resource_requirement_faults(container["resources"], f"{field}.resources")
    faults += _resize_policy_faults(container.get("resizePolicy") or (), f"{field}.resizePolicy")
    context = container.get("securityContext") or {}
    faults += _user_faults(context, field)
    where = f"{field}.securityContext"
    return faults + container_security_faults(context, where, host_users=host_users)


def _life_faults(container: JSONObject, field: str, grace: int | None) -> list[Cause]:
    """Faults of what is asked of a container, and done with it, while it lives."""
    faults: list[Cause] = []
    if container.get("lifecycle") is not None:
        faults += lifecycle_faults(container["lifecycle"], f"{field}.lifecycle", grace)
    for probe in _PROBES:
        if probe in container:
            faults += probe_faults(container[probe], f"{field}.{probe}")
            successes = container[probe].get("successThreshold", 1)
            if successes != 1 and probe != "readinessProbe":
                where = f"{field}.{probe}.successThreshold"
                faults.append(invalid(where, successes, "must be 1"))
    return faults


def _initial_faults(container: JSONObject, field: str, grace: int | None) -> list[Cause]:
    """The same of one that runs before the others, and ends, unless it is a sidecar."""
    if container.get("restartPolicy") == "Always":
        return _life_faults(container, field, grace)
    why = "may not be set for init containers without restartPolicy=Always"
    return [
        forbidden(f"{field}.{name}", why)
        for name in ("lifecycle", *_PROBES)
        if container.get(name) is not None
    ]


def _device_faults(container: JSONObject, field: str, volumes: Collection[str]) -> list[Cause]:
    faults: list[Cause] = []
    mounts = container.get("volumeMounts") or ()
    names, paths = {m.get("name") for m in mounts}, {m.get("mountPath") for m in mounts}
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    for index, device in enumerate(container["volumeDevices"]):
        where, name = f"{field}[{index}]", device.get("name") or ""
        path = device.get("devicePath") or ""
        if not name:
            faults.append(required(f"{where}.name"))
        if name in seen_names:
            faults.append(invalid(f"{where}.name", name, "must be unique"))
        if name not in volumes:
            faults.append(not_found(f"{where}.name", name))
        if not path:
            faults.append(required(f"{where}.devicePath"))
        if path in seen_paths:
            faults.append(invalid(f"{where}.devicePath", path, "must be unique"))
        if ".." in path.split("/"):
            why = "can not contain backsteps ('..')"
            faults.append(invalid(f"{where}.devicePath", path, why))
        if name in names:
            faults.append(invalid(f"{where}.name", name, "must not already exist in volumeMounts"))
        if path in paths:
            why = "must not already exist as a path in volumeMounts"
            faults.append(invalid(f"{where}.devicePath", path, why))
        seen_names.add(name)
        seen_paths.add(path)
    return faults


def _resize_policy_faults(policies: Iterable[JSONObject], field: str) -> list[Cause]:
    faults: list[Cause] = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        resource, restart = policy.get("resourceName"), policy.get("restartPolicy")
        faults += chosen(resource, field, ("cpu", "memory"))
        faults += chosen(restart, field, _RESIZE_POLICIES)
        if resource in seen:
            faults.append(duplicate(f"{field}[{index}]", resource))
        seen.add(resource or "")
    return faults


def _user_faults(context: JSONObject, field: str) -> list[Cause]:
    return [
        fault
        for name in ("runAsUser", "runAsGroup")
        if context.get(name) is not None
        for fault in id_faults(context[name], f"{field}.securityContext.{name}")
    ]


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
        spread = mount.get("mountPropagation")
        if spread is not None and spread not in _PROPAGATIONS:
            faults.append(not_supported(f"{field}.mountPropagation", spread, _PROPAGATIONS))
        if part:
            faults += descending_path_faults(part, f"{where}.subPath")
    return faults
