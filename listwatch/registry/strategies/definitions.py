"""Definitions of custom resources: completed names, versions that objects were ever stored in.

Upstream: apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go. Their
conditions are the business of `custom_resources.lifecycle`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from listwatch.registry.strategies.strategy import Strategy, restore
from listwatch.schemas.expressions import MISSING
from listwatch.schemas.structural.cel_library import environment
from listwatch.schemas.structural.definition_faults import definition_faults

if TYPE_CHECKING:
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.objects import JSONObject

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


@dataclass(frozen=True, slots=True)
class DefinitionStrategy(Strategy):
    """A definition is deleted in two steps: its objects go first, which its finalizer is for."""

    has_status: bool = True
    counts_generations: bool = True
    unconditional_update: bool = False

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """Its stored versions begin with the one that is stored."""
        _complete(document)
        document["metadata"]["generation"] = 1
        document["status"] = {
            "conditions": None, "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": _stored(document)[:1] or None,
        }  # fmt: skip

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Another stored version is added to those that objects may be kept in."""
        restore(document, old, "status")
        _complete(document)
        if self.spec_changed(document, old):
            document["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        status = {**(document.get("status") or {})}
        known = status.get("storedVersions") or []
        status["storedVersions"] = [*known, *(v for v in _stored(document) if v not in known)]
        document["status"] = status

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Of metadata nothing is taken but finalizers."""
        restore(document, old, "spec")
        metadata, before = document["metadata"], old["metadata"]
        for key in ("labels", "annotations", "ownerReferences"):
            restore(metadata, before, key)

    def validate(
        self, document: JSONObject, old: JSONObject | None, subresource: str
    ) -> list[Cause]:
        """Its names, versions and schemas; of a status alone, nothing."""
        return [] if subresource == "status" else definition_faults(document, old)

    def warnings(self, document: JSONObject) -> list[str]:
        """Rules are kept that nobody here can evaluate."""
        if environment() is not None or not _has_rules(document["spec"].get("versions")):
            return []
        return [f"x-kubernetes-validations are not evaluated: {MISSING}"]

    def mark_deleting(self, document: JSONObject) -> None:
        """Its objects must go before it."""
        metadata = document["metadata"]
        finalizers = metadata.setdefault("finalizers", [])
        if FINALIZER not in finalizers:
            finalizers.append(FINALIZER)
        status = document.setdefault("status", {})
        status["conditions"] = with_condition(
            status.get("conditions") or [],
            {
                "type": "Terminating",
                "status": "True",
                "lastTransitionTime": metadata["deletionTimestamp"],
                "reason": "InstanceDeletionPending",
                "message": "CustomResourceDefinition marked for deletion; "
                "CustomResource deletion will begin soon",
            },
        )


def with_condition(conditions: list[JSONObject], condition: JSONObject) -> list[JSONObject]:
    """The conditions with this one in its place; it keeps its time if it says nothing new."""
    found = []
    placed = False
    for one in conditions:
        if one.get("type") != condition["type"]:
            found.append(one)
            continue
        placed = True
        time = one if one.get("status") == condition["status"] else condition
        found.append({**condition, "lastTransitionTime": time.get("lastTransitionTime")})
    return found if placed else [*found, condition]


def _complete(document: JSONObject) -> None:
    spec = document.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind") or ""
    if kind and not names.get("singular"):
        names["singular"] = kind.lower()
    if kind and not names.get("listKind"):
        names["listKind"] = f"{kind}List"
    if not spec.get("conversion"):
        spec["conversion"] = {"strategy": "None"}
    client = ((spec["conversion"].get("webhook") or {}).get("clientConfig") or {}).get("service")
    if client is not None and not client.get("port"):
        client["port"] = 443


def _has_rules(value: Any) -> bool:  # Any: JSON
    if isinstance(value, dict):
        return "x-kubernetes-validations" in value or any(map(_has_rules, value.values()))
    return isinstance(value, list) and any(map(_has_rules, value))


def _stored(document: JSONObject) -> list[str]:
    versions = document["spec"].get("versions") or ()
    return [version["name"] for version in versions if version.get("storage")]
