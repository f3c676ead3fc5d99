"""How the pods of a job ended, each counted once although pods go away.

A pod carries a finalizer until it is counted: first its uid is written into the job's status, then
the finalizer goes, then the uid becomes a number. Used by `controller`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from listwatch.controllers.jobs.failure_policy import FAIL_JOB, IGNORE, judge
from listwatch.controllers.pods import is_finished, is_terminating, phase_of
from listwatch.protocol.objects import JSONObject

FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(slots=True)
class Ends:
    """The ends of a job's pods. `new_*` are those that no status tells of yet."""

    succeeded: int = 0  # all, those not counted yet among them
    failed: int = 0
    uncounted: dict[str, list[str]] = field(default_factory=dict)  # uids, as in the status
    held: list[JSONObject] = field(default_factory=list)  # pods whose finalizer may go
    indexes: set[int] = field(default_factory=set)  # completed, of an indexed job
    verdict: str = ""  # why one of them fails the whole job

    @property
    def is_settled(self) -> bool:
        """Whether nothing waits to be counted."""
        return not any(self.uncounted.values())


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
    # Such a job wants to know how a pod ended before it says anything on it.
    patient = (job.get("spec") or {}).get("podReplacementPolicy") == "Failed"
    ends.indexes = completed_indexes(status.get("completedIndexes") or "")
    for pod in pods:
        kind = ended(pod)
        if not kind or not is_held(pod) or (patient and not is_finished(pod)):
            continue
        ends.held.append(pod)
        if kind == "failed":
            action, why = judge(job, pod)
            ends.verdict = ends.verdict or (why if action == FAIL_JOB else "")
            if action == IGNORE:
                continue
        index = index_of(pod)
        if kind == "succeeded" and index is not None:
            ends.indexes.add(index)
        if pod["metadata"]["uid"] in told:
            continue
        ends.uncounted[kind].append(pod["metadata"]["uid"])
        if kind == "succeeded":
            ends.succeeded += 1
        else:
            ends.failed += 1
    return ends


def is_held(pod: JSONObject) -> bool:
    """Whether it is not counted yet."""
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def ended(pod: JSONObject) -> str:
    """`succeeded`, `failed`, or '' for a pod that goes on."""
    phase = phase_of(pod)
    if phase == "Succeeded":
        return "succeeded"
    return "failed" if phase == "Failed" or is_terminating(pod) else ""


def index_of(pod: JSONObject) -> int | None:
    """Its completion index."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdecimal() else None


def completed_indexes(text: str) -> set[int]:
    """`0-2,5` as numbers."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def indexes_text(indexes: set[int]) -> str:
    """Numbers as `0-2,5`."""
    parts: list[list[int]] = []
    for number in sorted(indexes):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    # Two in a row are told as two, as upstream does.
    return ",".join(
        str(a) if a == b else (f"{a},{b}" if b == a + 1 else f"{a}-{b}") for a, b in parts
    )
