"""Cells of services and of what stands behind them."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import (
    NONE,
    UNKNOWN,
    UNSET,
    age,
    items,
    labels,
    name_of,
    part,
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
