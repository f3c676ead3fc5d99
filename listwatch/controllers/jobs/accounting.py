"""How the pods of a job ended, each counted once although pods go away.

A pod carries a finalizer until it is counted: first its uid is written into the job's status, then
the finalizer goes, then the uid becomes a number. Used by `controller`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from listwatch.controllers.jobs.failure_policy import FAIL_JOB, IGNORE, judge
from listwatch.controllers.jobs.indexes import (
    index_of,
    is_given_up,
    is_independent,
    is_indexed,
    last_failed,
    read_indexes,
)
from listwatch.controllers.pods import is_finished, is_terminating, phase_of
from listwatch.protocol.objects import JSONObject

FINALIZER = "batch.kubernetes.io/job-tracking"


@dataclass(slots=True)
class Ends:
    """The ends of a job's pods."""

    succeeded: int = 0  # all, those not counted yet among them
    failed: int = 0
    uncounted: dict[str, list[str]] = field(default_factory=dict)  # uids, as in the status
    held: list[JSONObject] = field(default_factory=list)  # pods whose finalizer may go
    indexes: set[int] = field(default_factory=set)  # completed, of an indexed job
    failed_indexes: set[int] = field(default_factory=set)  # given up, if each has its own limit
    new: set[str] = field(default_factory=set)  # uids of `uncounted` that no status tells of yet
    verdict: str = ""  # why one of them fails the whole job

    @property
    def is_settled(self) -> bool:
        """Whether nothing waits to be counted."""
        return not any(self.uncounted.values())

    def put_off(self, pods: Iterable[JSONObject]) -> None:
        """Do not count these yet, nor let them go."""
        uids = {pod["metadata"]["uid"] for pod in pods}
        self.held = [pod for pod in self.held if pod["metadata"]["uid"] not in uids]
        for uid in uids & self.new:
            self.uncounted["failed"].remove(uid)
            self.failed -= 1
        self.new -= uids


def ends_of(job: JSONObject, pods: Sequence[JSONObject]) -> Ends:
    """Count; pods that end without having finished count as failed."""
    status = job.get("status") or {}
    before = status.get("uncountedTerminatedPods") or {}
    holding = {pod["metadata"]["uid"] for pod in pods if is_held(pod)}
    ends = Ends(status.get("succeeded") or 0, status.get("failed") or 0)
    for kind in ("succeeded", "failed"):
        known = list(before.get(kind) or ())
        # Those whose finalizer is gone become numbers now.
        ends.uncounted[kind] = [uid for uid in known if uid in holding]
        if kind == "succeeded":
            ends.succeeded += len(known)
        else:
            ends.failed += len(known)
    told = {uid for uids in before.values() for uid in uids or ()}
    completions, indexed = (job.get("spec") or {}).get("completions"), is_indexed(job)
    independent = is_independent(job)
    ends.indexes = read_indexes(status.get("completedIndexes") or "", completions)
    ends.failed_indexes = read_indexes(status.get("failedIndexes") or "", completions)
    for pod in pods:
        kind = _counts_as(job, pod)
        if not kind:
            continue
        ends.held.append(pod)
        index = index_of(pod)
        if indexed and completions is not None and (index is None or index >= completions):
            continue  # the job was made smaller: it is let go, and counts for nothing
        if kind == "failed":
            action, why = judge(job, pod)
            ends.verdict = ends.verdict or (why if action == FAIL_JOB else "")
            if action == IGNORE:
                continue
            if independent and index is not None and is_given_up(job, pod):
                ends.failed_indexes.add(index)
        elif indexed and index is not None:
            # Its number is enough to count it once.
            ends.indexes.add(index)
            continue
        if pod["metadata"]["uid"] in told:
            continue
        ends.uncounted[kind].append(pod["metadata"]["uid"])
        ends.new.add(pod["metadata"]["uid"])
        if kind == "succeeded":
            ends.succeeded += 1
        else:
            ends.failed += 1
    if indexed:
        ends.succeeded = len(ends.indexes)
    return ends


def waiting_for_next(
    job: JSONObject, pods: Sequence[JSONObject], ends: Ends
) -> dict[int, JSONObject]:
    """Pods that failed, by index, which go when the next one of their index is there."""
    if not is_independent(job):
        return {}
    failed = {pod["metadata"]["uid"] for pod in pods if _counts_as(job, pod) == "failed"}
    return last_failed(pods, failed, ends.indexes | ends.failed_indexes)


def _counts_as(job: JSONObject, pod: JSONObject) -> str:
    """How a pod that is not counted yet has ended; '' while that is open."""
    if not is_held(pod):
        return ""
    # Such a job wants to know how a pod ended before it says anything on it.
    patient = (job.get("spec") or {}).get("podReplacementPolicy") == "Failed"
    return "" if patient and not is_finished(pod) else ended(pod)


def is_held(pod: JSONObject) -> bool:
    """Whether it is not counted yet."""
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def ended(pod: JSONObject) -> str:
    """`succeeded`, `failed`, or '' for a pod that goes on."""
    phase = phase_of(pod)
    if phase == "Succeeded":
        return "succeeded"
    return "failed" if phase == "Failed" or is_terminating(pod) else ""
