"""Faults of how a pod's containers run together: users, kernel, host, names, system.

Upstream: pkg/apis/core/validation/validation.go. Used by `validation.pods`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, qualified_name_faults, subdomain_faults
from listwatch.schemas.validation.faults import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.names import address_faults, search_faults
from listwatch.schemas.validation.pod_security import profile_faults

if TYPE_CHECKING:
    from collections.abc import Iterable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_IDS = ("fsGroup", "runAsUser", "runAsGroup")
_LARGEST_ID = (1 << 31) - 1
_SYSCTL = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_sysctl = re.compile(_SYSCTL)
_LONGEST_SYSCTL = 253
_SYSTEMS = ("linux", "windows")
_MOST_SERVERS, _MOST_SEARCHES, _SEARCHES_LENGTH = 3, 32, 2048
_CLAIMS = ("resourceClaimName", "resourceClaimTemplateName")
_SAME_PORT = "must match `containerPort` when `hostNetwork` is true"
_ONE_OF = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
}


def security_context_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of a pod's security context, which the flags for the host's namespaces belong to."""
    context = spec.get("securityContext") or {}
    where = f"{field}.securityContext"
    faults = [
        fault
        for name in _IDS
        if context.get(name) is not None
        for fault in id_faults(context[name], f"{where}.{name}")
    ]
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        faults += id_faults(group, f"{where}.supplementalGroups[{index}]")
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        faults.append(invalid(f"{where}.shareProcessNamespace", True, why))
    faults += _sysctl_faults(context.get("sysctls") or (), f"{where}.sysctls")
    faults += [
        not_supported(f"{where}.{name}", context[name], supported)
        for name, supported in _ONE_OF.items()
        if context.get(name) is not None and context[name] not in supported
    ]
    return faults + profile_faults(context, where)


def id_faults(number: int, field: str) -> list[Cause]:
    """Faults of the number of a user or a group."""
    if 0 <= number <= _LARGEST_ID:
        return []
    return [invalid(field, number, f"must be between 0 and {_LARGEST_ID}, inclusive")]


def _sysctl_faults(sysctls: Iterable[JSONObject], field: str) -> list[Cause]:
    faults: list[Cause] = []
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        where, name = f"{field}[{index}].name", sysctl.get("name") or ""
        if not name:
            faults.append(required(where))
        elif len(name) > _LONGEST_SYSCTL or not _sysctl.match(name):
            why = f"must have at most {_LONGEST_SYSCTL} characters and match regex {_SYSCTL}"
            faults.append(invalid(where, name, why))
        elif name in seen:
            faults.append(duplicate(where, name))
        seen.add(name)
    return faults


def dns_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of a pod's DNS configuration, which it must have where nobody else brings one."""
    config, where = spec.get("dnsConfig"), f"{field}.dnsConfig"
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(where, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(f"{where}.nameservers", why)]
    if config is None:
        return []
    faults: list[Cause] = []
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MOST_SERVERS:
        why = f"must not have more than {_MOST_SERVERS} nameservers"
        faults.append(invalid(f"{where}.nameservers", servers, why))
    for index, server in enumerate(servers):
        at = f"{where}.nameservers[{index}]"
        faults += [invalid(at, server, why) for why in address_faults(server)]
    if len(searches) > _MOST_SEARCHES:
        why = f"must not have more than {_MOST_SEARCHES} search paths"
        faults.append(invalid(f"{where}.searches", searches, why))
    if len(" ".join(searches)) > _SEARCHES_LENGTH:
        why = (
            f"must not have more than {_SEARCHES_LENGTH} characters (including spaces) in the "
            "search list"
        )
        faults.append(invalid(f"{where}.searches", searches, why))
    for index, search in enumerate(searches):
        name = search.removesuffix(".")
        at = f"{where}.searches[{index}]"
        faults += [invalid(at, name, why) for why in search_faults(name) if search != "."]
    faults += [
        required(f"{where}.options[{index}]", "must not be empty")
        for index, option in enumerate(config.get("options") or ())
        if not option.get("name")
    ]
    return faults


def host_alias_faults(aliases: list[JSONObject], field: str) -> list[Cause]:
    """Faults of the lines that a pod adds to its hosts file."""
    faults: list[Cause] = []
    for index, alias in enumerate(aliases):
        address = alias.get("ip") or ""
        faults += [invalid(f"{field}[{index}].ip", address, why) for why in address_faults(address)]
        for place, name in enumerate(alias.get("hostnames") or ()):
            where = f"{field}[{index}].hostnames[{place}]"
            faults += [invalid(where, name, why) for why in subdomain_faults(name)]
    return faults


def readiness_gate_faults(gates: list[JSONObject], field: str) -> list[Cause]:
    """Faults of the conditions that count for readiness."""
    return [
        invalid(f"{field}[{index}].conditionType", gate.get("conditionType") or "", why)
        for index, gate in enumerate(gates)
        for why in qualified_name_faults(gate.get("conditionType") or "")
    ]


def host_user_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of a pod with users of its own that wants other namespaces of the host."""
    if spec.get("hostUsers", True):
        return []
    # The odd spelling of two of them is upstream's.
    names = (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
    faults = [
        forbidden(f"{field}.{shown}", "when `hostUsers` is false")
        for name, shown in names
        if spec.get(name)
    ]
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        faults += [
            forbidden(f"{field}.{kind}[{index}].volumeDevices", "when `hostUsers` is false")
            for index, container in enumerate(spec.get(kind) or ())
            if container.get("volumeDevices")
        ]
    return faults


def claim_faults(claims: list[JSONObject], field: str) -> list[Cause]:
    """Faults of the resource claims of a pod: a name each, and one claim or template."""
    faults: list[Cause] = []
    names: set[str] = set()
    for index, claim in enumerate(claims):
        where, name = f"{field}[{index}]", claim.get("name") or ""
        if not name:
            faults.append(required(f"{where}.name"))
        elif name in names:
            faults.append(duplicate(f"{where}.name", name))
        else:
            faults += [invalid(f"{where}.name", name, why) for why in label_name_faults(name)]
        names.add(name)
        given = [kind for kind in _CLAIMS if claim.get(kind) is not None]
        if len(given) != 1:
            why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            if given:
                why = (
                    "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                    "specified"
                )
            shown = {"Name": name} | {f"{k[0].upper()}{k[1:]}": claim.get(k) for k in _CLAIMS}
            faults.append(invalid(where, shown, why))
        faults += [
            invalid(f"{where}.{kind}", claim[kind], why)
            for kind in given
            for why in subdomain_faults(claim[kind])
        ]
    return faults


def host_port_faults(spec: JSONObject, field: str) -> list[Cause]:
    """On the host's network a port of a container is one of the host."""
    if not spec.get("hostNetwork"):
        return []
    return [
        invalid(f"{field}.{kind}[{place}].ports[{index}].hostPort", port["hostPort"], _SAME_PORT)
        for kind in ("containers", "initContainers")
        for place, container in enumerate(spec.get(kind) or ())
        for index, port in enumerate(container.get("ports") or ())
        if port.get("hostPort") and port["hostPort"] != port.get("containerPort")
    ]


def system_faults(system: JSONObject, field: str) -> list[Cause]:
    """Faults of the operating system that a pod is for."""
    name = system.get("name")
    if not name:
        return [required(f"{field}.name")]
    return [] if name in _SYSTEMS else [not_supported(field, name, _SYSTEMS)]
