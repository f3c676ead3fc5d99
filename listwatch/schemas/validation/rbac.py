"""Faults of roles and bindings, as upstream's pkg/apis/rbac/validation has them.

Called by `validator`; causes go back in upstream's order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orjson import dumps

from listwatch.protocol.errors import Cause
from listwatch.protocol.names import quoted, subdomain_faults
from listwatch.schemas.validation.faults import invalid
from listwatch.schemas.validation.selectors import selector_faults

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

RBAC = "rbac.authorization.k8s.io"


def role_faults(role: JSONObject) -> list[Cause]:
    """Faults of a Role, whose rules are about resources alone."""
    return _rules_faults(role, namespaced=True)


def cluster_role_faults(role: JSONObject) -> list[Cause]:
    """Faults of a ClusterRole."""
    causes = _rules_faults(role, namespaced=False)
    aggregation = role.get("aggregationRule")
    if aggregation is not None and not aggregation.get("clusterRoleSelectors"):
        where = "aggregationRule.clusterRoleSelectors"
        why = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        causes.insert(0, _required(where, why))
    for index, selector in enumerate((aggregation or {}).get("clusterRoleSelectors") or ()):
        where = f"aggregationRule.clusterRoleSelectors[{index}]"
        found = selector_faults(selector, where)
        if found:
            causes += [*found, invalid(where, None, "invalid label selector.")]
    return causes


def _rules_faults(role: JSONObject, *, namespaced: bool) -> list[Cause]:
    return [
        cause
        for index, rule in enumerate(role.get("rules") or ())
        for cause in _rule_faults(rule, f"rules[{index}]", namespaced=namespaced)
    ]


def _rule_faults(rule: JSONObject, where: str, *, namespaced: bool) -> list[Cause]:
    causes = []
    if not rule.get("verbs"):
        causes.append(_required(f"{where}.verbs", "verbs must contain at least one value"))
    urls = rule.get("nonResourceURLs")
    if urls:
        shown = f"Invalid value: {dumps(urls).decode()}: "
        field = f"{where}.nonResourceURLs"
        if namespaced:
            why = f"{shown}namespaced rules cannot apply to non-resource URLs"
            causes.append(Cause("FieldValueInvalid", why, field))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            why = f"{shown}rules cannot apply to both regular resources and non-resource URLs"
            causes.append(Cause("FieldValueInvalid", why, field))
        return causes
    if not rule.get("apiGroups"):
        why = "resource rules must supply at least one api group"
        causes.append(_required(f"{where}.apiGroups", why))
    if not rule.get("resources"):
        why = "resource rules must supply at least one resource"
        causes.append(_required(f"{where}.resources", why))
    return causes


def role_binding_faults(binding: JSONObject) -> list[Cause]:
    """Faults of a RoleBinding, which may bind roles of both kinds."""
    return _binding_faults(binding, ("Role", "ClusterRole"), namespaced=True)


def cluster_role_binding_faults(binding: JSONObject) -> list[Cause]:
    """Faults of a ClusterRoleBinding."""
    return _binding_faults(binding, ("ClusterRole",), namespaced=False)


def binding_update_faults(binding: JSONObject, old: JSONObject) -> list[Cause]:
    """What a binding binds can never change."""
    reference = binding.get("roleRef") or {}
    if reference == (old.get("roleRef") or {}):
        return []
    value = {key: reference.get(key, "") for key in ("apiGroup", "kind", "name")}
    shown = dumps({key[0].upper() + key[1:]: given for key, given in value.items()}).decode()
    shown = shown.replace('"ApiGroup"', '"APIGroup"')
    why = f"Invalid value: {shown}: cannot change roleRef"
    return [Cause("FieldValueInvalid", why, "roleRef")]


def _binding_faults(
    binding: JSONObject, kinds: tuple[str, ...], *, namespaced: bool
) -> list[Cause]:
    reference = binding.get("roleRef") or {}
    causes = []
    if reference.get("apiGroup") != RBAC:
        causes.append(_unsupported("roleRef.apiGroup", reference.get("apiGroup"), (RBAC,)))
    if reference.get("kind") not in kinds:
        causes.append(_unsupported("roleRef.kind", reference.get("kind"), kinds))
    if not reference.get("name"):
        causes.append(_required("roleRef.name"))
    for index, subject in enumerate(binding.get("subjects") or ()):
        causes += _subject_faults(subject, f"subjects[{index}]", namespaced=namespaced)
    return causes


def _subject_faults(subject: JSONObject, where: str, *, namespaced: bool) -> list[Cause]:
    kind, name, group = subject.get("kind"), subject.get("name"), subject.get("apiGroup") or ""
    causes = [] if name else [_required(f"{where}.name")]
    if kind == "ServiceAccount":
        for fault in subdomain_faults(name) if name else ():
            why = f"Invalid value: {quoted(str(name))}: {fault}"
            causes.append(Cause("FieldValueInvalid", why, f"{where}.name"))
        if group:
            causes.append(_unsupported(f"{where}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            causes.append(_required(f"{where}.namespace"))
    elif kind in ("User", "Group"):
        if group != RBAC:
            causes.append(_unsupported(f"{where}.apiGroup", group, (RBAC,)))
    else:
        causes.append(_unsupported(f"{where}.kind", kind, ("ServiceAccount", "User", "Group")))
    return causes


def _required(where: str, why: str = "") -> Cause:
    return Cause("FieldValueRequired", f"Required value: {why}" if why else "Required value", where)


def _unsupported(where: str, given: object, supported: tuple[str, ...]) -> Cause:
    listed = ", ".join(quoted(value) for value in supported)
    message = f"Unsupported value: {quoted(str(given or ''))}: supported values: {listed}"
    return Cause("FieldValueNotSupported", message, where)
