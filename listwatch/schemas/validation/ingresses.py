"""Faults of ingresses, network policies, and of the addresses that services get.

Upstream: pkg/apis/networking/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults
from listwatch.schemas.validation.faults import (
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from listwatch.schemas.validation.names import (
    path_segment_faults,
    port_name_faults,
    port_number_faults,
)
from listwatch.schemas.validation.selectors import selector_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDS = ("/..", "/.")
_WILDCARD = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WILDCARD_FAULT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which "
    "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
    f"character (e.g. '*.example.com', regex used for validation is '{_WILDCARD}')"
)
_CLASS_NOTE = "kubernetes.io/ingress.class"
_SCOPES = ("Cluster", "Namespace")
_LONGEST_CONTROLLER = 250
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_POLICY_TYPES = ("Ingress", "Egress")
_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def ingress_faults(document: JSONObject) -> list[Cause]:
    """Faults of an Ingress by itself."""
    spec, faults = document.get("spec") or {}, []
    backend, rules = spec.get("defaultBackend"), spec.get("rules") or []
    if not rules and backend is None:
        why = "either `defaultBackend` or `rules` must be specified"
        faults.append(invalid("spec", rules or None, why))
    if backend is not None:
        faults += _backend_faults(backend, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        faults += _rule_faults(rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls") or ()):
        field = f"spec.tls[{index}]"
        for place, host in enumerate(tls.get("hosts") or ()):
            faults += _host_faults(host, f"{field}.hosts[{place}]")
        name = tls.get("secretName")
        if name:
            faults += [invalid(f"{field}.secretName", name, why) for why in subdomain_faults(name)]
    name = spec.get("ingressClassName")
    if name is not None:
        faults += [invalid("spec.ingressClassName", name, why) for why in subdomain_faults(name)]
    return faults


def ingress_class_note_faults(document: JSONObject) -> list[Cause]:
    """Faults of a new Ingress: that its class is said in two ways, which differ."""
    notes = (document.get("metadata") or {}).get("annotations") or {}
    name, noted = (document.get("spec") or {}).get("ingressClassName"), notes.get(_CLASS_NOTE)
    if noted is None or name is None or name == noted:
        return []
    why = "must match `ingressClassName` when both are specified"
    return [invalid(f"annotations.{_CLASS_NOTE}", noted, why)]


def _host_faults(host: str, field: str) -> list[Cause]:
    if "*" not in host:
        return [invalid(field, host, why) for why in subdomain_faults(host)]
    return [] if re.fullmatch(_WILDCARD, host) else [invalid(field, host, _WILDCARD_FAULT)]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _rule_faults(rule: JSONObject, field: str) -> list[Cause]:
    faults, host = [], rule.get("host") or ""
    if host:
        if _is_address(host):
            faults.append(invalid(f"{field}.host", host, "must be a DNS name, not an IP address"))
        faults += _host_faults(host, f"{field}.host")
    if rule.get("http") is None:
        return faults
    paths = rule["http"].get("paths") or []
    if not paths:
        faults.append(required(f"{field}.http.paths"))
    for index, path in enumerate(paths):
        faults += _path_faults(path, f"{field}.http.paths[{index}]")
    return faults


def _path_faults(path: JSONObject, field: str) -> list[Cause]:
    kind, text = path.get("pathType"), path.get("path") or ""
    if kind is None:
        return [required(f"{field}.pathType", "pathType must be specified")]
    faults, where = [], f"{field}.path"
    if kind not in _PATH_TYPES:
        faults.append(not_supported(f"{field}.pathType", kind, _PATH_TYPES))
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        faults.append(invalid(where, text, "must be an absolute path"))
    if kind in ("Exact", "Prefix"):
        faults += [
            invalid(where, text, f"must not contain '{part}'")
            for part in _BAD_SEQUENCES
            if part in text
        ]
        faults += [
            invalid(where, text, f"cannot end with '{end}'")
            for end in _BAD_ENDS
            if text.endswith(end)
        ]
    return faults + _backend_faults(path.get("backend") or {}, f"{field}.backend")


def _backend_faults(backend: JSONObject, field: str) -> list[Cause]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(field, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _reference_faults(resource, f"{field}.resource")
    if service is None:
        return [invalid(field, "", "resource or service backend is required")]
    faults, name = [], service.get("name") or ""
    if not name:
        faults.append(required(f"{field}.service.name"))
    else:
        faults += [invalid(f"{field}.service.name", name, why) for why in label_name_faults(name)]
    port = service.get("port") or {}
    named, number = port.get("name"), port.get("number")
    where = f"{field}.service.port"
    if named and number:
        faults.append(invalid(field, "", "cannot set both port name & port number"))
    elif named:
        faults += [invalid(f"{where}.name", named, why) for why in port_name_faults(named)]
    elif number:
        faults += [invalid(f"{where}.number", number, why) for why in port_number_faults(number)]
    else:
        faults.append(required(field, "port name or number is required"))
    return faults


def _reference_faults(reference: JSONObject, field: str) -> list[Cause]:
    faults, group = [], reference.get("apiGroup")
    if group is not None:
        faults += [invalid(f"{field}.apiGroup", group, why) for why in subdomain_faults(group)]
    for name in ("kind", "name"):
        value = reference.get(name)
        if not value:
            faults.append(required(f"{field}.{name}"))
        else:
            faults += [invalid(f"{field}.{name}", value, w) for w in path_segment_faults(value)]
    return faults


def ingress_class_faults(document: JSONObject) -> list[Cause]:
    """Faults of an IngressClass by itself."""
    spec, faults = document.get("spec") or {}, []
    controller, parameters = spec.get("controller") or "", spec.get("parameters")
    if not controller:
        faults.append(required("spec.controller"))
    else:
        if len(controller) > _LONGEST_CONTROLLER:
            faults.append(too_long("spec.controller", _LONGEST_CONTROLLER))
        faults += _prefixed_faults(controller, "spec.controller")
    if parameters is None:
        return faults
    field = "spec.parameters"
    faults += _reference_faults(parameters, field)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        faults.append(required(f"{field}.scope"))
    elif scope not in _SCOPES:
        faults.append(not_supported(f"{field}.scope", scope, _SCOPES))
    elif scope == "Cluster" and namespace is not None:
        faults.append(forbidden(f"{field}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif scope == "Namespace" and namespace is None:
        faults.append(required(f"{field}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif scope == "Namespace":
        faults += [
            invalid(f"{field}.namespace", namespace, w) for w in label_name_faults(namespace)
        ]
    return faults


_PATH_PART = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


def _prefixed_faults(text: str, field: str) -> list[Cause]:
    host, slash, path = text.partition("/")
    if not slash or not host or not path:
        return [invalid(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    faults = [invalid(field, host, why) for why in subdomain_faults(host)]
    if not _PATH_PART.fullmatch(path):
        faults.append(invalid(field, path, "Invalid path"))
    return faults


def ingress_class_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """The controller of a class stays the same."""
    return immutable(new.get("spec") or {}, old.get("spec") or {}, ("controller",), "spec")


def network_policy_faults(document: JSONObject) -> list[Cause]:
    """Faults of a NetworkPolicy by itself."""
    spec = document.get("spec") or {}
    faults = selector_faults(spec.get("podSelector") or {}, "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            field = f"spec.{direction}[{index}]"
            for place, port in enumerate(rule.get("ports") or ()):
                faults += _port_faults(port, f"{field}.ports[{place}]")
            for place, peer in enumerate(rule.get(peers) or ()):
                faults += _peer_faults(peer, f"{field}.{peers}[{place}]")
    types = spec.get("policyTypes") or []
    if len(types) > len(_POLICY_TYPES):
        why = "may not specify more than two policyTypes"
        return [*faults, invalid("spec.policyTypes", types, why)]
    return faults + [
        not_supported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES)
        for index, kind in enumerate(types)
        if kind not in _POLICY_TYPES
    ]


def _port_faults(port: JSONObject, field: str) -> list[Cause]:
    faults, protocol = [], port.get("protocol")
    if protocol is not None and protocol not in _PROTOCOLS:
        faults.append(not_supported(f"{field}.protocol", protocol, _PROTOCOLS))
    first, last, where = port.get("port"), port.get("endPort"), f"{field}.endPort"
    if first is None:
        if last is not None:
            why = "may not be specified when `port` is not specified"
            faults.append(invalid(where, last, why))
    elif isinstance(first, int):
        faults += [invalid(f"{field}.port", first, why) for why in port_number_faults(first)]
        if last is not None:
            if last < first:
                faults.append(invalid(where, last, "must be greater than or equal to `port`"))
            faults += [invalid(where, last, why) for why in port_number_faults(last)]
    else:
        if last is not None:
            why = "may not be specified when `port` is non-numeric"
            faults.append(invalid(where, last, why))
        faults += [invalid(f"{field}.port", first, why) for why in port_name_faults(first)]
    return faults


def _peer_faults(peer: JSONObject, field: str) -> list[Cause]:
    faults, block = [], peer.get("ipBlock")
    kinds = ("podSelector", "namespaceSelector")
    for kind in kinds:
        if peer.get(kind) is not None:
            faults += selector_faults(peer[kind], f"{field}.{kind}")
    if block is not None:
        faults += _block_faults(block, f"{field}.ipBlock")
    selects = any(peer.get(kind) is not None for kind in kinds)
    if block is None and not selects:
        faults.append(required(field, "must specify a peer"))
    elif block is not None and selects:
        faults.append(forbidden(field, "may not specify both ipBlock and another peer"))
    return faults


def _block_faults(block: JSONObject, field: str) -> list[Cause]:
    text = block.get("cidr") or ""
    if not text:
        return [required(f"{field}.cidr")]
    network = _network(text)
    if network is None:
        return [invalid(f"{field}.cidr", text, _CIDR)]
    faults = []
    for index, part in enumerate(block.get("except") or ()):
        where, inner = f"{field}.except[{index}]", _network(part)
        if inner is None:
            faults.append(invalid(where, part, _CIDR))
        elif (
            inner.network_address not in network
            or inner.version != network.version
            or inner.prefixlen <= network.prefixlen
        ):
            faults.append(invalid(where, part, "must be a strict subset of `cidr`"))
    return faults


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        return None


def ip_address_faults(document: JSONObject) -> list[Cause]:
    """Faults of an IPAddress by itself."""
    parent = (document.get("spec") or {}).get("parentRef")
    if parent is None:
        return [required("spec.parentRef")]
    return [
        required(f"spec.parentRef.{name}") for name in ("resource", "name") if not parent.get(name)
    ]


def ip_address_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """Whose address it is stays the same."""
    return immutable(new.get("spec") or {}, old.get("spec") or {}, ("parentRef",), "spec")


def service_cidr_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ServiceCIDR by itself."""
    ranges = (document.get("spec") or {}).get("cidrs") or []
    if not ranges:
        return [required("spec.cidrs", "at least one CIDR required")]
    faults = []
    if len(ranges) > 2:
        why = "may only hold up to 2 values"
        faults.append(invalid("spec.cidrs", ranges, why))
    faults += [
        invalid(f"spec.cidrs[{index}]", text, _CIDR)
        for index, text in enumerate(ranges)
        if _network(text) is None
    ]
    networks = [network for network in map(_network, ranges) if network is not None]
    if len(networks) == 2 and networks[0].version == networks[1].version:
        why = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
            "2001:db8::/64"
        )
        faults.append(invalid("spec.cidrs", ranges, why))
    return faults


def service_cidr_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """A range stays; a second one of the other family may come."""
    ranges = (new.get("spec") or {}).get("cidrs") or []
    before = (old.get("spec") or {}).get("cidrs") or []
    if ranges[: len(before)] == before:
        return []
    return immutable({"cidrs": ranges}, {"cidrs": before}, ("cidrs",), "spec")
