"""Nodes, service accounts, and events of the new API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.errors import Cause
from listwatch.protocol.names import qualified_name_faults, quoted
from listwatch.registry.strategies.strategy import Strategy
from listwatch.schemas.validation.faults import invalid, required

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_LONGEST = 128  # characters of who tells of an event, and why
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
        causes += _reporting_causes(document) + _series_causes(document.get("series"))
        for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
            if document.get(field):
                why = 'Invalid value: "": needs to be unset'
                causes.append(Cause("FieldValueInvalid", why, field))
        return causes


def _reporting_causes(document: JSONObject) -> list[Cause]:
    # The object is in the core group's form, and told of under the names of the new one.
    controller = document.get("reportingComponent") or ""
    causes = [
        invalid("reportingController", controller, why) for why in qualified_name_faults(controller)
    ]
    for name in ("reportingInstance", "action", "reason"):
        value = document.get(name) or ""
        if not value:
            causes.append(required(name))
        elif len(value) > _LONGEST:
            causes.append(invalid(name, "", f"can have at most {_LONGEST} characters"))
    return causes


def _series_causes(series: JSONObject | None) -> list[Cause]:
    if series is None:
        return []
    causes = []
    if (series.get("count") or 0) < 2:
        causes.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        causes.append(required("series.lastObservedTime"))
    return causes


def _clean_references(document: JSONObject) -> None:
    if document.get("secrets"):
        document["secrets"] = [{"name": secret.get("name", "")} for secret in document["secrets"]]
