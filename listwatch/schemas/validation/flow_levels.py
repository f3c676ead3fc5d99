"""Faults of PriorityLevelConfigurations: shares, and queues of a size that can be dealt from.

Upstream: pkg/apis/flowcontrol/validation. The caller is `validate`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from listwatch.schemas.validation.faults import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from listwatch.schemas.validation.flows import condition_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

_KINDS = ("Exempt", "Limited")
_ANSWERS = ("Queue", "Reject")
_MOST_QUEUES = 10_000_000
# As many bits of a hash can be used to deal a hand of queues.
_HASH_BITS = 60
_ROUND_TRIP = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
_CATCH_ALL = {
    "Type": "Limited",
    "Limited": {
        "NominalConcurrencyShares": 5,
        "LimitResponse": {"Type": "Reject", "Queuing": None},
        "LendablePercent": 0,
        "BorrowingLimitPercent": None,
    },
    "Exempt": None,
}


def priority_level_faults(document: JSONObject) -> list[Cause]:
    """Faults of a PriorityLevelConfiguration by itself."""
    metadata, spec = document.get("metadata") or {}, document.get("spec") or {}
    name, kind = metadata.get("name") or "", spec.get("type") or ""
    faults: list[Cause] = []
    if _ROUND_TRIP in (metadata.get("annotations") or {}):
        why = f"annotation '{_ROUND_TRIP}' is forbidden"
        faults.append(forbidden("metadata.annotations", why))
    if (name == "exempt") != (kind == "Exempt"):
        why = "must be 'Exempt' if and only if `name` is 'exempt'"
        faults.append(invalid("spec.type", kind, why))
    faults += _kind_faults(kind, spec) + _mandatory_faults(name, _in_go(spec))
    return faults + condition_faults(document.get("status") or {})


def _kind_faults(kind: str, spec: JSONObject) -> list[Cause]:
    exempt, limited, faults = spec.get("exempt"), spec.get("limited"), []
    if kind not in _KINDS:
        return [not_supported("spec.type", kind, _KINDS)]
    if kind == "Exempt":
        if limited is not None:
            why = "must be nil if the type is not Limited"
            faults.append(forbidden("spec.limited", why))
        return faults + _share_faults(exempt or {}, "spec.exempt")
    if exempt is not None:
        faults.append(forbidden("spec.exempt", "must be nil if the type is Limited"))
    if limited is None:
        why = "must not be empty when type is Limited"
        return [*faults, required("spec.limited", why)]
    return faults + _limited_faults(limited, "spec.limited")


def _mandatory_faults(name: str, spec: JSONObject) -> list[Cause]:
    # Of the one that is exempt its shares may be set, of the last resort nothing.
    if name == "exempt" and (spec["Type"], spec["Limited"]) != ("Exempt", None):
        why = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
        return [invalid("spec", spec, why)]
    if name == "catch-all" and spec != _CATCH_ALL:
        return [invalid("spec", spec, "spec of 'catch-all' must equal the fixed value")]
    return []


def _share_faults(level: JSONObject, field: str) -> list[Cause]:
    return _shares_faults(level, field) + _lendable_faults(level, field)


def _shares_faults(level: JSONObject, field: str) -> list[Cause]:
    shares = level.get("nominalConcurrencyShares") or 0
    why = "must be a non-negative integer"
    return [invalid(f"{field}.nominalConcurrencyShares", shares, why)] if shares < 0 else []


def _lendable_faults(level: JSONObject, field: str) -> list[Cause]:
    lendable = level.get("lendablePercent") or 0
    if 0 <= lendable <= 100:
        return []
    return [invalid(f"{field}.lendablePercent", lendable, "must be between 0 and 100, inclusive")]


def _limited_faults(level: JSONObject, field: str) -> list[Cause]:
    faults = _shares_faults(level, field)
    response, where = level.get("limitResponse") or {}, f"{field}.limitResponse"
    answer, queuing = response.get("type") or "", response.get("queuing")
    if answer not in _ANSWERS:
        faults.append(not_supported(f"{where}.type", answer, _ANSWERS))
    elif answer == "Reject":
        if queuing is not None:
            why = "must be nil if limited.limitResponse.type is not Limited"
            faults.append(forbidden(f"{where}.queuing", why))
    elif queuing is None:
        why = "must not be empty if limited.limitResponse.type is Limited"
        faults.append(required(f"{where}.queuing", why))
    else:
        faults += _queuing_faults(queuing, f"{where}.queuing")
    faults += _lendable_faults(level, field)
    borrowing = level.get("borrowingLimitPercent") or 0
    if borrowing < 0:
        why = "if specified, must be a non-negative integer"
        faults.append(invalid(f"{field}.borrowingLimitPercent", borrowing, why))
    return faults


def _queuing_faults(queuing: JSONObject, field: str) -> list[Cause]:
    queues, hand, length = (
        queuing.get(name) or 0 for name in ("queues", "handSize", "queueLengthLimit")
    )
    faults: list[Cause] = []
    if length <= 0:
        faults.append(invalid(f"{field}.queueLengthLimit", length, "must be positive"))
    if queues <= 0:
        faults.append(invalid(f"{field}.queues", queues, "must be positive"))
    elif queues > _MOST_QUEUES:
        why = f"must not be greater than {_MOST_QUEUES}"
        faults.append(invalid(f"{field}.queues", queues, why))
    if hand <= 0:
        why = "must be positive"
    elif hand > queues:
        why = f"should not be greater than queues ({queues})"
    elif math.ceil(math.log2(queues) * hand) > _HASH_BITS:
        why = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be "
            f"greater than {_HASH_BITS}"
        )
    else:
        return faults
    return [*faults, invalid(f"{field}.handSize", hand, why)]


def _in_go(spec: JSONObject) -> JSONObject:
    # A spec is shown with the names that upstream has for its parts within the server.
    exempt, limited = spec.get("exempt"), spec.get("limited")
    shares = ("nominalConcurrencyShares", "lendablePercent")
    made: JSONObject = {"Type": spec.get("type") or "", "Limited": None, "Exempt": None}
    if limited is not None:
        response = limited.get("limitResponse") or {}
        queuing = response.get("queuing")
        made["Limited"] = {
            "NominalConcurrencyShares": limited.get("nominalConcurrencyShares") or 0,
            "LimitResponse": {
                "Type": response.get("type") or "",
                "Queuing": None
                if queuing is None
                else _capitals(queuing, ("queues", "handSize", "queueLengthLimit"), 0),
            },
            **_capitals(limited, ("lendablePercent", "borrowingLimitPercent"), None),
        }
    if exempt is not None:
        made["Exempt"] = _capitals(exempt, shares, None)
    return made


def _capitals(values: JSONObject, names: tuple[str, ...], absent: int | None) -> JSONObject:
    return {name[0].upper() + name[1:]: values.get(name, absent) for name in names}
