"""The job controller: pods until enough have succeeded, or too many failed.

Upstream: pkg/controller/job/job_controller.go.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.batches import at_once, slow_start
from listwatch.controllers.events import WARNING
from listwatch.controllers.jobs.accounting import (
    FINALIZER,
    INDEX,
    Ends,
    ended,
    ends_of,
    index_of,
    indexes_text,
    is_held,
)
from listwatch.controllers.jobs.failure_policy import IGNORE, judge
from listwatch.controllers.pods import in_order_of_deletion, is_active, is_ready, is_terminating
from listwatch.controllers.status import write_status
from listwatch.controllers.templates import pod_from
from listwatch.controllers.workloads import Workloads
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import JOBS, PODS
from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.objects import JSONObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from listwatch.controllers.environment import Environment

FIRST_BACKOFF, LAST_BACKOFF = 10.0, 360.0  # seconds after a pod that failed
BURST = 500
_KEPT = ("ready", "terminating", "uncountedTerminatedPods")  # told also when there are none
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(slots=True)
class _Look:
    """One look at one job."""

    key: str
    job: JSONObject
    pods: list[JSONObject]
    ends: Ends
    now: float

    @property
    def active(self) -> list[JSONObject]:
        """The pods that go on."""
        return [pod for pod in self.pods if is_active(pod)]

    @property
    def indexed(self) -> bool:
        """Whether each completion has a number."""
        return bool(self.job["spec"].get("completionMode") == "Indexed")

    @property
    def suspended(self) -> bool:
        """Whether nothing shall run now."""
        return bool(self.job["spec"].get("suspend"))


class Jobs(Workloads):
    """Promises that each pod that ended is counted once, and that no more run than may."""

    name = "job-controller"
    resource = JOBS

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.children.add_handler(on_update=lambda _, pod: self._look_at_orphan(pod))

    async def reconcile(self, key: str) -> None:
        """Count, decide, create and delete, and write the status."""
        wanted = self.owner_of(key)
        if wanted is None:
            return
        job, selector = wanted
        if (job["spec"].get("managedBy") or "kubernetes.io/job-controller") != (
            "kubernetes.io/job-controller"
        ):
            return
        pods = await self.claims.claim(job, selector, key)
        look = _Look(key, job, pods, ends_of(job, pods), self.clock.now())
        found = list((job.get("status") or {}).get("conditions") or ())
        if is_finished(job):
            await self._let_go(look, [pod for pod in pods if is_held(pod)])
            return
        if "deletionTimestamp" in job["metadata"]:
            await self._let_go(look, [pod for pod in pods if is_held(pod) and ended(pod)])
            return
        verdict = self._verdict(look)
        if verdict is not None:
            found = _with_verdict(found, verdict, look.now)
            await self.delete_pods(job, look.active, key)
            await self._end(look, found, verdict)
            return
        found = self._with_suspension(look, found)
        error = await self._manage(look)
        await self._write(look, found)
        await self._let_go(look, look.ends.held)
        if error is not None:
            raise error

    # Decisions

    def _verdict(self, look: _Look) -> tuple[str, str, str] | None:
        """The condition, reason and message that the job ends with; None while it goes on."""
        spec, ends = look.job["spec"], look.ends
        earlier = conditions.find((look.job.get("status") or {}).get("conditions"), "FailureTarget")
        if earlier is not None:
            return "Failed", earlier["reason"], earlier["message"]
        if ends.verdict:
            return "Failed", "PodFailurePolicy", ends.verdict
        limit = spec.get("backoffLimit")
        if ends.failed > (6 if limit is None else limit):
            message = "Job has reached the specified backoff limit"
            return "Failed", "BackoffLimitExceeded", message
        deadline, started = spec.get("activeDeadlineSeconds"), self._started(look)
        if deadline is not None and started is not None and not look.suspended:
            left = started + deadline - look.now
            if left <= 0:
                message = "Job was active longer than specified deadline"
                return "Failed", "DeadlineExceeded", message
            self.queue.add_after(look.key, left)
        completions = spec.get("completions")
        if completions is None:
            done = ends.succeeded > 0 and not look.active
        elif look.indexed:
            done = len(ends.indexes) >= completions
        else:
            done = ends.succeeded >= completions
        if done:
            message = "Reached expected number of succeeded pods"
            return "Complete", "CompletionsReached", message
        return None

    def _started(self, look: _Look) -> float | None:
        text = (look.job.get("status") or {}).get("startTime")
        return parse_rfc3339(text) if text else None

    async def _manage(self, look: _Look) -> Exception | None:
        active, spec = look.active, look.job["spec"]
        parallelism = spec.get("parallelism")
        most = 1 if parallelism is None else parallelism
        wanted = 0 if look.suspended else most
        completions = spec.get("completions")
        if completions is not None:
            done = len(look.ends.indexes) if look.indexed else look.ends.succeeded
            wanted = min(wanted, completions - done)
        elif look.ends.succeeded:
            wanted = min(wanted, len(active))
        if len(active) > wanted:
            surplus = in_order_of_deletion(active)[: len(active) - wanted]
            return await self.delete_pods(look.job, surplus, look.key)
        missing = wanted - len(active)
        if spec.get("podReplacementPolicy") == "Failed":
            missing -= sum(map(is_terminating, look.pods))
        if missing <= 0:
            return None
        delay = self._delay(look)
        if delay > 0:
            self.queue.add_after(look.key, delay)
            return None
        return await self._create(look, min(missing, BURST))

    def _delay(self, look: _Look) -> float:
        """Seconds that the next pod has to wait, after those that failed."""
        ends = sorted(
            (_finished_at(pod), ended(pod))
            for pod in look.pods
            if ended(pod) and _finished_at(pod) and judge(look.job, pod)[0] != IGNORE
        )
        failures = 0
        for _, kind in reversed(ends):
            if kind == "succeeded":
                break
            failures += 1
        if not failures:
            return 0.0
        backoff = min(FIRST_BACKOFF * 2.0 ** (failures - 1), LAST_BACKOFF)
        return float(ends[-1][0] + backoff - look.now)

    # Writes

    async def _create(self, look: _Look, count: int) -> Exception | None:
        job = look.job
        indexes: list[int] = []
        if look.indexed:
            taken = {index_of(pod) for pod in look.active} | look.ends.indexes
            free = (n for n in range(job["spec"]["completions"]) if n not in taken)
            indexes = [number for number, _ in zip(free, range(count), strict=False)]
            count = len(indexes)

        async def create(number: int) -> JSONObject:
            index = indexes[number] if look.indexed else None
            return await self.client.create(PODS, _pod_of(job, index))

        made, error = await slow_start(count, create)
        self.tell_created(job, made, error, look.key)
        look.pods += made
        return error

    async def _let_go(self, look: _Look, held: Sequence[JSONObject]) -> None:
        """Take the finalizer off pods that are counted, or need not be."""

        async def let_go(pod: JSONObject) -> None:
            metadata = pod["metadata"]
            rest = [each for each in metadata["finalizers"] if each != FINALIZER]
            patch = {
                "metadata": {
                    "uid": metadata["uid"],
                    "resourceVersion": metadata["resourceVersion"],
                    "finalizers": rest or None,
                }
            }
            try:
                answer = await self.client.patch(
                    PODS, metadata["name"], patch, namespace=metadata["namespace"]
                )
            except NotFoundError:
                return
            self.unseen.wrote(look.key, self.children, answer)

        _, error = await at_once(held, let_go)
        if error is not None:
            raise error

    async def _write(self, look: _Look, found: conditions.Conditions) -> None:
        answer = await write_status(
            self.client, JOBS, look.job, self._status(look, found), keep=_KEPT
        )
        if answer is not None:
            self.unseen.wrote(look.key, self.owners, answer)
            look.job = answer

    async def _end(
        self, look: _Look, found: conditions.Conditions, verdict: tuple[str, str, str]
    ) -> None:
        """Tell how it ended: once nothing runs and all is counted."""
        await self._write(look, found)
        await self._let_go(look, look.ends.held)
        if look.active or any(is_terminating(pod) for pod in look.pods) or not look.ends.is_settled:
            return  # what happens to them brings the next look
        kind, reason, message = verdict
        made = conditions.condition(kind, True, reason, message)
        now = rfc3339(look.now)
        found = conditions.put(found, {**made, "lastProbeTime": now}, now)
        status = self._status(look, found)
        if kind == "Complete":
            status["completionTime"] = now
        answer = await write_status(self.client, JOBS, look.job, status, keep=_KEPT)
        if answer is not None:
            self.unseen.wrote(look.key, self.owners, answer)
        if kind == "Complete":
            self.events.record(JOBS, look.job, "Completed", "Job completed")
        else:
            self.events.record(JOBS, look.job, reason, message, kind=WARNING)

    def _status(self, look: _Look, found: conditions.Conditions) -> JSONObject:
        job, ends = look.job, look.ends
        old = job.get("status") or {}
        uncounted = {kind: uids for kind, uids in ends.uncounted.items() if uids}
        started = old.get("startTime")
        if started is None and not look.suspended:
            started = rfc3339(look.now)
        elif look.suspended:
            started = None
        status = {
            **old,
            "active": len(look.active),
            "ready": sum(map(is_ready, look.active)),
            "terminating": sum(is_terminating(pod) and not ended_well(pod) for pod in look.pods),
            "succeeded": ends.succeeded - len(ends.uncounted["succeeded"]),
            "failed": ends.failed - len(ends.uncounted["failed"]),
            "uncountedTerminatedPods": uncounted,
            "startTime": started,
            "conditions": found,
        }
        if look.indexed:
            status["completedIndexes"] = indexes_text(ends.indexes)
        return status

    def _with_suspension(self, look: _Look, found: conditions.Conditions) -> conditions.Conditions:
        now = rfc3339(look.now)
        old = conditions.find(found, "Suspended")
        if look.suspended and (old is None or old["status"] != "True"):
            made = conditions.condition("Suspended", True, "JobSuspended", "Job suspended")
            self.events.record(JOBS, look.job, "Suspended", "Job suspended")
            return conditions.put(found, {**made, "lastProbeTime": now}, now)
        if not look.suspended and old is not None and old["status"] == "True":
            made = conditions.condition("Suspended", False, "JobResumed", "Job resumed")
            self.events.record(JOBS, look.job, "Resumed", "Job resumed")
            return conditions.put(found, {**made, "lastProbeTime": now}, now)
        return found

    def _look_at_orphan(self, pod: JSONObject) -> None:
        """A pod that nobody counts any more must not be held for ever."""
        if not is_held(pod) or not is_terminating(pod):
            return
        owner = next(
            (o for o in pod["metadata"].get("ownerReferences") or () if o.get("controller")), None
        )
        if owner is None or owner.get("kind") != JOBS.kind:
            return
        self.queue.add(f"{pod['metadata']['namespace']}/{owner['name']}")


def is_finished(job: JSONObject) -> bool:
    """Whether the job has ended."""
    found = (job.get("status") or {}).get("conditions")
    return conditions.is_true(found, "Complete") or conditions.is_true(found, "Failed")


def ended_well(pod: JSONObject) -> bool:
    """Whether it succeeded."""
    return ended(pod) == "succeeded"


def _with_verdict(
    found: conditions.Conditions, verdict: tuple[str, str, str], now: float
) -> conditions.Conditions:
    """First it is told how it will end; that it has ended, only when nothing runs any more."""
    kind, reason, message = verdict
    early = "SuccessCriteriaMet" if kind == "Complete" else "FailureTarget"
    stamp = rfc3339(now)
    made = {**conditions.condition(early, True, reason, message), "lastProbeTime": stamp}
    return conditions.put(found, made, stamp)


def _pod_of(job: JSONObject, index: int | None) -> JSONObject:
    pod = pod_from(job["spec"]["template"], job, JOBS)
    metadata = pod["metadata"]
    metadata["finalizers"] = [*(metadata.get("finalizers") or ()), FINALIZER]
    if index is None:
        return pod
    del metadata["generateName"]
    end = "".join(secrets.choice(_ALPHABET) for _ in range(5))
    metadata["name"] = f"{job['metadata']['name'][:50]}-{index}-{end}"
    metadata["annotations"] = {**(metadata.get("annotations") or {}), INDEX: str(index)}
    metadata["labels"][INDEX] = str(index)
    pod["spec"].setdefault("hostname", f"{job['metadata']['name'][:50]}-{index}")
    path = {"fieldPath": f"metadata.labels['{INDEX}']"}
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": path}}
    for kind in ("initContainers", "containers"):
        for container in pod["spec"].get(kind) or ():
            container["env"] = [*(container.get("env") or ()), variable]
    return pod


def _finished_at(pod: JSONObject) -> float:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    times = [
        parse_rfc3339(each["state"]["terminated"]["finishedAt"])
        for each in statuses
        if ((each.get("state") or {}).get("terminated") or {}).get("finishedAt")
    ]
    return max(times, default=0.0)
