"""Services: what an update keeps of what was allocated, and what goes with a change of the type.

The allocation itself needs to know all services: it is in `registry.allocation`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orjson import dumps

from listwatch.protocol.errors import Cause
from listwatch.registry.strategies.strategy import Strategy

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

HEADLESS = "None"
_EXTERNAL_ADDRESSES = (
    "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
)
_PREFER_CLOSE = 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


@dataclass(frozen=True, slots=True)
class ServiceStrategy(Strategy):
    """Services; upstream: pkg/registry/core/service/strategy.go and storage/alloc.go."""

    has_status: bool = True
    create_on_update: bool = True
    answers_deleted_object: bool = True

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Allocated values that were left out are kept; those that the type lost are dropped."""
        Strategy.prepare_update(self, document, old, now)
        new_spec = document.setdefault("spec", {})
        old_spec = old.get("spec") or {}
        _keep_allocated(new_spec, old_spec)
        _drop_what_the_type_lost(new_spec, old_spec)

    def warnings(self, document: JSONObject) -> list[str]:
        """What of a service has no effect, or soon none; upstream: pkg/api/service/warnings.go."""
        spec = document.get("spec") or {}
        told = []
        if spec.get("clusterIP") == HEADLESS:
            if spec.get("externalIPs"):
                told.append("spec.externalIPs is ignored for headless services")
            if spec.get("sessionAffinity", HEADLESS) != HEADLESS:
                told.append("spec.SessionAffinity is ignored for headless services")
        elif spec.get("externalIPs"):
            told.append(_EXTERNAL_ADDRESSES)
        if spec.get("trafficDistribution") == "PreferClose":
            told.append(_PREFER_CLOSE)
        return told

    def validate(
        self, document: JSONObject, old: JSONObject | None, subresource: str
    ) -> list[Cause]:
        """The address stays as long as the type has one: clients remember it."""
        new_spec, old_spec = document.get("spec") or {}, (old or {}).get("spec") or {}
        before, after = _addresses(old_spec), _addresses(new_spec)
        types_have_one = needs_cluster_ip(old_spec) and needs_cluster_ip(new_spec)
        if not types_have_one or len(before) != len(after):
            return []
        given = dumps(after).decode()
        return [
            Cause(
                "FieldValueInvalid",
                f"Invalid value: {given}: may not change once set",
                f"spec.clusterIPs[{index}]",
            )
            for index, address in enumerate(before)
            if address != after[index]
        ]


def needs_cluster_ip(spec: JSONObject) -> bool:
    """Whether the type has an address in the cluster."""
    return _type(spec) != "ExternalName"


def needs_node_ports(spec: JSONObject) -> bool:
    """Whether each of its ports has one on every node."""
    if _type(spec) == "NodePort":
        return True
    return _type(spec) == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False


def needs_health_port(spec: JSONObject) -> bool:
    """Whether a load balancer asks the nodes which of them has endpoints."""
    local = spec.get("externalTrafficPolicy") == "Local"
    return _type(spec) == "LoadBalancer" and local


def _addresses(spec: JSONObject) -> list[str]:
    first = spec.get("clusterIP")
    return spec.get("clusterIPs") or ([first] if first else [])


def _type(spec: JSONObject) -> str:
    return spec.get("type") or "ClusterIP"


def _keep_allocated(new: JSONObject, old: JSONObject) -> None:
    if needs_cluster_ip(old) and needs_cluster_ip(new):
        first, several = new.get("clusterIP"), new.get("clusterIPs")
        if first and several and first != old.get("clusterIP") and several == old.get("clusterIPs"):
            new["clusterIPs"] = [first, *several[1:]]  # who patches the one means both
        if not new.get("clusterIP") and old.get("clusterIP"):
            new["clusterIP"] = old["clusterIP"]
        if not new.get("clusterIPs") and new.get("clusterIP") == old.get("clusterIP"):
            _take(new, old, "clusterIPs")
    if needs_node_ports(old) and needs_node_ports(new):
        _keep_node_ports(new, old)
    if needs_health_port(old) and needs_health_port(new) and not new.get("healthCheckNodePort"):
        _take(new, old, "healthCheckNodePort")
    if needs_cluster_ip(old) and needs_cluster_ip(new):
        for key in ("ipFamilies", "ipFamilyPolicy"):
            if not new.get(key):
                _take(new, old, key)


def _keep_node_ports(new: JSONObject, old: JSONObject) -> None:
    used = {port["nodePort"] for port in _ports(new) if port.get("nodePort")}
    for port in _ports(new):
        if port.get("nodePort"):
            continue
        for before in _ports(old):
            number = before.get("nodePort")
            if number and number not in used and _same_port(port, before):
                port["nodePort"] = number
                used.add(number)
                break


def _same_port(one: JSONObject, other: JSONObject) -> bool:
    return (one.get("port"), one.get("protocol")) == (other.get("port"), other.get("protocol"))


def _drop_what_the_type_lost(new: JSONObject, old: JSONObject) -> None:
    # Only what was not changed along with the type: what was, validation shall see.
    if needs_cluster_ip(old) and not needs_cluster_ip(new):
        _drop_same(new, old, "clusterIP", "clusterIPs")
        _drop_same(new, old, "ipFamilies")
        _drop_same(new, old, "ipFamilyPolicy")
        _drop_same(new, old, "internalTrafficPolicy")
    if needs_node_ports(old) and not needs_node_ports(new):
        before = [port.get("nodePort") for port in _ports(old)]
        if [port.get("nodePort") for port in _ports(new)] == before:
            for port in _ports(new):
                port.pop("nodePort", None)
    if needs_health_port(old) and not needs_health_port(new):
        _drop_same(new, old, "healthCheckNodePort")
    if _type(old) == "LoadBalancer" != _type(new):
        _drop_same(new, old, "allocateLoadBalancerNodePorts")
        _drop_same(new, old, "loadBalancerClass")
    external = ("NodePort", "LoadBalancer")
    if _type(old) in external and _type(new) not in external:
        _drop_same(new, old, "externalTrafficPolicy")


def _drop_same(new: JSONObject, old: JSONObject, *keys: str) -> None:
    if all(new.get(key) == old.get(key) for key in keys):
        for key in keys:
            new.pop(key, None)


def _take(new: JSONObject, old: JSONObject, key: str) -> None:
    if key in old:
        new[key] = old[key]


def _ports(spec: JSONObject) -> list[dict[str, Any]]:  # Any: JSON values
    return spec.get("ports") or []
