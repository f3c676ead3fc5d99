"""How many pods a disruption budget lets go now: what evictions, and so `kubectl drain`, ask.

Upstream: pkg/controller/disruption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.controller import Controller
from listwatch.controllers.deployments.scaling import absolute
from listwatch.controllers.pods import is_finished, is_ready, is_terminating
from listwatch.controllers.references import controller_of
from listwatch.controllers.status import write_status
from listwatch.informer.resources import (
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.objects import JSONObject, labels_of
from listwatch.protocol.selectors import LabelSelector

if TYPE_CHECKING:
    from listwatch.controllers.environment import Environment
    from listwatch.informer import Deleted

PATIENCE = 120.0  # seconds until a pod that was let go counts again, if it is still there
_COUNTS = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")
_SCALED = (REPLICA_SETS, REPLICATION_CONTROLLERS, STATEFUL_SETS)


class DisruptionBudgets(Controller):
    """Counts; the server takes one off for each eviction."""

    name = "disruption-controller"
    component = "controllermanager"

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.budgets = self.informer(POD_DISRUPTION_BUDGETS)
        self.pods = self.informer(PODS)
        self._owners = {each.kind: self.informer(each) for each in _SCALED}
        self.follow(self.budgets)
        self.pods.add_handler(
            on_add=lambda pod, _: self._changed(pod),
            on_update=self._updated,
            on_delete=self._gone,
        )

    async def reconcile(self, key: str) -> None:
        """Count the pods of one budget."""
        budget = self.budgets.lister.get_or_none(key)
        if budget is None:
            self.unseen.forget(key)
            return
        spec, now = budget["spec"], self.clock.now()
        selector = LabelSelector.of(spec.get("selector"))
        namespace = budget["metadata"]["namespace"]
        pods = [
            pod
            for pod in self.pods.lister.in_namespace(namespace, selector)
            if not is_finished(pod)
        ]
        expected, desired = self._expected(spec, pods)
        disrupted = self._disrupted(budget, pods, now)
        if disrupted:
            self.queue.add_after(key, PATIENCE)
        healthy = sum(
            is_ready(pod) and not is_terminating(pod) and pod["metadata"]["name"] not in disrupted
            for pod in pods
        )
        allowed = max(healthy - desired, 0) if expected else 0
        made = conditions.condition(
            "DisruptionAllowed", allowed > 0,
            "SufficientPods" if allowed else "InsufficientPods", "",
        )  # fmt: skip
        generation = budget["metadata"].get("generation") or 0
        found = list((budget.get("status") or {}).get("conditions") or ())
        status = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "disruptedPods": disrupted,
            "observedGeneration": generation,
            "conditions": [
                {**each, "observedGeneration": generation}
                for each in conditions.put(found, made, rfc3339(now))
            ],
        }
        answer = await write_status(
            self.client, POD_DISRUPTION_BUDGETS, budget, status, keep=_COUNTS
        )
        if answer is not None:
            self.unseen.wrote(key, self.budgets, answer)

    def _expected(self, spec: JSONObject, pods: list[JSONObject]) -> tuple[int, int]:
        """How many pods there shall be, and how many of them healthy."""
        if spec.get("maxUnavailable") is not None:
            expected = self._scale(pods)
            return expected, max(expected - absolute(spec["maxUnavailable"], expected, up=True), 0)
        least = spec.get("minAvailable")
        if isinstance(least, str) and least.endswith("%"):
            expected = self._scale(pods)
            return expected, absolute(least, expected, up=True)
        return len(pods), absolute(1 if least is None else least, len(pods), up=True)

    def _scale(self, pods: list[JSONObject]) -> int:
        """What the controllers of the pods want together."""
        wanted: dict[str, int] = {}
        for pod in pods:
            reference = controller_of(pod)
            informer = None if reference is None else self._owners.get(reference["kind"])
            if reference is None or informer is None:
                continue
            key = f"{pod['metadata']['namespace']}/{reference['name']}"
            owner = informer.lister.get_or_none(key)
            if owner is not None and owner["metadata"]["uid"] == reference["uid"]:
                replicas = owner["spec"].get("replicas")
                wanted[reference["uid"]] = 1 if replicas is None else int(replicas)
        return sum(wanted.values())

    def _disrupted(self, budget: JSONObject, pods: list[JSONObject], now: float) -> dict[str, str]:
        """Pods that were let go and are not seen to go yet."""
        there = {pod["metadata"]["name"] for pod in pods if not is_terminating(pod)}
        before: dict[str, str] = (budget.get("status") or {}).get("disruptedPods") or {}
        return {
            name: at
            for name, at in before.items()
            if name in there and now - parse_rfc3339(at) < PATIENCE
        }

    def _changed(self, pod: JSONObject) -> None:
        for budget in self.budgets.lister.in_namespace(pod["metadata"]["namespace"]):
            selector = LabelSelector.of(budget["spec"].get("selector"))
            if selector is not None and selector.matches(labels_of(pod)):
                self.queue.add_after(
                    f"{pod['metadata']['namespace']}/{budget['metadata']['name']}", 0.02
                )

    def _updated(self, old: JSONObject, new: JSONObject) -> None:
        if _face(old) != _face(new):
            self._changed(new)

    def _gone(self, gone: Deleted) -> None:
        if gone.object is not None:
            self._changed(gone.object)


def _face(pod: JSONObject) -> tuple[object, ...]:
    return is_ready(pod), is_finished(pod), is_terminating(pod), labels_of(pod)
