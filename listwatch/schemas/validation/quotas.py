"""Faults of ResourceQuotas: what they count, how much of it, and for which objects.

Upstream: ValidateResourceQuota in pkg/apis/core/validation. The caller is `validate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.names import qualified_name_faults
from listwatch.protocol.quantities import Quantity
from listwatch.schemas.validation.faults import IMMUTABLE, NEGATIVE, invalid, required

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_COUNTED = frozenset((
    "pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
    "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
))  # fmt: skip
_COMPUTED = frozenset((
    "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
))  # fmt: skip
_STORED = frozenset((
    "ephemeral-storage", "requests.storage", "requests.ephemeral-storage",
    "limits.ephemeral-storage",
))  # fmt: skip
_STANDARD = _COUNTED | _COMPUTED | _STORED
_HUGE_PAGES = ("hugepages-", "requests.hugepages-")
_OF_PODS = _COMPUTED | {"pods"}
# Which of the standard resources each scope can go with.
_SCOPES = {
    "Terminating": _OF_PODS,
    "NotTerminating": _OF_PODS,
    "NotBestEffort": _OF_PODS,
    "BestEffort": frozenset({"pods"}),
    "PriorityClass": _OF_PODS,
    "CrossNamespacePodAffinity": _OF_PODS,
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_WITH_VALUES = frozenset({"PriorityClass", "VolumeAttributesClass"})
_OPPOSITES = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_ONLY_EXISTS = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
    "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
    "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def quota_faults(document: JSONObject) -> list[Cause]:
    """Faults of a ResourceQuota by itself."""
    spec, status = document.get("spec") or {}, document.get("status") or {}
    faults = _amounts_faults(spec.get("hard") or {}, "spec.hard")
    faults += _scopes_faults(spec)
    if spec.get("scopeSelector") is not None:
        faults += _selector_faults(spec, spec["scopeSelector"])
    for name in ("hard", "used"):
        faults += _amounts_faults(status.get(name) or {}, f"status.{name}")
    return faults


def _amounts_faults(amounts: JSONObject, field: str) -> list[Cause]:
    faults: list[Cause] = []
    for name, amount in amounts.items():
        faults += _name_faults(name, f"{field}[{name}]")
        faults += _amount_faults(name, amount, f"{field}[{name}]")
    return faults


def _name_faults(name: str, field: str) -> list[Cause]:
    faults = [invalid(field, name, why) for why in qualified_name_faults(name)]
    if "/" in name or _is_standard(name):
        return faults
    # Upstream asks twice: whether there is such a resource, and whether it can be counted.
    if not faults and name != "storage":
        why = "must be a standard resource type or fully qualified"
        faults.append(invalid(field, name, why))
    return [*faults, invalid(field, name, "must be a standard resource for quota")]


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith(_HUGE_PAGES)


def _amount_faults(name: str, amount: str, field: str) -> list[Cause]:
    quantity = Quantity.parse(amount)
    faults = []
    if quantity < Quantity.parse("0"):
        faults.append(invalid(field, amount, NEGATIVE))
    extended = "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
    if (name in _COUNTED or extended) and quantity.nano % 10**9:
        faults.append(invalid(field, amount, "must be an integer"))
    return faults


def _misfits(spec: JSONObject, scope: str) -> list[str]:
    # The resources that objects of this scope do not have.
    fitting = _SCOPES.get(scope)
    hard = sorted(spec.get("hard") or ())
    return [name for name in hard if fitting and _is_standard(name) and name not in fitting]


def _scopes_faults(spec: JSONObject) -> list[Cause]:
    faults: list[Cause] = []
    field, scopes = "spec.scopes", spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            faults.append(invalid(field, scopes, "unsupported scope"))
        why = "unsupported scope applied to resource"
        faults += [invalid(field, scopes, why) for _ in _misfits(spec, scope)]
    why = "conflicting scopes"
    return faults + [invalid(field, scopes, why) for pair in _OPPOSITES if set(pair) <= set(scopes)]


def _selector_faults(spec: JSONObject, selector: JSONObject) -> list[Cause]:
    # Upstream names no single requirement, and shows the scopes where two of them conflict.
    faults: list[Cause] = []
    field, requirements = "spec.scopeSelector.matchExpressions", _in_go(selector)
    for requirement in requirements:
        scope, operator, values = requirement.values()
        if scope not in _SCOPES:
            faults.append(invalid(f"{field}.scopeName", scope, "unsupported scope"))
        why = "unsupported scope applied to resource"
        whole = {"MatchExpressions": requirements}
        faults += [invalid(field, whole, why) for _ in _misfits(spec, scope)]
        if scope in _SCOPES and scope not in _WITH_VALUES and operator != "Exists":
            faults.append(invalid(f"{field}.operator", operator, _ONLY_EXISTS))
        faults += _operator_faults(operator, values, field)
    scopes = {requirement["ScopeName"] for requirement in requirements}
    why = "conflicting scopes"
    return faults + [
        invalid(field, spec.get("scopes"), why) for pair in _OPPOSITES if set(pair) <= scopes
    ]


def _in_go(selector: JSONObject) -> list[JSONObject]:
    # A selector is shown with the names that upstream has for its parts within the server.
    return [
        {
            "ScopeName": requirement.get("scopeName") or "",
            "Operator": requirement.get("operator") or "",
            "Values": requirement.get("values"),
        }
        for requirement in selector.get("matchExpressions") or ()
    ]


def _operator_faults(operator: str, values: list[str] | None, field: str) -> list[Cause]:
    if operator in ("In", "NotIn"):
        why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
        return [] if values else [required(f"{field}.values", why)]
    if operator in ("Exists", "DoesNotExist"):
        why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        return [invalid(f"{field}.values", values, why)] if values else []
    return [invalid(f"{field}.operator", operator, "not a valid selector operator")]


def quota_update_faults(new: JSONObject, old: JSONObject) -> list[Cause]:
    """What a quota counts stays as it is; the order of its scopes means nothing."""
    scopes, before = ((one.get("spec") or {}).get("scopes") for one in (new, old))
    same = set(scopes or ()) == set(before or ())
    return [] if same else [invalid("spec.scopes", scopes, IMMUTABLE)]
