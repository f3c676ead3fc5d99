"""Cells of services and of what stands behind them."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import (
    NONE,
    SHOWN,
    UNKNOWN,
    UNSET,
    age,
    items,
    labels,
    name_of,
    part,
    selector,
    shortened,
    text,
)


def service(document: JSONObject, now: float) -> list[Any]:
    """Name, Type, Cluster-IP, External-IP, Port(s), Age, Selector."""
    addresses = items(document, "spec", "clusterIPs")
    cluster_ip = addresses[0] if addresses else text(document, "spec", "clusterIP")
    return [
        name_of(document),
        text(document, "spec", "type"),
        cluster_ip or NONE,
        _external(document),
        ",".join(map(_port, items(document, "spec", "ports"))) or NONE,
        age(document, now),
        labels(part(document, "spec", "selector")),
    ]


def _external(document: JSONObject) -> str:
    given = items(document, "spec", "externalIPs")
    match text(document, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return ",".join(given) or NONE
        case "LoadBalancer":
            ingress = items(document, "status", "loadBalancer", "ingress")
            points = {point.get("ip") or point.get("hostname") for point in ingress}
            return ",".join([*sorted(filter(None, points)), *given]) or "<pending>"
        case "ExternalName":
            return text(document, "spec", "externalName")
    return UNKNOWN


def _port(port: JSONObject) -> str:
    own, on_node = port.get("port", 0), port.get("nodePort")
    protocol = port.get("protocol") or "TCP"
    return f"{own}:{on_node}/{protocol}" if on_node else f"{own}/{protocol}"


def endpoints(document: JSONObject, now: float) -> list[Any]:
    """Name, Endpoints, Age."""
    return [name_of(document), _endpoints(document), age(document, now)]


def _endpoints(document: JSONObject) -> str:
    subsets = items(document, "subsets")
    if not subsets:
        return NONE
    found: list[str] = []
    for subset in subsets:
        addresses = [address.get("ip", "") for address in items(subset, "addresses")]
        ports = [port.get("port", 0) for port in items(subset, "ports")]
        # A headless service may have no ports.
        found += [_joined(ip, port) for port in ports for ip in addresses] if ports else addresses
    return shortened(found)


def _joined(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def endpoint_slice(document: JSONObject, now: float) -> list[Any]:
    """Name, AddressType, Ports, Endpoints, Age."""
    ports = [str(p.get("port") or p.get("name") or "*") for p in items(document, "ports")]
    addresses = [a for e in items(document, "endpoints") for a in items(e, "addresses")]
    return [
        name_of(document),
        text(document, "addressType"),
        shortened(ports) or UNSET,
        shortened(addresses) or UNSET,
        age(document, now),
    ]


def ingress(document: JSONObject, now: float) -> list[Any]:
    """Name, Class, Hosts, Address, Ports, Age."""
    spec = part(document, "spec")
    chosen = spec.get("ingressClassName")
    return [
        name_of(document),
        NONE if chosen is None else chosen,
        _hosts(items(spec, "rules")),
        ",".join(_balancers(document)),
        "80, 443" if items(spec, "tls") else "80",
        age(document, now),
    ]


def _hosts(rules: list[Any]) -> str:
    named = [rule["host"] for rule in rules if rule.get("host")]
    if not named:
        return "*"
    shown = ",".join(named[:SHOWN])
    # Once three are shown, every further rule counts as one more, named or not.
    if len(named) < SHOWN:
        return shown
    third = [index for index, rule in enumerate(rules) if rule.get("host")][SHOWN - 1]
    return f"{shown} + {len(rules) - SHOWN} more..." if len(rules) > third + 1 else shown


def _balancers(document: JSONObject) -> list[str]:
    entries = items(document, "status", "loadBalancer", "ingress")
    return sorted({text(one, "ip") or text(one, "hostname") for one in entries} - {""})


def ingress_class(document: JSONObject, now: float) -> list[Any]:
    """Name, Controller, Parameters, Age."""
    spec, told = part(document, "spec"), NONE
    if (parameters := spec.get("parameters")) is not None:
        group = parameters.get("apiGroup")
        kind = text(parameters, "kind")
        kind = kind if group is None else f"{kind}.{group}"
        told = f"{kind}/{text(parameters, 'name')}"
    return [name_of(document), text(spec, "controller"), told, age(document, now)]


def network_policy(document: JSONObject, now: float) -> list[Any]:
    """Name, Pod-Selector, Age."""
    return [
        name_of(document), selector(part(document, "spec").get("podSelector")), age(document, now),
    ]  # fmt: skip


def ip_address(document: JSONObject, now: float) -> list[Any]:
    """Name, ParentRef."""
    parent = part(document, "spec").get("parentRef")
    if parent is None:
        return [name_of(document), NONE]
    group, resource = text(parent, "group"), text(parent, "resource").lower()
    where = [f"{resource}.{group}" if group else resource]
    where += [text(parent, "namespace")] if text(parent, "namespace") else []
    return [name_of(document), "/".join([*where, text(parent, "name")])]


def service_cidr(document: JSONObject, now: float) -> list[Any]:
    """Name, CIDRs, Age."""
    return [name_of(document), ",".join(items(document, "spec", "cidrs")), age(document, now)]
