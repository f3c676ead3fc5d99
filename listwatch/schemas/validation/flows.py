"""Faults of FlowSchemas: which requests they are about, and whose.

Upstream: pkg/apis/flowcontrol/validation. The caller is `validate`; `flow_levels` has the rules
of the priority levels that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import label_name_faults, subdomain_faults
from listwatch.schemas.validation.faults import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_LEAST, _MOST = 1, 10_000
_KINDS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_METHODS = ("ByNamespace", "ByUser")
_VERBS = (
    "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch",
)  # fmt: skip
_ALL = ["*"]


def _everything(*groups: str) -> list[JSONObject]:
    resources = {
        "Verbs": _ALL, "APIGroups": _ALL, "Resources": _ALL, "ClusterScope": True,
        "Namespaces": _ALL,
    }  # fmt: skip
    subjects = [
        {"Kind": "Group", "User": None, "Group": {"Name": group}, "ServiceAccount": None}
        for group in groups
    ]
    paths = {"Verbs": _ALL, "NonResourceURLs": _ALL}
    return [{"Subjects": subjects, "ResourceRules": [resources], "NonResourceRules": [paths]}]


# Whatever else is configured, these two are as they are: by them no request is without a level.
_MANDATORY: dict[str, JSONObject] = {
    "exempt": {
        "PriorityLevelConfiguration": {"Name": "exempt"},
        "MatchingPrecedence": _LEAST,
        "DistinguisherMethod": None,
        "Rules": _everything("system:masters"),
    },
    "catch-all": {
        "PriorityLevelConfiguration": {"Name": "catch-all"},
        "MatchingPrecedence": _MOST,
        "DistinguisherMethod": {"Type": "ByUser"},
        "Rules": _everything("system:unauthenticated", "system:authenticated"),
    },
}


def flow_schema_faults(document: JSONObject) -> list[Cause]:
    """Faults of a FlowSchema by itself."""
    name = (document.get("metadata") or {}).get("name") or ""
    spec = document.get("spec") or {}
    faults = _precedence_faults(spec.get("matchingPrecedence") or 0, name)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        shown = {"Type": method.get("type") or ""}
        faults.append(not_supported("spec.distinguisherMethod.type", shown, _METHODS))
    level = (spec.get("priorityLevelConfiguration") or {}).get("name") or ""
    where = "spec.priorityLevelConfiguration.name"
    if not level:
        faults.append(required(where, "must reference a priority level"))
    else:
        faults += [invalid(where, level, why) for why in subdomain_faults(level)]
    for index, rule in enumerate(spec.get("rules") or ()):
        faults += _rule_faults(rule, f"spec.rules[{index}]")
    if name in _MANDATORY:
        spec = _in_go(spec)
        if spec != _MANDATORY[name]:
            faults.append(invalid("spec", spec, f"spec of '{name}' must equal the fixed value"))
    return faults + condition_faults(document.get("status") or {})


def _precedence_faults(precedence: int, name: str) -> list[Cause]:
    field, faults = "spec.matchingPrecedence", []
    if precedence <= 0:
        faults.append(invalid(field, precedence, "must be a positive value"))
    if precedence > _MOST:
        faults.append(invalid(field, precedence, f"must not be greater than {_MOST}"))
    if precedence == _LEAST and name != "exempt":
        why = "only the schema named 'exempt' may have matchingPrecedence 1"
        faults.append(invalid(field, precedence, why))
    return faults


def condition_faults(status: JSONObject) -> list[Cause]:
    """Faults of the conditions of a flow schema or of a priority level."""
    faults: list[Cause] = []
    seen: set[str] = set()
    for index, condition in enumerate(status.get("conditions") or ()):
        field, kind = f"status.conditions[{index}].type", condition.get("type") or ""
        if kind in seen:
            faults.append(duplicate(field, kind))
        seen.add(kind)
        if not kind:
            faults.append(required(field))
    return faults


def _rule_faults(rule: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    subjects = rule.get("subjects") or []
    if not subjects:
        faults.append(required(f"{field}.subjects", "subjects must contain at least one value"))
    for index, subject in enumerate(subjects):
        faults += _subject_faults(subject, f"{field}.subjects[{index}]")
    resources, paths = rule.get("resourceRules") or [], rule.get("nonResourceRules") or []
    if not resources and not paths:
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        faults.append(required(field, why))
    for index, one in enumerate(resources):
        faults += _resource_rule_faults(one, f"{field}.resourceRules[{index}]")
    for index, one in enumerate(paths):
        faults += _path_rule_faults(one, f"{field}.nonResourceRules[{index}]")
    return faults


def _subject_faults(subject: JSONObject, field: str) -> list[Cause]:
    kind = subject.get("kind") or ""
    if kind not in _KINDS:
        return [not_supported(f"{field}.kind", kind, _KINDS)]
    part = _KINDS[kind]
    named, where = subject.get(part), f"{field}.{part}"
    if named is None:
        faults = [required(where, f"{part} is required when subject kind is '{kind}'")]
    elif kind == "ServiceAccount":
        faults = _account_faults(named, where)
    else:
        faults = [] if named.get("name") else [required(f"{where}.name")]
    return faults + [
        forbidden(f"{field}.{_KINDS[other]}", f"{_KINDS[other]} is forbidden when subject kind is "
                  f"not '{other}'")
        for other in ("ServiceAccount", "User", "Group")
        if other != kind and subject.get(_KINDS[other]) is not None
    ]  # fmt: skip


def _account_faults(account: JSONObject, field: str) -> list[Cause]:
    name, namespace = account.get("name") or "", account.get("namespace") or ""
    faults: list[Cause] = []
    if not name:
        faults.append(required(f"{field}.name"))
    elif name != "*":
        faults += [invalid(f"{field}.name", name, why) for why in subdomain_faults(name)]
    where = f"{field}.namespace"
    if not namespace:
        return [*faults, required(where, "must specify namespace for service account")]
    return faults + [invalid(where, namespace, why) for why in label_name_faults(namespace)]


def _alone_faults(values: list[str], field: str, what: str) -> list[Cause]:
    # Where all are meant nothing else can be.
    if "*" not in values or len(values) == 1:
        return []
    return [invalid(field, values, f"if '*' is present, must not specify other {what}")]


def _verbs_faults(rule: JSONObject, field: str) -> list[Cause]:
    verbs, where = rule.get("verbs") or [], f"{field}.verbs"
    if not verbs:
        return [required(where, "verbs must contain at least one value")]
    if "*" not in verbs and not set(verbs) <= set(_VERBS):
        return [not_supported(where, verbs, _VERBS)]
    return _alone_faults(verbs, where, "verbs")


def _resource_rule_faults(rule: JSONObject, field: str) -> list[Cause]:
    faults = _verbs_faults(rule, field)
    for name, one, many in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        where, values = f"{field}.{name}", rule.get(name) or []
        if not values:
            faults.append(required(where, f"resource rules must supply at least one {one}"))
        faults += _alone_faults(values, where, many)
    where, namespaces = f"{field}.namespaces", rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        return [*faults, required(where, why)]
    if "*" in namespaces:
        return faults + _alone_faults(namespaces, where, "namespaces")
    start = "each member of this list must be '*' or a DNS-1123 label; "
    return faults + [
        invalid(f"{where}[{index}]", name, start + why)
        for index, name in enumerate(namespaces)
        for why in label_name_faults(name)
    ]


def _path_rule_faults(rule: JSONObject, field: str) -> list[Cause]:
    faults = _verbs_faults(rule, field)
    where, paths = f"{field}.nonResourceURLs", rule.get("nonResourceURLs") or []
    if not paths:
        return [*faults, required(where, "nonResourceURLs must contain at least one value")]
    if "*" in paths:
        return faults + _alone_faults(paths, where, "non-resource URLs")
    whys = [(index, path, _path_fault(path)) for index, path in enumerate(paths)]
    return faults + [invalid(f"{where}[{index}]", path, why) for index, path, why in whys if why]


def _path_fault(path: str) -> str:
    if not path:
        return "must not be empty"
    if not path.startswith("/"):
        return "must start with slash"
    if " " in path:
        return "must not contain white-space"
    if "//" in path:
        return "must not contain double slash"
    many = path.count("*")
    if many > 1 or (many == 1 and not path.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def _in_go(spec: JSONObject) -> JSONObject:
    # A spec is shown with the names that upstream has for its parts within the server.
    level, method = spec.get("priorityLevelConfiguration") or {}, spec.get("distinguisherMethod")
    return {
        "PriorityLevelConfiguration": {"Name": level.get("name") or ""},
        "MatchingPrecedence": spec.get("matchingPrecedence") or 0,
        "DistinguisherMethod": None if method is None else {"Type": method.get("type") or ""},
        "Rules": _each(spec.get("rules"), _rule_in_go),
    }


def _rule_in_go(rule: JSONObject) -> JSONObject:
    return {
        "Subjects": _each(rule.get("subjects"), _subject_in_go),
        "ResourceRules": _each(rule.get("resourceRules"), _resource_rule_in_go),
        "NonResourceRules": _each(
            rule.get("nonResourceRules"),
            lambda one: {
                "Verbs": one.get("verbs"),
                "NonResourceURLs": one.get("nonResourceURLs"),
            },
        ),
    }


def _resource_rule_in_go(rule: JSONObject) -> JSONObject:
    return {
        "Verbs": rule.get("verbs"),
        "APIGroups": rule.get("apiGroups"),
        "Resources": rule.get("resources"),
        "ClusterScope": rule.get("clusterScope") or False,
        "Namespaces": rule.get("namespaces"),
    }


def _subject_in_go(subject: JSONObject) -> JSONObject:
    account = subject.get("serviceAccount")
    if account is not None:
        account = {"Namespace": account.get("namespace") or "", "Name": account.get("name") or ""}
    user, group = (
        None if subject.get(part) is None else {"Name": subject[part].get("name") or ""}
        for part in ("user", "group")
    )
    kind = subject.get("kind") or ""
    return {"Kind": kind, "User": user, "Group": group, "ServiceAccount": account}


def _each(
    items: list[JSONObject] | None, made: Callable[[JSONObject], JSONObject]
) -> list[JSONObject] | None:
    return None if items is None else [made(item) for item in items]
