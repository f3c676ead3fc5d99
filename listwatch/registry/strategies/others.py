"""Nodes, service accounts, and events of the new API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.errors import Cause
from listwatch.protocol.names import quoted
from listwatch.registry.strategies.strategy import Strategy

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_NOT_READY = ("node.kubernetes.io/not-ready", "NoSchedule")


@dataclass(frozen=True, slots=True)
class NodeStrategy(Strategy):
    """Nodes register themselves with their status; upstream: pkg/registry/core/node/strategy.go."""

    has_status: bool = True
    status_at_create: bool = True

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """A node is not ready until somebody says so, and takes no pods (TaintNodesByCondition)."""
        spec = document.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any((t.get("key"), t.get("effect")) == _NOT_READY for t in taints):
            key, effect = _NOT_READY
            spec["taints"] = [*taints, {"key": key, "effect": effect}]


@dataclass(frozen=True, slots=True)
class ServiceAccountStrategy(Strategy):
    """Of the secrets that an account names, nothing but the names is kept."""

    answers_deleted_object: bool = True

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """Reduce each reference to a name."""
        _clean_references(document)

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Reduce each reference to a name."""
        _clean_references(document)


@dataclass(frozen=True, slots=True)
class NewEventStrategy(Strategy):
    """Events made through `events.k8s.io`; it is stricter than the core group with new ones."""

    create_on_update: bool = True
    collects_garbage: bool = False

    def validate(
        self, document: JSONObject, old: JSONObject | None, subresource: str
    ) -> list[Cause]:
        """A new event says when, and whether it is normal; of the old fields it has none."""
        if old is not None:
            return []
        causes = []
        if not document.get("eventTime"):
            causes.append(Cause("FieldValueRequired", "Required value", "eventTime"))
        if document.get("type") not in ("Normal", "Warning"):
            given = quoted(document.get("type") or "")
            why = f"Invalid value: {given}: has invalid value"
            causes.append(Cause("FieldValueInvalid", why, "type"))
        for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
            if document.get(field):
                why = 'Invalid value: "": needs to be unset'
                causes.append(Cause("FieldValueInvalid", why, field))
        return causes


def _clean_references(document: JSONObject) -> None:
    if document.get("secrets"):
        document["secrets"] = [{"name": secret.get("name", "")} for secret in document["secrets"]]
