"""What one object uses of a quota, by the names that quotas have for it.

Upstream: pkg/quota/v1/evaluator/core. Pure functions, added up by
`registry.admission.quotas`, which refuses, and by `controllers.quotas`, which keeps the status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.quantities import Quantity
from listwatch.schemas import amounts
from listwatch.schemas.amounts import Amounts, all_containers
from listwatch.schemas.quality import quality_of_service

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

PODS = GroupResource("", "pods")
SERVICES = GroupResource("", "services")
CLAIMS = GroupResource("", "persistentvolumeclaims")
ONE = Quantity.of(1)
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_OF_SERVICES = ("services.loadbalancers", "services.nodeports")
_CLASS = "storageclass.storage.k8s.io"
# Counted by their plain names; every other resource only as `count/...`.
_PLAIN = frozenset((
    "configmaps", "secrets", "replicationcontrollers", "resourcequotas", "services",
    "persistentvolumeclaims",
))  # fmt: skip


def usage(resource: GroupResource, document: JSONObject) -> Amounts:
    """Everything that this object uses."""
    used: Amounts = {f"count/{resource}": ONE}
    if not resource.group and resource.resource in _PLAIN:
        used[resource.resource] = ONE
    spec = document.get("spec") or {}
    if resource == PODS:
        phase = (document.get("status") or {}).get("phase")
        if phase not in ("Succeeded", "Failed"):
            used |= _of_pod(spec)
    elif resource == SERVICES:
        used |= _of_service(spec)
    elif resource == CLAIMS:
        used |= _of_claim(spec)
    return used


def resource_of(name: str) -> str:
    """The resource, as `resource.group`, whose objects use what this name counts."""
    if name.startswith("count/"):
        return name.removeprefix("count/")
    if name in _PLAIN:
        return name
    if name in _OF_SERVICES:
        return str(SERVICES)
    if f".{_CLASS}/" in name or name == "requests.storage":
        return str(CLAIMS)
    return str(PODS)


def counts_only(resource: GroupResource, names: set[str]) -> bool:
    """Whether these names of a quota are nothing but the number of such objects."""
    return names <= {f"count/{resource}", *({resource.resource} & _PLAIN)}


def fits(quota: JSONObject, resource: GroupResource, document: JSONObject) -> bool:
    """Whether the scopes of a quota take this object."""
    spec = quota.get("spec") or {}
    terms = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    terms += (spec.get("scopeSelector") or {}).get("matchExpressions") or []
    return all(_in_scope(term, resource, document) for term in terms)


def must_say(names: set[str], spec: JSONObject) -> dict[str, list[str]]:
    """By name, the containers of a pod that must say what they need and do not."""
    missing: dict[str, list[str]] = {}
    wanted = names & {
        *_COMPUTE, *(f"{kind}.{one}" for kind in ("requests", "limits") for one in _COMPUTE),
    }  # fmt: skip
    for container in all_containers(spec):
        said = set(_prefixed("requests", amounts.of_container(container, "requests")))
        said |= set(_prefixed("limits", amounts.of_container(container, "limits")))
        said |= {name.removeprefix("requests.") for name in said if name.startswith("requests.")}
        for name in wanted - said:
            missing.setdefault(name, []).append(container.get("name", ""))
    return {name: sorted(missing[name]) for name in sorted(missing)}


def _of_pod(spec: JSONObject) -> Amounts:
    requests = amounts.of_pod(spec, "requests")
    used = {"pods": ONE, **_prefixed("requests", requests)}
    used |= _prefixed("limits", amounts.of_pod(spec, "limits"))
    used |= {name: amount for name, amount in requests.items() if name in _COMPUTE}
    return used


def _prefixed(prefix: str, given: Amounts) -> Amounts:
    return {f"{prefix}.{name}": amount for name, amount in given.items()}


def _of_service(spec: JSONObject) -> Amounts:
    used: Amounts = {}
    kind = spec.get("type") or "ClusterIP"
    ports = len(spec.get("ports") or ())
    if kind == "LoadBalancer":
        used["services.loadbalancers"] = ONE
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = sum(bool(port.get("nodePort")) for port in spec.get("ports") or ())
    if kind in ("LoadBalancer", "NodePort"):
        used["services.nodeports"] = Quantity.of(ports)
    return used


def _of_claim(spec: JSONObject) -> Amounts:
    used: Amounts = {}
    storage = amounts.read((spec.get("resources") or {}).get("requests")).get("storage")
    name = spec.get("storageClassName")
    if name:
        used[f"{name}.{_CLASS}/persistentvolumeclaims"] = ONE
    if storage is not None:
        used["requests.storage"] = storage
        if name:
            used[f"{name}.{_CLASS}/requests.storage"] = storage
    return used


def _in_scope(term: JSONObject, resource: GroupResource, document: JSONObject) -> bool:
    if resource != PODS:
        return False
    spec = document.get("spec") or {}
    name = term.get("scopeName")
    best_effort = quality_of_service(spec) == "BestEffort"
    terminating = (spec.get("activeDeadlineSeconds") or -1) >= 0
    if name == "PriorityClass":
        return _holds(term, spec.get("priorityClassName") or "")
    return {
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
        "Terminating": terminating,
        "NotTerminating": not terminating,
    }.get(str(name), False)


def _holds(term: JSONObject, value: str) -> bool:
    values = term.get("values") or ()
    return {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": bool(value),
        "DoesNotExist": not value,
    }.get(str(term.get("operator")), False)
