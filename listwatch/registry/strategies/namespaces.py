"""Namespaces: a phase instead of a grace period, and finalizers of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.errors import Cause
from listwatch.registry.strategies.strategy import Strategy, restore

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

FINALIZER = "kubernetes"  # held until the namespace's content is gone
NAME_LABEL = "kubernetes.io/metadata.name"
PROTECTED = frozenset(("default", "kube-system", "kube-public"))


@dataclass(frozen=True, slots=True)
class NamespaceStrategy(Strategy):
    """Namespaces; upstream: pkg/registry/core/namespace/strategy.go."""

    has_status: bool = True
    answers_deleted_object: bool = True

    def strip(self, document: JSONObject) -> None:
        """Its label counts as a default, which whoever makes it owns."""
        Strategy.strip(self, document)
        label(document)

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """A namespace begins active, and is held by the finalizer of its content."""
        document["status"] = {"phase": "Active"}
        spec = document.setdefault("spec", {})
        finalizers = spec.get("finalizers") or []
        spec["finalizers"] = finalizers if FINALIZER in finalizers else [*finalizers, FINALIZER]
        label(document)

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Its finalizers change at `finalize` only."""
        restore(document, old, "status")
        restore(document, old, "spec")
        label(document)

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """The finalizers stay as they are; metadata may change."""
        Strategy.prepare_status(self, document, old, now)
        label(document)

    def prepare_finalize(self, document: JSONObject, old: JSONObject) -> None:
        """The finalizers may change, the status may not."""
        restore(document, old, "status")
        label(document)

    def validate(
        self, document: JSONObject, old: JSONObject | None, subresource: str
    ) -> list[Cause]:
        """The phase and the deletion timestamp tell the same."""
        if subresource != "status":
            return []
        phase = (document.get("status") or {}).get("phase", "")
        deleting = document["metadata"].get("deletionTimestamp")
        wanted = "Terminating" if deleting else "Active"
        if phase == wanted:
            return []
        holds = "is not empty" if deleting else "is empty"
        why = f"Invalid value: \"{phase}\": may only be '{wanted}' if `deletionTimestamp` {holds}"
        return [Cause("FieldValueInvalid", why, "status.Phase")]

    def mark_deleting(self, document: JSONObject) -> None:
        """Its phase says so from then on."""
        document.setdefault("status", {})["phase"] = "Terminating"

    def may_go(self, document: JSONObject) -> bool:
        """Not before the last of its own finalizers is gone."""
        return not (document.get("spec") or {}).get("finalizers")


def label(document: JSONObject) -> None:
    """The label that names the namespace, for selectors; whoever takes it off finds it again."""
    metadata = document["metadata"]
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}
