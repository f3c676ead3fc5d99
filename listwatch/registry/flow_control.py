"""The flow schemas and priority levels that every API server has: mandatory ones and suggested.

Upstream: apiserver/pkg/apis/flowcontrol/bootstrap. Made by `bootstrapping` where they are missing.
They are what clients may read; requests are counted in `api.throttling`, whatever stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

GROUP = "flowcontrol.apiserver.k8s.io"
_ANNOTATIONS = {"apf.kubernetes.io/autoupdate-spec": "true"}


class _Level(NamedTuple):
    """A limited level; `queues` are their number, the size of a hand, and the length of each."""

    shares: int
    lendable: int = 0
    queues: tuple[int, int, int] | None = None


class _Rule(NamedTuple):
    """Verbs upon resources; `cluster` takes those without a namespace as well."""

    verbs: str = "*"
    group: str = "*"
    resources: str = "*"
    namespaces: str = "*"
    cluster: bool = False


class _Schema(NamedTuple):
    """`resources` None are all, with all paths; `paths` those of a rule without resources."""

    level: str
    precedence: int
    subjects: str
    distinguisher: str = "ByUser"
    resources: tuple[_Rule, ...] | None = None
    paths: str = ""


_LEVELS = {
    "catch-all": _Level(5),
    "global-default": _Level(20, 50, (128, 6, 50)),
    "leader-election": _Level(10, 0, (16, 4, 50)),
    "node-high": _Level(40, 25, (64, 6, 50)),
    "system": _Level(30, 33, (64, 6, 50)),
    "workload-high": _Level(40, 50, (128, 6, 50)),
    "workload-low": _Level(100, 90, (128, 6, 50)),
}
_EVERYBODY = "group:system:unauthenticated group:system:authenticated"
_MANAGER, _SCHEDULER = "user:system:kube-controller-manager", "user:system:kube-scheduler"
_SCHEMAS = {
    "exempt": _Schema("exempt", 1, "group:system:masters", ""),
    "probes": _Schema(
        "exempt", 2, _EVERYBODY, "", resources=(), paths="/healthz /readyz /livez"
    ),
    "system-leader-election": _Schema(
        "leader-election", 100, f"{_MANAGER} {_SCHEDULER} account:*",
        resources=(_Rule("get create update", "coordination.k8s.io", "leases"),),
    ),
    "system-node-high": _Schema(
        "node-high", 400, "group:system:nodes",
        resources=(
            _Rule("*", "", "nodes nodes/status", cluster=True),
            _Rule("*", "coordination.k8s.io", "leases"),
        ),
    ),
    "system-nodes": _Schema("system", 500, "group:system:nodes"),
    "kube-controller-manager": _Schema("workload-high", 800, _MANAGER, "ByNamespace"),
    "kube-scheduler": _Schema("workload-high", 800, _SCHEDULER, "ByNamespace"),
    "kube-system-service-accounts": _Schema("workload-high", 900, "account:*", "ByNamespace"),
    "service-accounts": _Schema("workload-low", 9000, "group:system:serviceaccounts"),
    "global-default": _Schema("global-default", 9900, _EVERYBODY),
    "catch-all": _Schema("catch-all", 10000, _EVERYBODY),
}  # fmt: skip


def priority_levels() -> Iterator[JSONObject]:
    """The levels, as they are created."""
    nothing = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    yield _named("exempt", {"type": "Exempt", "exempt": nothing})
    for name, level in _LEVELS.items():
        response: JSONObject = {"type": "Reject"}
        if level.queues is not None:
            queues, hand, length = level.queues
            queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": length}
            response = {"type": "Queue", "queuing": queuing}
        limited = {
            "nominalConcurrencyShares": level.shares,
            "limitResponse": response,
            "lendablePercent": level.lendable,
        }
        yield _named(name, {"type": "Limited", "limited": limited})


def flow_schemas() -> Iterator[JSONObject]:
    """The schemas, as they are created."""
    for name, schema in _SCHEMAS.items():
        spec: JSONObject = {
            "priorityLevelConfiguration": {"name": schema.level},
            "matchingPrecedence": schema.precedence,
        }
        if schema.distinguisher:
            spec["distinguisherMethod"] = {"type": schema.distinguisher}
        rule: JSONObject = {"subjects": [_subject(one) for one in schema.subjects.split()]}
        resources, paths = schema.resources, schema.paths
        if resources is None:
            resources, paths = (_Rule(cluster=True),), "*"
        if resources:
            rule["resourceRules"] = [_resource_rule(one) for one in resources]
        if paths:
            verbs = ["*"] if paths == "*" else ["get"]
            rule["nonResourceRules"] = [{"verbs": verbs, "nonResourceURLs": paths.split()}]
        yield _named(name, {**spec, "rules": [rule]})


def found(schema: JSONObject, now: str) -> JSONObject:
    """The status of a schema whose level is there."""
    level = schema["spec"]["priorityLevelConfiguration"]["name"]
    condition = {
        "type": "Dangling",
        "status": "False",
        "lastTransitionTime": now,
        "reason": "Found",
        "message": "This FlowSchema references the PriorityLevelConfiguration object named "
        f'"{level}" and it exists',
    }
    return {"conditions": [condition]}


def _named(name: str, spec: JSONObject) -> JSONObject:
    return {"metadata": {"name": name, "annotations": dict(_ANNOTATIONS)}, "spec": spec}


def _resource_rule(rule: _Rule) -> JSONObject:
    made: JSONObject = {
        "verbs": rule.verbs.split(),
        "apiGroups": [rule.group],
        "resources": rule.resources.split(),
        "namespaces": rule.namespaces.split(),
    }
    return {**made, "clusterScope": True} if rule.cluster else made


def _subject(text: str) -> JSONObject:
    kind, _, name = text.partition(":")
    if kind == "account":
        account = {"namespace": "kube-system", "name": name}
        return {"kind": "ServiceAccount", "serviceAccount": account}
    return {"kind": kind.capitalize(), kind: {"name": name}}
