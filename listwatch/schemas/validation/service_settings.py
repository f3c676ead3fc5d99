"""Faults of how a service is reached: from outside, over which addresses, by which endpoints.

Upstream: pkg/apis/core/validation/validation.go. Used by `validation.networking`.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from listwatch.protocol.names import qualified_name_faults
from listwatch.schemas.validation.faults import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
)
from listwatch.schemas.validation.names import address_faults, port_number_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_BALANCER = "LoadBalancer"
_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"
_LONGEST_AFFINITY = 86_400
_ONE_OF = {
    "ipFamilyPolicy": ("PreferDualStack", "RequireDualStack", "SingleStack"),
    "internalTrafficPolicy": ("Cluster", "Local"),
    "trafficDistribution": ("PreferClose", "PreferSameZone", "PreferSameNode"),
}
_FAMILIES = ("IPv4", "IPv6")
_TRAFFIC_POLICIES = ("Cluster", "Local")


def affinity_faults(spec: JSONObject) -> list[Cause]:
    """Faults of how long a client stays with one endpoint."""
    config, field = spec.get("sessionAffinityConfig"), "spec.sessionAffinityConfig"
    if spec.get("sessionAffinity") == "None" and config is not None:
        return [forbidden(field, "must not be set when session affinity is None")]
    if spec.get("sessionAffinity") != "ClientIP" or config is None:
        return []
    seconds = (config.get("clientIP") or {}).get("timeoutSeconds")
    if seconds is None or 0 < seconds <= _LONGEST_AFFINITY:
        return []
    why = f"must be greater than 0 and less than {_LONGEST_AFFINITY}"
    return [invalid(f"{field}.clientIP.timeoutSeconds", seconds, why)]


def address_settings_faults(spec: JSONObject) -> list[Cause]:
    """Faults of the families of a service's addresses, and of these where they were asked for."""
    if spec.get("type") == "ExternalName":
        return []
    faults: list[Cause] = []
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _ONE_OF["ipFamilyPolicy"]:
        faults.append(not_supported("spec.ipFamilyPolicy", policy, _ONE_OF["ipFamilyPolicy"]))
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in _FAMILIES:
            faults.append(not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES))
    addresses = spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else [])
    if addresses == ["None"]:
        return faults
    return faults + [
        invalid(f"spec.clusterIPs[{index}]", address, why)
        for index, address in enumerate(addresses)
        for why in address_faults(address)
    ]


def external_address_faults(spec: JSONObject) -> list[Cause]:
    """Faults of the addresses outside at which a service is reached."""
    return [
        invalid(f"spec.externalIPs[{index}]", address, why)
        for index, address in enumerate(spec.get("externalIPs") or ())
        for why in address_faults(address)
    ]


def node_port_faults(spec: JSONObject) -> list[Cause]:
    """Faults of the ports that every node opens for a service."""
    ports = [
        (f"spec.ports[{index}].nodePort", port.get("protocol"), port.get("nodePort") or 0)
        for index, port in enumerate(spec.get("ports") or ())
    ]
    if spec.get("type") == "ClusterIP":
        why = "may not be used when `type` is 'ClusterIP'"
        return [forbidden(field, why) for field, _, number in ports if number]
    seen: set[tuple[str | None, int]] = set()
    faults = []
    for field, protocol, number in ports:
        if number and (protocol, number) in seen:
            faults.append(duplicate(field, number))
        seen.add((protocol, number))
    return faults


def balancer_faults(spec: JSONObject) -> list[Cause]:
    """Faults of what only a load balancer can do."""
    faults: list[Cause] = []
    balanced, ranges = spec.get("type") == _BALANCER, spec.get("loadBalancerSourceRanges") or ()
    if ranges and not balanced:
        faults.append(forbidden("spec.LoadBalancerSourceRanges", _BALANCER_ONLY))
    for index, text in enumerate(ranges):
        field = f"spec.LoadBalancerSourceRanges[{index}]"
        faults += [invalid(field, text.strip(), why) for why in _network_faults(text.strip())]
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        faults.append(forbidden("spec.allocateLoadBalancerNodePorts", _BALANCER_ONLY))
    name = spec.get("loadBalancerClass")
    if name is not None:
        if not balanced:
            faults.append(forbidden("spec.loadBalancerClass", _BALANCER_ONLY))
        else:
            faults += [
                invalid("spec.loadBalancerClass", name, why) for why in qualified_name_faults(name)
            ]
    return faults


def traffic_faults(spec: JSONObject) -> list[Cause]:
    """Faults of which endpoints get what comes from outside, and from inside."""
    faults: list[Cause] = []
    policy, kind = spec.get("externalTrafficPolicy") or "", spec.get("type")
    outside = kind in ("NodePort", _BALANCER) or (kind == "ClusterIP" and spec.get("externalIPs"))
    if not outside and policy:
        why = "may only be set for externally-accessible services"
        faults.append(invalid("spec.externalTrafficPolicy", policy, why))
    elif outside and policy not in _TRAFFIC_POLICIES:
        faults.append(not_supported("spec.externalTrafficPolicy", policy, _TRAFFIC_POLICIES))
    port = spec.get("healthCheckNodePort")
    if port and not (kind == _BALANCER and policy == "Local"):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        faults.append(invalid("spec.healthCheckNodePort", port, why))
    elif port:
        faults += [
            invalid("spec.healthCheckNodePort", port, why) for why in port_number_faults(port)
        ]
    for name in ("internalTrafficPolicy", "trafficDistribution"):
        value = spec.get(name)
        if value is not None and value not in _ONE_OF[name]:
            faults.append(not_supported(f"spec.{name}", value, _ONE_OF[name]))
    return faults


def _network_faults(text: str) -> list[str]:
    try:
        interface = ipaddress.ip_interface(text)
    except ValueError:
        interface = None
    if interface is None or "/" not in text:
        return ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]
    if interface.ip != interface.network.network_address:
        return ["must not have bits set beyond the prefix length"]
    return []
