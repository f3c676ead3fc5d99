"""The job controller: pods until enough have succeeded, or too many failed.

Upstream: pkg/controller/job/job_controller.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from listwatch.controllers import conditions
from listwatch.controllers.batches import at_once, slow_start
from listwatch.controllers.events import WARNING
from listwatch.controllers.jobs import backoff
from listwatch.controllers.jobs.accounting import (
    FINALIZER,
    Ends,
    ended,
    ends_of,
    is_held,
    waiting_for_next,
)
from listwatch.controllers.jobs.indexes import (
    failure_notes,
    free_indexes,
    index_of,
    indexes_text,
    is_independent,
    is_indexed,
    superfluous,
)
from listwatch.controllers.jobs.made_pods import pod_of
from listwatch.controllers.jobs.verdicts import (
    COMPLETE,
    Verdict,
    announced,
    is_finished,
    seconds_left,
    verdict_of,
)
from listwatch.controllers.pods import (
    in_order_of_deletion,
    is_active,
    is_ready,
    is_stopping,
    is_terminating,
)
from listwatch.controllers.status import write_status
from listwatch.controllers.workloads import Workloads
from listwatch.informer.errors import NotFoundError
from listwatch.informer.resources import JOBS, PODS
from listwatch.protocol.clock import rfc3339
from listwatch.protocol.objects import JSONObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from listwatch.controllers.environment import Environment

BURST = 500
# Told also when there are none.
_KEPT = ("ready", "terminating", "uncountedTerminatedPods", "failedIndexes")


@dataclass(slots=True)
class _Look:
    """One look at one job."""

    key: str
    job: JSONObject
    pods: list[JSONObject]
    ends: Ends
    now: float
    last: dict[int, JSONObject] = field(default_factory=dict)  # failed, held for the next, by index

    @property
    def active(self) -> list[JSONObject]:
        """The pods that go on."""
        return [pod for pod in self.pods if is_active(pod)]

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
        # Pods that were sent away, by job: as long as they stop they look as if they had failed.
        self._dismissed: dict[str, set[str]] = {}

    async def reconcile(self, key: str) -> None:
        """Count, decide, create and delete, and write the status."""
        wanted = self.owner_of(key)
        if wanted is None:
            self._dismissed.pop(key, None)
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
        left = seconds_left(job, look.now)
        verdict = verdict_of(job, pods, look.ends, left)
        if verdict is not None:
            found = announced(found, verdict, look.now)
            if verdict.kind == COMPLETE:
                error = await self._dismiss(look, look.active)
            else:
                error = await self.delete_pods(job, look.active, key)
            await self._end(look, found, verdict)
            if error is not None:
                raise error
            return
        if left is not None:
            self.queue.add_after(key, left)
        look.last = waiting_for_next(job, pods, look.ends)
        look.ends.put_off(look.last.values())
        found = self._with_suspension(look, found)
        error = await self._manage(look)
        await self._write(look, found)
        await self._let_go(look, look.ends.held)
        if error is not None:
            raise error

    async def _manage(self, look: _Look) -> Exception | None:
        active, spec = look.active, look.job["spec"]
        parallelism = spec.get("parallelism")
        most = 1 if parallelism is None else parallelism
        wanted = 0 if look.suspended else most
        completions = spec.get("completions")
        surplus: list[JSONObject] = []
        if completions is not None:
            wanted = max(min(wanted, completions - look.ends.succeeded), 0)
            if is_indexed(look.job):
                surplus = superfluous(active, completions)
                active = [pod for pod in active if pod not in surplus]
        elif look.ends.succeeded:
            wanted = min(wanted, len(active))
        if len(active) > wanted:
            surplus += in_order_of_deletion(active)[: len(active) - wanted]
        if surplus:
            return await self._dismiss(look, surplus)
        missing = wanted - len(active)
        if spec.get("podReplacementPolicy") == "Failed":
            missing -= sum(map(is_stopping, look.pods))
        return await self._create(look, min(missing, BURST)) if missing > 0 else None

    async def _create(self, look: _Look, count: int) -> Exception | None:
        job = look.job
        independent = is_independent(job)
        wait = 0.0 if independent else backoff.delay(job, self._kept(look), look.now)
        if wait > 0:
            self.queue.add_after(look.key, wait)
            return None
        if not is_indexed(job):
            return await self._make(look, [pod_of(job, None, {})] * count)
        going = look.active
        if job["spec"].get("podReplacementPolicy") == "Failed":
            going += [pod for pod in look.pods if is_stopping(pod)]
        taken = {index_of(pod) for pod in going} | look.ends.indexes | look.ends.failed_indexes
        delays = backoff.delays_of_indexes(look.last, look.now)
        free, wait = free_indexes(job["spec"]["completions"], taken, delays, count)
        if wait > 0:
            self.queue.add_after(look.key, wait)
        pods = []
        for index in free:
            notes = failure_notes(job, look.last.get(index)) if independent else {}
            pods.append(pod_of(job, index, notes))
        return await self._make(look, pods)

    async def _make(self, look: _Look, pods: Sequence[JSONObject]) -> Exception | None:
        async def create(number: int) -> JSONObject:
            return await self.client.create(PODS, pods[number])

        made, error = await slow_start(len(pods), create)
        self.tell_created(look.job, made, error, look.key)
        look.pods += made
        return error

    async def _dismiss(self, look: _Look, doomed: Sequence[JSONObject]) -> Exception | None:
        """Delete pods that shall not run now: none of them has failed, so none is counted."""
        if not doomed:
            return None
        gone = self._dismissed.setdefault(look.key, set())

        async def dismiss(pod: JSONObject) -> str:
            uid = str(pod["metadata"]["uid"])
            # Without its finalizer first: a pod that is held when it is deleted is a failure.
            if is_held(pod):
                await self._release(look, pod)
            gone.add(uid)
            await self.delete_pod(look.job, pod, look.key)
            return uid

        answers, error = await at_once(doomed, dismiss)
        # The status tells of them as they are now.
        uids, stamp = set(answers), {"deletionTimestamp": rfc3339(look.now)}
        look.pods = [
            {**pod, "metadata": {**pod["metadata"], **stamp}}
            if pod["metadata"]["uid"] in uids
            else pod
            for pod in look.pods
        ]
        return error

    def _kept(self, look: _Look) -> list[JSONObject]:
        """The pods but those that were dismissed."""
        gone = self._dismissed.pop(look.key, set())
        gone &= {pod["metadata"]["uid"] for pod in look.pods}
        if gone:
            self._dismissed[look.key] = gone
        return [pod for pod in look.pods if pod["metadata"]["uid"] not in gone]

    # Writes

    async def _let_go(self, look: _Look, held: Sequence[JSONObject]) -> None:
        """Take the finalizer off pods that are counted, or need not be."""

        async def let_go(pod: JSONObject) -> None:
            await self._release(look, pod)

        _, error = await at_once(held, let_go)
        if error is not None:
            raise error

    async def _release(self, look: _Look, pod: JSONObject) -> None:
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

    async def _write(self, look: _Look, found: conditions.Conditions) -> None:
        answer = await write_status(
            self.client, JOBS, look.job, self._status(look, found), keep=_KEPT
        )
        if answer is not None:
            self.unseen.wrote(look.key, self.owners, answer)
            look.job = answer

    async def _end(self, look: _Look, found: conditions.Conditions, verdict: Verdict) -> None:
        """Tell how it ended: once nothing runs and all is counted."""
        await self._write(look, found)
        await self._let_go(look, look.ends.held)
        if look.active or any(map(is_stopping, look.pods)) or not look.ends.is_settled:
            return  # what happens to them brings the next look
        kind, reason, message = verdict
        made = conditions.condition(kind, True, reason, message)
        now = rfc3339(look.now)
        found = conditions.put(found, {**made, "lastProbeTime": now}, now)
        status = self._status(look, found)
        if kind == COMPLETE:
            status["completionTime"] = now
        answer = await write_status(self.client, JOBS, look.job, status, keep=_KEPT)
        if answer is not None:
            self.unseen.wrote(look.key, self.owners, answer)
        if kind == COMPLETE:
            self.events.record(JOBS, look.job, "Completed", "Job completed")
        else:
            self.events.record(JOBS, look.job, reason, message, kind=WARNING)

    def _status(self, look: _Look, found: conditions.Conditions) -> JSONObject:
        job, ends = look.job, look.ends
        old = job.get("status") or {}
        uncounted = {kind: uids for kind, uids in ends.uncounted.items() if uids}
        status = {
            **old,
            "active": len(look.active),
            "ready": sum(map(is_ready, look.active)),
            "terminating": sum(map(is_stopping, look.pods)),
            "succeeded": ends.succeeded - len(ends.uncounted["succeeded"]),
            "failed": ends.failed - len(ends.uncounted["failed"]),
            "uncountedTerminatedPods": uncounted,
            # Its deadline counts from here: with each resumption anew.
            "startTime": None if look.suspended else old.get("startTime") or rfc3339(look.now),
            "conditions": found,
        }
        if is_indexed(job):
            status["completedIndexes"] = indexes_text(ends.indexes)
        if is_independent(job):
            status["failedIndexes"] = indexes_text(ends.failed_indexes)
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
