"""Faults of services and of where they lead: endpoints and endpoint slices.

Upstream: pkg/apis/core/validation/validation.go, pkg/apis/discovery/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from listwatch.protocol.names import (
    label_name_faults,
    label_value_faults,
    qualified_name_faults,
    subdomain_faults,
)
from listwatch.schemas.validation import service_settings as settings
from listwatch.schemas.validation.containers import PROTOCOLS
from listwatch.schemas.validation.faults import (
    IMMUTABLE,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_many,
)
from listwatch.schemas.validation.metadata import label_faults
from listwatch.schemas.validation.names import port_number_faults
from listwatch.schemas.validation.probes import port_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES = ("ClientIP", "None")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_ADDRESS = "must be a valid IP address"


def service_faults(document: JSONObject) -> list[Cause]:
    """Faults of a Service by itself."""
    spec = document.get("spec") or {}
    kind, ports = spec.get("type", ""), spec.get("ports") or []
    headless = spec.get("clusterIP") == "None"
    faults: list[Cause] = []
    if not ports and not headless and kind != "ExternalName":
        faults.append(required("spec.ports"))
    if kind == "ExternalName":
        faults += _external_name(spec)
    elif headless and kind in ("NodePort", "LoadBalancer"):
        why = f"may not be set to 'None' for {kind} services"
        faults.append(invalid("spec.clusterIPs[0]", "None", why))
    faults += _service_ports(ports)
    if "selector" in spec:
        faults += label_faults(spec["selector"], "spec.selector")
    affinity = spec.get("sessionAffinity", "")
    if not affinity:
        faults.append(required("spec.sessionAffinity"))
    elif affinity not in _AFFINITIES:
        faults.append(not_supported("spec.sessionAffinity", affinity, _AFFINITIES))
    faults += settings.affinity_faults(spec) + settings.address_settings_faults(spec)
    faults += settings.external_address_faults(spec)
    if not kind:
        faults.append(required("spec.type"))
    elif kind not in _TYPES:
        faults.append(not_supported("spec.type", kind, _TYPES))
    faults += settings.node_port_faults(spec) + settings.balancer_faults(spec)
    return faults + settings.traffic_faults(spec)


def _external_name(spec: JSONObject) -> list[Cause]:
    faults = [
        forbidden(f"spec.{field}", "may not be set when `type` is 'ExternalName'")
        for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
        if spec.get(field)
    ]
    name = spec.get("externalName", "").rstrip(".")
    if not name:
        return [*faults, required("spec.externalName")]
    return faults + [invalid("spec.externalName", name, why) for why in subdomain_faults(name)]


def _service_ports(ports: list[JSONObject]) -> list[Cause]:
    faults: list[Cause] = []
    names: set[str] = set()
    numbers: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        field = f"spec.ports[{index}]"
        name, number, protocol = port.get("name"), port.get("port", 0), port.get("protocol", "")
        if name:
            why = label_name_faults(name)
            faults += [invalid(f"{field}.name", name, text) for text in why]
            if not why and name in names:
                faults.append(duplicate(f"{field}.name", name))
            names.add(name)
        elif len(ports) > 1:
            faults.append(required(f"{field}.name"))
        faults += [invalid(f"{field}.port", number, why) for why in port_number_faults(number)]
        if not protocol:
            faults.append(required(f"{field}.protocol"))
        elif protocol not in PROTOCOLS:
            faults.append(not_supported(f"{field}.protocol", protocol, PROTOCOLS))
        faults += port_faults(port.get("targetPort", number), f"{field}.targetPort")
        application = port.get("appProtocol")
        if application is not None:
            where = f"{field}.appProtocol"
            faults += [
                invalid(where, application, why) for why in qualified_name_faults(application)
            ]
        if (protocol, number) in numbers:
            faults.append(duplicate(field, {"protocol": protocol, "port": number}))
        numbers.add((protocol, number))
    return faults


def endpoints_faults(document: JSONObject) -> list[Cause]:
    """Faults of Endpoints by themselves."""
    faults: list[Cause] = []
    for index, subset in enumerate(document.get("subsets") or ()):
        field = f"subsets[{index}]"
        ready, others = subset.get("addresses") or [], subset.get("notReadyAddresses") or []
        if not ready and not others:
            why = "must specify `addresses` or `notReadyAddresses`"
            faults.append(required(field, why))
        for name, addresses in (("addresses", ready), ("notReadyAddresses", others)):
            for place, address in enumerate(addresses):
                faults += _endpoint_address(address, f"{field}.{name}[{place}]")
        ports = subset.get("ports") or []
        for place, port in enumerate(ports):
            faults += _endpoint_port(port, f"{field}.ports[{place}]", named=len(ports) > 1)
    return faults


def _endpoint_address(address: JSONObject, field: str) -> list[Cause]:
    text = address.get("ip", "")
    faults = _address_faults(text, f"{field}.ip")
    if address.get("hostname"):
        name = address["hostname"]
        faults += [invalid(f"{field}.hostname", name, why) for why in label_name_faults(name)]
    node = address.get("nodeName")
    if node is not None:
        faults += [invalid(f"{field}.nodeName", node, why) for why in subdomain_faults(node)]
    return faults


def _address_faults(text: str, field: str) -> list[Cause]:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        # Upstream asks two functions, the second of which knows no examples.
        example = f"{_ADDRESS}, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        return [invalid(field, text, example), invalid(field, text, _ADDRESS)]
    checks = (
        (address.is_unspecified, f"may not be unspecified ({text})"),
        (address.is_loopback, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
        (
            address.is_link_local,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            address.is_multicast and _link_local_multicast(address),
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
    )
    return [invalid(field, text, why) for holds, why in checks if holds]


def _link_local_multicast(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    network = "224.0.0.0/24" if address.version == 4 else "ff02::/16"
    return address in ipaddress.ip_network(network)


def _endpoint_port(port: JSONObject, field: str, *, named: bool) -> list[Cause]:
    faults: list[Cause] = []
    name, number, protocol = port.get("name"), port.get("port", 0), port.get("protocol", "")
    if named and not name:
        faults.append(required(f"{field}.name"))
    elif name:
        faults += [invalid(f"{field}.name", name, why) for why in label_name_faults(name)]
    faults += [invalid(f"{field}.port", number, why) for why in port_number_faults(number)]
    if not protocol:
        faults.append(required(f"{field}.protocol"))
    elif protocol not in PROTOCOLS:
        faults.append(not_supported(f"{field}.protocol", protocol, PROTOCOLS))
    return faults


_MOST_ENDPOINTS = 1000
_MOST_PORTS = 100
_MOST_ADDRESSES = 100


def endpoint_slice_faults(document: JSONObject) -> list[Cause]:
    """Faults of an EndpointSlice by itself."""
    kind = document.get("addressType", "")
    faults: list[Cause] = []
    if not kind:
        faults.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        faults.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    endpoints, ports = document.get("endpoints") or [], document.get("ports") or []
    if len(endpoints) > _MOST_ENDPOINTS:
        return [*faults, too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)]
    for index, endpoint in enumerate(endpoints):
        faults += _slice_endpoint(endpoint, f"endpoints[{index}]", kind)
    if len(ports) > _MOST_PORTS:
        return [*faults, too_many("ports", len(ports), _MOST_PORTS)]
    return faults + _slice_ports(ports)


def _slice_endpoint(endpoint: JSONObject, field: str, kind: str) -> list[Cause]:
    addresses = endpoint.get("addresses") or []
    if not addresses:
        return [required(f"{field}.addresses", "must contain at least 1 address")]
    if len(addresses) > _MOST_ADDRESSES:
        return [too_many(f"{field}.addresses", len(addresses), _MOST_ADDRESSES)]
    faults: list[Cause] = []
    for index, address in enumerate(addresses):
        where = f"{field}.addresses[{index}]"
        if kind == "FQDN":
            faults += [invalid(where, address, why) for why in subdomain_faults(address)]
        elif kind in ("IPv4", "IPv6"):
            faults += _slice_address(address, where, 4 if kind == "IPv4" else 6)
    for name, rule in (("hostname", label_name_faults), ("nodeName", subdomain_faults)):
        value = endpoint.get(name)
        if value is not None:
            faults += [invalid(f"{field}.{name}", value, why) for why in rule(value)]
    zones: set[str] = set()
    for index, zone in enumerate((endpoint.get("hints") or {}).get("forZones") or ()):
        where, name = f"{field}.hints.forZones[{index}].name", zone.get("name") or ""
        if name in zones:
            faults.append(duplicate(where, name))
        zones.add(name)
        faults += [invalid(where, name, why) for why in label_value_faults(name)]
    return faults


def _slice_address(text: str, field: str, version: int) -> list[Cause]:
    try:
        fits = ipaddress.ip_address(text).version == version
    except ValueError:
        fits = False
    if not fits:
        return [invalid(field, text, f"must be an IPv{version} address")]
    return _address_faults(text, field)


def _slice_ports(ports: list[JSONObject]) -> list[Cause]:
    faults: list[Cause] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        field, name = f"ports[{index}]", port.get("name") or ""
        if name:
            faults += [invalid(f"{field}.name", name, why) for why in label_name_faults(name)]
        if name in names:
            faults.append(duplicate(f"{field}.name", name))
        names.add(name)
        application = port.get("appProtocol")
        if application is not None:
            why = qualified_name_faults(application)
            faults += [invalid(f"{field}.appProtocol", application, text) for text in why]
        protocol = port.get("protocol", "")  # the number, upstream, may be any
        if not protocol:
            faults.append(required(f"{field}.protocol"))
        elif protocol not in PROTOCOLS:
            faults.append(not_supported(f"{field}.protocol", protocol, PROTOCOLS))
    return faults


def endpoint_slice_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What kind of addresses a slice holds stays as it is."""
    kind = new.get("addressType", "")
    return [] if kind == old.get("addressType") else [invalid("addressType", kind, IMMUTABLE)]
