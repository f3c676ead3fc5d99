"""Jobs: unless told otherwise, each knows its pods by its own uid; budgets keep their status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.registry.strategies.strategy import Strategy

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject

_PREFIX = "batch.kubernetes.io/"
_PRESERVED = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning"
)
_UID, _NAME = "controller-uid", "job-name"


@dataclass(frozen=True, slots=True)
class JobStrategy(Strategy):
    """Jobs; upstream: pkg/registry/batch/job/strategy.go."""

    has_status: bool = True
    counts_generations: bool = True
    orphans_by_default: bool = True

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """Selector and labels of its pods, which then are those of the job as well."""
        Strategy.prepare_create(self, document, now)
        spec, metadata = document["spec"], document["metadata"]
        if spec.get("manualSelector"):
            return
        pod_metadata = spec.setdefault("template", {}).setdefault("metadata", {})
        labels = dict(pod_metadata.get("labels") or {})
        own = {_NAME: metadata.get("name", ""), _UID: metadata["uid"]}
        labels |= own | {f"{_PREFIX}{key}": value for key, value in own.items()}
        pod_metadata["labels"] = dict(sorted(labels.items()))
        if not metadata.get("labels"):
            metadata["labels"] = dict(pod_metadata["labels"])
        selector = spec.setdefault("selector", {})
        given = selector.get("matchLabels") or {}
        selector["matchLabels"] = {**given, f"{_PREFIX}{_UID}": metadata["uid"]}

    def warnings_on_delete(self) -> tuple[str, ...]:
        """Who says nothing of the pods is told what becomes of them."""
        return (_PRESERVED,)
