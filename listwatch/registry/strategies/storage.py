"""Volumes and claims: held while in use, and a status that tells when its phase changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.registry.strategies.strategy import Strategy

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_VOLUME_FINALIZER = "kubernetes.io/pv-protection"
_CLAIM_FINALIZER = "kubernetes.io/pvc-protection"


@dataclass(frozen=True, slots=True)
class VolumeStrategy(Strategy):
    """Persistent volumes; upstream: pkg/registry/core/persistentvolume/strategy.go."""

    has_status: bool = True
    answers_deleted_object: bool = True

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """A volume begins as pending, and is held until nobody uses it."""
        document["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}
        _hold(document, _VOLUME_FINALIZER)

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Another phase has another time."""
        Strategy.prepare_status(self, document, old, now)
        status, before = document.setdefault("status", {}), old.get("status") or {}
        if status.get("phase") == before.get("phase"):
            if "lastPhaseTransitionTime" in before and "lastPhaseTransitionTime" not in status:
                status["lastPhaseTransitionTime"] = before["lastPhaseTransitionTime"]
        elif status.get("lastPhaseTransitionTime") == before.get("lastPhaseTransitionTime"):
            status["lastPhaseTransitionTime"] = now


@dataclass(frozen=True, slots=True)
class ClaimStrategy(Strategy):
    """Claims; upstream: pkg/registry/core/persistentvolumeclaim/strategy.go."""

    has_status: bool = True
    answers_deleted_object: bool = True

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """A claim begins as pending, and is held until no pod uses it."""
        document["status"] = {"phase": "Pending"}
        _hold(document, _CLAIM_FINALIZER)
        _one_source(document.get("spec") or {}, {})

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Whichever of the two sources is given, both say it."""
        Strategy.prepare_update(self, document, old, now)
        _one_source(document.get("spec") or {}, old.get("spec") or {})


def _hold(document: JSONObject, finalizer: str) -> None:
    metadata = document["metadata"]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        metadata["finalizers"] = [*finalizers, finalizer]


def _one_source(spec: JSONObject, before: JSONObject) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    had = any(before.get(name) is not None for name in ("dataSource", "dataSourceRef"))
    if source is not None and reference is None:
        kind = (source.get("apiGroup") or "", source.get("kind"))
        if kind in _SOURCES or had:
            spec["dataSourceRef"] = dict(source)
        else:
            # In the older field whatever else was always passed over.
            del spec["dataSource"]
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}


_SOURCES = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
