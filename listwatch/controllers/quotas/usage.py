"""What one object uses of a quota, by the names that quotas have for it.

Upstream: pkg/quota/v1/evaluator/core. Pure functions, added up by `controller`.
"""

from __future__ import annotations

from collections.abc import Iterable

from listwatch.controllers.pods import is_finished
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.quantities import Quantity

Usage = dict[str, Quantity]

ONE = Quantity.of(1)
PLAIN = {
    "configmaps": "", "secrets": "", "replicationcontrollers": "", "resourcequotas": "",
    "services": "", "persistentvolumeclaims": "", "pods": "",
}  # fmt: skip
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_OF_SERVICES = ("services.loadbalancers", "services.nodeports")
_CLASS = ".storageclass.storage.k8s.io/"


def resource_of(name: str) -> str:
    """The resource, as `resource.group`, whose objects use what this name counts."""
    if name.startswith("count/"):
        return name.removeprefix("count/")
    if name in PLAIN:
        return name
    if name in _OF_SERVICES:
        return "services"
    if _CLASS in name or name == "requests.storage":
        return "persistentvolumeclaims"
    return "pods"


def usage_of(resource: str, subject: JSONObject) -> Usage:
    """Everything that this object uses."""
    used: Usage = {f"count/{resource}": ONE}
    spec = subject.get("spec") or {}
    if resource == "pods":
        if not is_finished(subject):
            used |= _of_pod(spec)
        return used
    if resource in PLAIN:
        used[resource] = ONE
    if resource == "services":
        used |= _of_service(spec)
    elif resource == "persistentvolumeclaims":
        used |= _of_claim(spec)
    return used


def add(first: Usage, second: Usage) -> Usage:
    """The sum, name by name."""
    total = dict(first)
    for name, amount in second.items():
        total[name] = total[name] + amount if name in total else amount
    return total


def in_scopes(quota: JSONObject, resource: str, subject: JSONObject) -> bool:
    """Whether the scopes of a quota take this object."""
    spec = quota.get("spec") or {}
    terms: list[JSONObject] = [
        {"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()
    ]
    terms += (spec.get("scopeSelector") or {}).get("matchExpressions") or []
    return all(resource == "pods" and _in_scope(term, subject) for term in terms)


def _of_pod(spec: JSONObject) -> Usage:
    requests, limits = _total(spec, "requests"), _total(spec, "limits")
    used = {"pods": ONE, **{f"requests.{name}": amount for name, amount in requests.items()}}
    used |= {f"limits.{name}": amount for name, amount in limits.items()}
    return used | {name: amount for name, amount in requests.items() if name in _COMPUTE}


def _total(spec: JSONObject, kind: str) -> Usage:
    running: Usage = {}
    for container in spec.get("containers") or ():
        running = add(running, _read(container, kind))
    starting: Usage = {}
    sidecars: Usage = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            sidecars = needed = add(sidecars, _read(container, kind))
        else:
            needed = add(sidecars, _read(container, kind))
        starting = _largest(starting, needed)
    total = _largest(add(running, sidecars), starting)
    overhead = {name: Quantity.of(text) for name, text in (spec.get("overhead") or {}).items()}
    if kind == "limits":
        overhead = {name: amount for name, amount in overhead.items() if name in total}
    return add(total, overhead)


def _read(container: JSONObject, kind: str) -> Usage:
    given = (container.get("resources") or {}).get(kind) or {}
    return {name: Quantity.of(text) for name, text in given.items()}


def _largest(first: Usage, second: Usage) -> Usage:
    result = dict(first)
    for name, amount in second.items():
        if name not in result or result[name] < amount:
            result[name] = amount
    return result


def _of_service(spec: JSONObject) -> Usage:
    used: Usage = {}
    kind, ports = spec.get("type") or "ClusterIP", spec.get("ports") or ()
    number = len(ports)
    if kind == "LoadBalancer":
        used["services.loadbalancers"] = ONE
        if spec.get("allocateLoadBalancerNodePorts") is False:
            number = sum(bool(port.get("nodePort")) for port in ports)
    if kind in ("LoadBalancer", "NodePort"):
        used["services.nodeports"] = Quantity.of(number)
    return used


def _of_claim(spec: JSONObject) -> Usage:
    used: Usage = {}
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    name = spec.get("storageClassName")
    if name:
        used[f"{name}{_CLASS}persistentvolumeclaims"] = ONE
    if storage is not None:
        used["requests.storage"] = Quantity.of(storage)
        if name:
            used[f"{name}{_CLASS}requests.storage"] = Quantity.of(storage)
    return used


def _in_scope(term: JSONObject, pod: JSONObject) -> bool:
    spec, name = pod.get("spec") or {}, term.get("scopeName")
    if name == "PriorityClass":
        return _holds(term, spec.get("priorityClassName") or "", term.get("values") or ())
    best_effort = (pod.get("status") or {}).get("qosClass") == "BestEffort"
    terminating = spec.get("activeDeadlineSeconds") is not None
    return {
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
        "Terminating": terminating,
        "NotTerminating": not terminating,
    }.get(str(name), False)


def _holds(term: JSONObject, value: str, values: Iterable[str]) -> bool:
    return {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": bool(value),
        "DoesNotExist": not value,
    }.get(str(term.get("operator")), False)
