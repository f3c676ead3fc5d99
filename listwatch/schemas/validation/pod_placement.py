"""Faults of what a pod says about where it may run: affinity, spreading, gates.

Upstream: pkg/apis/core/validation/validation.go. Used by `validation.pods`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import (
    label_name_faults,
    label_value_faults,
    qualified_name_faults,
    subdomain_faults,
)
from listwatch.schemas.validation.faults import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.selectors import operator_faults, selector_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_NO_KEY = "can not be empty"


def affinity_faults(affinity: JSONObject, field: str) -> list[Cause]:
    """Faults of an Affinity: to nodes, to pods, and against pods."""
    faults: list[Cause] = []
    nodes = affinity.get("nodeAffinity")
    if nodes is not None:
        faults += _node_affinity_faults(nodes, f"{field}.nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(kind) or {}
        where = f"{field}.{kind}.{_REQUIRED}"
        for index, term in enumerate(pods.get(_REQUIRED) or ()):
            faults += _pod_term_faults(term, f"{where}[{index}]")
        for index, weighted in enumerate(pods.get(_PREFERRED) or ()):
            at = f"{field}.{kind}.{_PREFERRED}[{index}]"
            faults += _weight_faults(weighted, at)
            faults += _pod_term_faults(
                weighted.get("podAffinityTerm") or {}, f"{at}.podAffinityTerm"
            )
    return faults


def node_selector_faults(selector: JSONObject, field: str) -> list[Cause]:
    """Faults of a NodeSelector, one of whose terms must match."""
    terms = selector.get("nodeSelectorTerms")
    where = f"{field}.nodeSelectorTerms"
    if not terms:
        return [required(where, "must have at least one node selector term")]
    return [
        fault
        for index, term in enumerate(terms)
        for fault in _node_term_faults(term, f"{where}[{index}]", values=True)
    ]


def _node_affinity_faults(affinity: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    if affinity.get(_REQUIRED) is not None:
        faults += node_selector_faults(affinity[_REQUIRED], f"{field}.{_REQUIRED}")
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{field}.{_PREFERRED}[{index}]"
        faults += _weight_faults(weighted, where)
        preference = weighted.get("preference") or {}
        faults += _node_term_faults(preference, f"{where}.preference", values=False)
    return faults


def _weight_faults(weighted: JSONObject, field: str) -> list[Cause]:
    weight = weighted.get("weight") or 0
    if 0 < weight <= 100:
        return []
    return [invalid(f"{field}.weight", weight, "must be in the range 1-100")]


def _node_term_faults(term: JSONObject, field: str, *, values: bool) -> list[Cause]:
    faults: list[Cause] = []
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        where = f"{field}.matchExpressions[{index}]"
        faults += _requirement_faults(requirement, where, values=values)
    for index, requirement in enumerate(term.get("matchFields") or ()):
        faults += _node_field_faults(requirement, f"{field}.matchFields[{index}]")
    return faults


def _requirement_faults(requirement: JSONObject, field: str, *, values: bool) -> list[Cause]:
    given = requirement.get("values") or []
    faults = operator_faults(requirement, field, compares=True)
    key = requirement.get("key") or ""
    faults += [invalid(f"{field}.key", key, why) for why in qualified_name_faults(key)]
    if values:
        faults += [
            invalid(f"{field}.values[{index}]", value, why)
            for index, value in enumerate(given)
            for why in label_value_faults(value)
        ]
    return faults


def _node_field_faults(requirement: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    operator, given = requirement.get("operator") or "", requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if len(given) != 1:
            why = (
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
            faults.append(required(f"{field}.values", why))
    else:
        faults.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    key = requirement.get("key") or ""
    if key != "metadata.name":
        faults.append(invalid(f"{field}.key", key, "not a valid field selector key"))
    else:
        faults += [
            invalid(f"{field}.values[{index}]", value, why)
            for index, value in enumerate(given)
            for why in subdomain_faults(value)
        ]
    return faults


def _pod_term_faults(term: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    for name in ("labelSelector", "namespaceSelector"):
        if term.get(name) is not None:
            faults += selector_faults(term[name], f"{field}.{name}")
    for name in term.get("namespaces") or ():
        faults += [invalid(f"{field}.namespace", name, why) for why in label_name_faults(name)]
    for name in ("matchLabelKeys", "mismatchLabelKeys"):
        faults += _label_key_faults(term, name, field)
    key = term.get("topologyKey") or ""
    if not key:
        faults.append(required(f"{field}.topologyKey", _NO_KEY))
    faults += [invalid(f"{field}.topologyKey", key, why) for why in qualified_name_faults(key)]
    return faults


def _label_key_faults(term: JSONObject, name: str, field: str) -> list[Cause]:
    keys = term.get(name) or ()
    if keys and term.get("labelSelector") is None:
        return [forbidden(f"{field}.{name}", "must not be specified when labelSelector is not set")]
    return [
        invalid(f"{field}.{name}[{index}]", key, why)
        for index, key in enumerate(keys)
        for why in qualified_name_faults(key)
    ]


def spread_faults(constraints: list[JSONObject], field: str) -> list[Cause]:
    """Faults of a list of topology spread constraints."""
    faults: list[Cause] = []
    pairs = [(c.get("topologyKey") or "", c.get("whenUnsatisfiable") or "") for c in constraints]
    for index, constraint in enumerate(constraints):
        where = f"{field}[{index}]"
        key, action = pairs[index]
        skew = constraint.get("maxSkew") or 0
        if skew <= 0:
            faults.append(invalid(f"{where}.maxSkew", skew, "must be greater than zero"))
        if not key:
            faults.append(required(f"{where}.topologyKey", _NO_KEY))
        if action not in _ACTIONS:
            faults.append(not_supported(f"{where}.whenUnsatisfiable", action, _ACTIONS))
        if (key, action) in pairs[index + 1 :]:
            at = f"{where}.{{topologyKey, whenUnsatisfiable}}"
            faults.append(duplicate(at, f"{{{key}, {action}}}"))
        faults += _least_domains_faults(constraint.get("minDomains"), action, where)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(name)
            if policy is not None and policy not in _POLICIES:
                faults.append(not_supported(f"{where}.{name}", policy, _POLICIES))
        if constraint.get("labelSelector") is not None:
            faults += selector_faults(constraint["labelSelector"], f"{where}.labelSelector")
        faults += _label_key_faults(constraint, "matchLabelKeys", where)
    return faults


def _least_domains_faults(least: int | None, action: str, field: str) -> list[Cause]:
    if least is None:
        return []
    faults: list[Cause] = []
    if least <= 0:
        faults.append(invalid(f"{field}.minDomains", least, "must be greater than zero"))
    if action != _ACTIONS[0]:
        why = f"can only use minDomains if whenUnsatisfiable={_ACTIONS[0]}, not {action}"
        faults.append(invalid(f"{field}.minDomains", least, why))
    return faults


def gate_faults(gates: list[JSONObject], field: str) -> list[Cause]:
    """Faults of scheduling gates: a qualified name each, and no two the same."""
    faults: list[Cause] = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name") or ""
        faults += [invalid(f"{field}[{index}]", name, why) for why in qualified_name_faults(name)]
        if name in seen:
            faults.append(duplicate(f"{field}[{index}]", name))
        seen.add(name)
    return faults
