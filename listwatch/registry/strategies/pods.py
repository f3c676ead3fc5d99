"""Pods: a status that is the kubelet's, a quality of service, and time to end when deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.protocol.errors import Cause
from listwatch.registry.strategies.strategy import Strategy, restore
from listwatch.schemas.quality import quality_of_service

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.options import DeleteOptions

_ENDED = frozenset(("Succeeded", "Failed"))
_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@dataclass(frozen=True, slots=True)
class PodStrategy(Strategy):
    """Pods; upstream: pkg/registry/core/pod/strategy.go."""

    has_status: bool = True
    counts_generations: bool = True
    answers_deleted_object: bool = True

    def prepare_create(self, document: JSONObject, now: str) -> None:
        """A pod begins as pending, whatever was sent along."""
        Strategy.prepare_create(self, document, now)
        spec = document["spec"]
        if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
            spec["terminationGracePeriodSeconds"] = 1
        _admit(spec)
        document["status"] = {"phase": "Pending", "qosClass": quality_of_service(spec)}
        if spec.get("schedulingGates"):
            document["status"]["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "lastProbeTime": None,
                    "lastTransitionTime": None,
                    "reason": "SchedulingGated",
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                }
            ]

    def prepare_update(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """What was added to the old one is added to one that was sent anew, too."""
        spec, before = document["spec"], old.get("spec") or {}
        for key in ("priority", "preemptionPolicy"):
            if spec.get(key) is None:
                restore(spec, before, key)
        _admit(spec)
        Strategy.prepare_update(self, document, old, now)

    def prepare_status(self, document: JSONObject, old: JSONObject, now: str) -> None:
        """Owners stay as they are, too: old kubelets used to corrupt them here."""
        Strategy.prepare_status(self, document, old, now)
        restore(document["metadata"], old["metadata"], "ownerReferences")
        status = document.setdefault("status", {})
        if not status.get("qosClass"):
            restore(status, old.get("status") or {}, "qosClass")

    def validate(
        self, document: JSONObject, old: JSONObject | None, subresource: str
    ) -> list[Cause]:
        """Another size is no reason to be served better or worse."""
        if subresource != "resize" or old is None:
            return []
        before = old.get("spec") or {}
        known = (old.get("status") or {}).get("qosClass") or quality_of_service(before)
        if quality_of_service(document["spec"]) == known:
            return []
        why = "Pod QOS Class may not change as a result of resizing"
        return [Cause("FieldValueInvalid", f'Invalid value: "{known}": {why}', "spec")]

    def prepare_ephemeral(self, document: JSONObject, old: JSONObject) -> None:
        """At `ephemeralcontainers` these change and nothing else of the pod."""
        wanted = (document.get("spec") or {}).get("ephemeralContainers")
        self._only(document, old)
        document["spec"].pop("ephemeralContainers", None)
        if wanted:
            document["spec"]["ephemeralContainers"] = wanted
        self._count(document, old)

    def prepare_resize(self, document: JSONObject, old: JSONObject) -> None:
        """At `resize` the resources of containers change and nothing else of the pod."""
        wanted = document.get("spec") or {}
        self._only(document, old)
        for kind in ("containers", "initContainers"):
            sizes = {one.get("name"): one for one in wanted.get(kind) or ()}
            containers = document["spec"].get(kind)
            if containers:
                document["spec"][kind] = [_resized(one, sizes) for one in containers]
        self._count(document, old)

    def _only(self, document: JSONObject, old: JSONObject) -> None:
        document["spec"] = dict(old.get("spec") or {})
        restore(document, old, "status")
        for key in ("labels", "annotations", "ownerReferences", "finalizers"):
            restore(document["metadata"], old["metadata"], key)

    def _count(self, document: JSONObject, old: JSONObject) -> None:
        if self.spec_changed(document, old):
            document["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def grace_period(self, document: JSONObject, options: DeleteOptions) -> int | None:
        """What was asked for, else the pod's own; none without a node, or after the end."""
        spec = document.get("spec") or {}
        period = options.grace_period_seconds
        if period is None:
            period = spec.get("terminationGracePeriodSeconds") or 0
        if not spec.get("nodeName") or (document.get("status") or {}).get("phase") in _ENDED:
            return 0
        return int(period) if period >= 0 else 1


def _admit(spec: JSONObject) -> None:
    # What upstream's admission plugin DefaultTolerationSeconds adds, and Priority where there is
    # no class: `admission` has set the rest before.
    tolerations = spec.get("tolerations") or []
    missing = [key for key in _TOLERATED if not any(_tolerates(t, key) for t in tolerations)]
    if missing:
        spec["tolerations"] = tolerations + [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for key in missing
        ]
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _resized(container: JSONObject, sizes: dict[str | None, JSONObject]) -> JSONObject:
    wanted = sizes.get(container.get("name"))
    if wanted is None:
        return container
    resized = dict(container)
    for key in ("resources", "resizePolicy"):
        restore(resized, wanted, key)
    return resized


def _tolerates(toleration: JSONObject, key: str) -> bool:
    matches = not toleration.get("key") or toleration["key"] == key
    return matches and toleration.get("effect") in (None, "", "NoExecute")
