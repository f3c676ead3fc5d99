"""Make the default roles and bindings, where they are missing: before the first request.

Called by `registry.bootstrapping`, through the registry like any other write. A role that is there
gains what it lacks, unless its annotation says to leave it alone; nothing is ever taken from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.errors import StatusError
from listwatch.registry.authorization import default_roles as defaults
from listwatch.registry.authorization.aggregation import Aggregation
from listwatch.registry.authorization.index import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    RBAC,
    ROLE_BINDINGS,
    ROLES,
)
from listwatch.registry.authorization.rules import Rule, RuleSet, rules_of, uncovered
from listwatch.registry.context import SYSTEM, RequestContext

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupResource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.registry import Registry

AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_BOOTSTRAPPING = {"kubernetes.io/bootstrapping": "rbac-defaults"}


class _Default(NamedTuple):
    resource: GroupResource
    document: JSONObject


async def make_roles(registry: Registry) -> None:
    """Make what is missing, and give the roles that are there what they lack."""
    table = registry.resources
    wanted = [one for one in default_objects() if table.stored(one.resource) is not None]
    # All at once, so that they share a few commits.
    await asyncio.gather(*(_make(registry, one) for one in wanted))


def default_objects() -> Iterator[_Default]:
    """All default roles and bindings, as they are created."""
    plain, aggregation = _cluster_rules(), _aggregation()
    for name, rules in plain.items():
        label = defaults.LABELS.get(name, "")
        yield _Default(CLUSTER_ROLES, _role("ClusterRole", name, rules, label=label))
    for name, (selected, label) in defaults.AGGREGATED.items():
        whole = aggregation.rules(name, lambda part: RuleSet(plain[part])).rules
        role = _role("ClusterRole", name, whole, label=label)
        role["aggregationRule"] = {"clusterRoleSelectors": [_selector(selected)]}
        yield _Default(CLUSTER_ROLES, role)
    for name, subjects in defaults.CLUSTER_ROLE_BINDINGS.items():
        yield _Default(CLUSTER_ROLE_BINDINGS, _binding("ClusterRole", name, subjects))
    for (namespace, name), grants in defaults.ROLES.items():
        rules = tuple(map(_rule, grants))
        yield _Default(ROLES, _role("Role", name, rules, namespace=namespace))
    for (namespace, name), subjects in defaults.ROLE_BINDINGS.items():
        yield _Default(ROLE_BINDINGS, _binding("Role", name, subjects, namespace=namespace))


async def _make(registry: Registry, default: _Default) -> None:
    resource = registry.resources.stored(default.resource)
    assert resource is not None
    metadata = default.document["metadata"]
    ctx = RequestContext(SYSTEM, resource, namespace=metadata.get("namespace", ""))
    there = RequestContext(SYSTEM, resource, namespace=ctx.namespace, name=metadata["name"])
    try:
        stored = (await registry.get(there)).decode()
    except StatusError as error:
        if error.code != 404:
            raise
        try:
            await registry.create(ctx, default.document)
        except StatusError as refused:
            if refused.reason != "AlreadyExists":  # another process was quicker
                raise
        return
    lacking = _lacking(stored, default.document)
    if lacking and stored["metadata"].get("annotations", {}).get(AUTOUPDATE) == "true":
        stored["rules"] = [*(stored.get("rules") or ()), *(rule.to_dict() for rule in lacking)]
        try:
            await registry.update(there, stored)
        except StatusError as refused:
            if refused.code not in (404, 409):
                raise


def _lacking(stored: JSONObject, wanted: JSONObject) -> Sequence[Rule]:
    if "rules" not in wanted or "aggregationRule" in wanted:
        return ()
    return uncovered(rules_of(stored), rules_of(wanted))


def _cluster_rules() -> dict[str, tuple[Rule, ...]]:
    rules = {
        "cluster-admin": (Rule(("*",), ("*",), ("*",)), Rule(("*",), urls=("*",))),
        **{name: (Rule(("get",), urls=urls),) for name, urls in defaults.URLS.items()},
    }
    for name, grants in defaults.CLUSTER_ROLES.items():
        rules[name] = tuple(map(_rule, grants))
    return rules


def _aggregation() -> Aggregation:
    made = Aggregation()
    for name in _cluster_rules():
        label = defaults.LABELS.get(name)
        made.put(name, {label: "true"} if label else {}, None)
    for name, (selected, label) in defaults.AGGREGATED.items():
        made.put(name, {label: "true"} if label else {}, (_selector(selected),))
    return made


def _selector(label: str) -> JSONObject:
    return {"matchLabels": {label: "true"}}


def _rule(grant: str) -> Rule:
    # `verbs group/resource resource ... =name`
    verbs, first, *more = grant.split()
    group, _, resource = first.partition("/")
    names = tuple(word[1:] for word in more if word.startswith("="))
    resources = (resource, *(word for word in more if not word.startswith("=")))
    return Rule(tuple(verbs.split(",")), (group,), resources, names)


def _metadata(name: str, namespace: str, label: str) -> JSONObject:
    labels = dict(_BOOTSTRAPPING)
    if label:
        labels[label] = "true"
    metadata = {"name": name, "annotations": {AUTOUPDATE: "true"}, "labels": labels}
    return {**metadata, "namespace": namespace} if namespace else metadata


def _role(
    kind: str, name: str, rules: Sequence[Rule], *, namespace: str = "", label: str = ""
) -> JSONObject:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": _metadata(name, namespace, label),
        "rules": [rule.to_dict() for rule in rules],
    }


def _binding(kind: str, name: str, subjects: Sequence[str], *, namespace: str = "") -> JSONObject:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": _metadata(name, namespace, ""),
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
        "subjects": [_subject(subject) for subject in subjects],
    }


def _subject(subject: str) -> JSONObject:
    kind, _, name = subject.partition("/")
    if kind == "ServiceAccount":
        return {"kind": kind, "name": name, "namespace": "kube-system"}
    return {"kind": kind, "apiGroup": RBAC, "name": name}
