"""Requests for certificates: who asks is the server's to say, who may approve is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.registry.strategies.strategy import Strategy, restore

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.context import UserInfo

_DECISIONS = frozenset(("Approved", "Denied"))


@dataclass(frozen=True, slots=True)
class SigningRequestStrategy(Strategy):
    """Signing requests; upstream: pkg/registry/certificates/certificates/strategy.go."""

    has_status: bool = True

    def sign(self, document: JSONObject, user: UserInfo) -> None:
        """The request is of whoever sends it."""
        spec = document.setdefault("spec", {})
        for key in ("username", "uid", "groups", "extra"):
            spec.pop(key, None)
        spec["username"] = user.name
        if user.uid:
            spec["uid"] = user.uid
        if user.groups:
            spec["groups"] = list(user.groups)
        if user.extra:
            spec["extra"] = {key: list(values) for key, values in user.extra.items()}

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """A request stays what it was."""
        restore(document, old, "spec")
        restore(document, old, "status")

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """The signer may say anything but whether it is approved."""
        restore(document, old, "spec")
        _merge_conditions(document, old, now, decisions=False)

    def prepare_approval(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """The approver may say nothing but that."""
        restore(document, old, "spec")
        wanted = (document.get("status") or {}).get("conditions") or []
        document["status"] = {**(old.get("status") or {}), "conditions": wanted}
        _merge_conditions(document, old, now, decisions=True)


def _merge_conditions(document: JSONObject, old: JSONObject, now: str, *, decisions: bool) -> None:
    """Take the conditions of one side only: those that this part of the object may change."""
    status = document.setdefault("status", {})
    before = (old.get("status") or {}).get("conditions") or []
    new = [
        dict(condition)
        for condition in status.get("conditions") or []
        if (condition.get("type") in _DECISIONS) is decisions
    ]
    known = {condition.get("type"): condition for condition in before}
    for condition in new:
        condition.setdefault("status", "True")
        previous = known.get(condition.get("type"))
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            same = previous is not None and previous.get("status") == condition.get("status")
            since = previous.get("lastTransitionTime") if same and previous else None
            condition["lastTransitionTime"] = since or now
    kept = [
        condition for condition in before if (condition.get("type") in _DECISIONS) is not decisions
    ]
    conditions = [*kept, *new]
    order = {condition.get("type"): index for index, condition in enumerate(before)}
    conditions.sort(key=lambda condition: order.get(condition.get("type"), len(order)))
    if conditions:
        status["conditions"] = conditions
    else:
        status.pop("conditions", None)
