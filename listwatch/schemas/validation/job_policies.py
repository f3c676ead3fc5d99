"""Faults of what a job says of its failures and of its success.

Upstream: pkg/apis/batch/validation/validation.go. Used by `validation.batch`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.errors import Cause
from listwatch.protocol.names import qualified_name_faults
from listwatch.schemas.validation.faults import (
    duplicate,
    invalid,
    negatives,
    not_supported,
    required,
    too_many,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from listwatch.protocol.objects import JSONObject

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_RULES, _MOST_CODES = 20, 255


def failure_policy_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of the rules by which failed pods are counted, or not."""
    policy = spec.get("podFailurePolicy")
    if policy is None:
        return []
    rules = policy.get("rules") or []
    where = f"{field}.podFailurePolicy.rules"
    faults = [too_many(where, len(rules), _MOST_RULES)] if len(rules) > _MOST_RULES else []
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {
        one.get("name") for kind in ("containers", "initContainers") for one in pod.get(kind) or ()
    }
    for index, rule in enumerate(rules):
        faults += _rule_faults(rule, f"{where}[{index}]", names, spec)
    return faults


def _rule_faults(
    rule: JSONObject, field: str, names: Collection[str | None], spec: JSONObject
) -> list[Cause]:
    action, codes, conditions = (
        rule.get("action") or "", rule.get("onExitCodes"), rule.get("onPodConditions") or [],
    )  # fmt: skip
    faults = _chosen(action, f"{field}.action", _ACTIONS)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        why = "requires the backoffLimitPerIndex to be set"
        faults.append(invalid(f"{field}.action", action, why))
    if codes is not None:
        faults += _exit_code_faults(codes, f"{field}.onExitCodes", names)
    where = f"{field}.onPodConditions"
    if len(conditions) > _MOST_RULES:
        faults.append(too_many(where, len(conditions), _MOST_RULES))
    for index, condition in enumerate(conditions):
        kind = condition.get("type") or ""
        faults += [
            invalid(f"{where}[{index}].type", kind, why) for why in qualified_name_faults(kind)
        ]
        faults += _chosen(condition.get("status") or "True", f"{where}[{index}].status", _STATUSES)
    if codes is not None and conditions:
        faults.append(
            _of(field, "specifying both OnExitCodes and OnPodConditions is not supported")
        )
    if codes is None and not conditions:
        faults.append(_of(field, "specifying one of OnExitCodes and OnPodConditions is required"))
    return faults


def _exit_code_faults(codes: JSONObject, field: str, names: Collection[str | None]) -> list[Cause]:
    operator, container = codes.get("operator") or "", codes.get("containerName")
    faults = _chosen(operator, f"{field}.operator", _OPERATORS)
    if container is not None and container not in names:
        why = "must be one of the container or initContainer names in the pod template"
        faults.append(invalid(f"{field}.containerName", container, why))
    values, where = codes.get("values"), f"{field}.values"
    if not values:
        return [*faults, invalid(where, values, "at least one value is required")]
    if len(values) > _MOST_CODES:
        faults.append(too_many(where, len(values), _MOST_CODES))
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            faults.append(invalid(f"{where}[{index}]", value, "must not be 0 for the In operator"))
        if value in values[:index]:
            faults.append(duplicate(f"{where}[{index}]", value))
    if list(values) != sorted(values):
        faults.append(invalid(where, values, "must be ordered"))
    return faults


def success_policy_faults(spec: JSONObject, field: str) -> list[Cause]:
    """Faults of the rules by which a job is done before all its indexes are."""
    policy = spec.get("successPolicy")
    if policy is None:
        return []
    rules, where = policy.get("rules") or [], f"{field}.successPolicy.rules"
    if not rules:
        why = "at least one rules must be specified when the successPolicy is specified"
        return [required(where, why)]
    faults = [too_many(where, len(rules), _MOST_RULES)] if len(rules) > _MOST_RULES else []
    for index, rule in enumerate(rules):
        faults += _success_faults(rule, f"{where}[{index}]", spec.get("completions"))
    return faults


def _success_faults(rule: JSONObject, field: str, completions: int | None) -> list[Cause]:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        why = "at least one of succeededCount or succeededIndexes must be specified"
        return [required(field, why)]
    faults, total = [], 0
    if indexes is not None:
        try:
            total = _count(indexes, completions or 0)
        except ValueError as error:
            why = f"error parsing succeededIndexes: {error}"
            faults.append(invalid(f"{field}.succeededIndexes", indexes, why))
    if count is None:
        return faults
    where, before = f"{field}.succeededCount", "must be less than or equal to"
    faults += negatives(rule, ("succeededCount",), field)
    if completions is not None and count > completions:
        why = f"{before} {completions} (the number of specified completions)"
        faults.append(invalid(where, count, why))
    if indexes is not None and count > total:
        why = f"{before} {total} (the number of indexes in the specified succeededIndexes field)"
        faults.append(invalid(where, count, why))
    return faults


def _count(text: str, completions: int) -> int:
    # As `1,3-5`, each greater than the one before; raises ValueError.
    total, last = 0, -1
    for part in text.split(",") if text else ():
        first, dash, end = part.partition("-")
        low = _index(first, last, completions)
        last = _index(end, low, completions) if dash else low
        total += last - low + 1
    return total


def _index(text: str, last: int, completions: int) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f'cannot convert string to integer for index: "{text}"')
    index = int(text)
    if index >= completions:
        raise ValueError(f'too large index: "{text}"')
    if last >= index:
        raise ValueError(f"non-increasing order, previous: {last}, current: {index}")
    return index


def _chosen(value: str, field: str, supported: tuple[str, ...]) -> list[Cause]:
    if not value:
        names = " ".join(f'"{name}"' for name in supported)
        return [required(field, f"valid values: [{names}]")]
    return [] if value in supported else [not_supported(field, value, supported)]


def _of(field: str, why: str) -> Cause:
    # The value, a structure of the server, is left out.
    return Cause("FieldValueInvalid", f"Invalid value: {why}", field)
