"""Faults of how a single container is started again, whatever its pod does.

Upstream: validateContainerRestartPolicy in pkg/apis/core/validation. Used by `containers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import not_supported, required, too_many

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_POLICIES = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")
_OPERATORS = ("In", "NotIn")
_MOST_RULES, _MOST_CODES = 20, 255


def restart_faults(container: JSONObject, field: str) -> list[Cause]:
    """Faults of a container's own restartPolicy, and of its rules by exit code."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    faults: list[Cause] = []
    if policy is None and rules:
        why = "must specify restartPolicy when restart rules are used"
        faults.append(required(f"{field}.restartPolicy", why))
    elif policy is not None and policy not in _POLICIES:
        faults.append(not_supported(f"{field}.restartPolicy", policy, _POLICIES))
    if len(rules) > _MOST_RULES:
        faults.append(too_many(f"{field}.restartPolicyRules", len(rules), _MOST_RULES))
    for index, rule in enumerate(rules):
        faults += _rule_faults(rule, f"{field}.restartPolicyRules[{index}]")
    return faults


def _rule_faults(rule: JSONObject, field: str) -> list[Cause]:
    action, codes = rule.get("action") or "", rule.get("exitCodes")
    faults: list[Cause] = []
    if action not in _ACTIONS:
        faults.append(not_supported(f"{field}.action", action, _ACTIONS))
    where = f"{field}.exitCodes"
    if codes is None:
        return [*faults, required(where, "must be specified")]
    operator, values = codes.get("operator") or "", codes.get("values") or []
    if operator not in _OPERATORS:
        faults.append(not_supported(f"{where}.operator", operator, _OPERATORS))
    if len(values) > _MOST_CODES:
        faults.append(too_many(f"{where}.values", len(values), _MOST_CODES))
    return faults
