"""Cells of rules: who may what, what is admitted, how much, and in which turn."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.durations import human_duration
from listwatch.protocol.objects import JSONObject
from listwatch.schemas.cells.texts import NONE, UNSET, age, items, name_of, number, part, text


def binding(document: JSONObject, now: float) -> list[Any]:
    """Name, Role, Age, Users, Groups, ServiceAccounts; of either kind of role binding."""
    role = part(document, "roleRef")
    subjects: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in items(document, "subjects"):
        kind, name = text(subject, "kind"), text(subject, "name")
        if kind == "ServiceAccount":
            name = f"{text(subject, 'namespace')}/{name}"
        if kind in subjects:
            subjects[kind].append(name)
    return [
        name_of(document),
        f"{text(role, 'kind')}/{text(role, 'name')}",
        age(document, now),
        *(", ".join(names) for names in subjects.values()),
    ]


def webhooks(document: JSONObject, now: float) -> list[Any]:
    """Name, Webhooks, Age; of either kind of webhook configuration."""
    return [name_of(document), len(items(document, "webhooks")), age(document, now)]


def validating_policy(document: JSONObject, now: float) -> list[Any]:
    """Name, Validations, ParamKind, Age."""
    return _policy(document, "validations", now)


def mutating_policy(document: JSONObject, now: float) -> list[Any]:
    """Name, Mutations, ParamKind, Age."""
    return _policy(document, "mutations", now)


def _policy(document: JSONObject, rules: str, now: float) -> list[Any]:
    spec = part(document, "spec")
    kind = spec.get("paramKind")
    return [
        name_of(document),
        len(items(spec, rules)),
        UNSET if kind is None else f"{text(kind, 'apiVersion')}/{text(kind, 'kind')}",
        age(document, now),
    ]


def policy_binding(document: JSONObject, now: float) -> list[Any]:
    """Name, PolicyName, ParamRef, Age; of either kind of policy binding."""
    spec = part(document, "spec")
    return [
        name_of(document), text(spec, "policyName"), _parameters(spec.get("paramRef")),
        age(document, now),
    ]  # fmt: skip


def _parameters(reference: JSONObject | None) -> str:
    if reference is None:
        return UNSET
    name, namespace = text(reference, "name"), text(reference, "namespace")
    if name:
        return f"{namespace}/{name}" if namespace else name
    return _go_selector(part(reference, "selector")) if "selector" in reference else UNSET


def _go_selector(selector: JSONObject) -> str:
    # Upstream prints the structure as Go does.
    labels = "".join(f"{k}: {v}," for k, v in sorted(part(selector, "matchLabels").items()))
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{text(term, 'key')},Operator:{text(term, 'operator')},"
        f"Values:[{' '.join(items(term, 'values'))}],}},"
        for term in items(selector, "matchExpressions")
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )


def resource_quota(document: JSONObject, now: float) -> list[Any]:
    """Name, Request, Limit, Age."""
    hard, used = part(document, "status", "hard"), part(document, "status", "used")
    requests: list[str] = []
    limits: list[str] = []
    for name in sorted(hard):
        entry = f"{name}: {used.get(name, '0')}/{hard[name]}"
        (limits if name.startswith("limits.") else requests).append(entry)
    return [name_of(document), ", ".join(requests), ", ".join(limits), age(document, now)]


def flow_schema(document: JSONObject, now: float) -> list[Any]:
    """Name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL."""
    spec, method = part(document, "spec"), part(document, "spec").get("distinguisherMethod")
    dangling = [
        text(condition, "status")
        for condition in items(document, "status", "conditions")
        if condition.get("type") == "Dangling"
    ]
    return [
        name_of(document),
        text(spec, "priorityLevelConfiguration", "name"),
        number(spec, "matchingPrecedence"),
        NONE if method is None else text(method, "type"),
        age(document, now),
        dangling[0] if dangling else "?",
    ]


def priority_level(document: JSONObject, now: float) -> list[Any]:
    """Name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age."""
    limited = part(document, "spec").get("limited")
    queuing = None if limited is None else part(limited, "limitResponse").get("queuing")
    queues = [
        NONE if queuing is None else number(queuing, field)
        for field in ("queues", "handSize", "queueLengthLimit")
    ]
    return [
        name_of(document),
        text(document, "spec", "type"),
        NONE if limited is None else number(limited, "nominalConcurrencyShares"),
        *queues,
        age(document, now),
    ]


def signing_request(document: JSONObject, now: float) -> list[Any]:
    """Name, Age, SignerName, Requestor, RequestedDuration, Condition."""
    spec = part(document, "spec")
    seconds = spec.get("expirationSeconds")
    return [
        name_of(document),
        age(document, now),
        text(spec, "signerName") or NONE,
        text(spec, "username"),
        NONE if seconds is None else human_duration(seconds),
        _decision(document),
    ]


def _decision(document: JSONObject) -> str:
    kinds = {condition.get("type") for condition in items(document, "status", "conditions")}
    said = next((kind for kind in ("Denied", "Approved") if kind in kinds), "Pending")
    failed = ",Failed" if "Failed" in kinds else ""
    return f"{said}{failed}{',Issued' if text(document, 'status', 'certificate') else ''}"


def component_status(document: JSONObject, now: float) -> list[Any]:
    """Name, Status, Message, Error."""
    for condition in items(document, "conditions"):
        if condition.get("type") == "Healthy":
            status = "Healthy" if condition.get("status") == "True" else "Unhealthy"
            return [
                name_of(document), status, text(condition, "message"), text(condition, "error"),
            ]  # fmt: skip
    return [name_of(document), "Unknown", "", ""]


def controller_revision(document: JSONObject, now: float) -> list[Any]:
    """Name, Controller, Revision, Age."""
    owner = next(
        (one for one in items(document, "metadata", "ownerReferences") if one.get("controller")),
        None,
    )
    controller = NONE
    if owner is not None:
        group = text(owner, "apiVersion").rpartition("/")[0]
        kind = text(owner, "kind").lower()
        controller = f"{kind}.{group}" if group else kind
        controller = f"{controller}/{text(owner, 'name')}"
    return [name_of(document), controller, number(document, "revision"), age(document, now)]
