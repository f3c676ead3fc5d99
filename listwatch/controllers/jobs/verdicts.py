"""Whether a job has come to its end, and by what: asked by `controller` at every look.

Upstream: syncJob in pkg/controller/job/job_controller.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from listwatch.controllers import conditions
from listwatch.controllers.jobs import success_policy
from listwatch.controllers.jobs.accounting import Ends
from listwatch.controllers.jobs.indexes import is_independent, is_indexed
from listwatch.controllers.pods import is_active
from listwatch.protocol.clock import parse_rfc3339, rfc3339
from listwatch.protocol.objects import JSONObject

COMPLETE, FAILED = "Complete", "Failed"
_MOST_FAILURES = 6  # unless the job says otherwise


class Verdict(NamedTuple):
    """The condition that a job ends with."""

    kind: str
    reason: str
    message: str


def verdict_of(
    job: JSONObject, pods: Sequence[JSONObject], ends: Ends, left: float | None
) -> Verdict | None:
    """How the job ends; None while it goes on. `left` are the seconds of its deadline, if any."""
    found = (job.get("status") or {}).get("conditions")
    for early, kind in (("SuccessCriteriaMet", COMPLETE), ("FailureTarget", FAILED)):
        told = conditions.find(found, early)
        if told is not None and told.get("status") == "True":
            return Verdict(kind, told.get("reason") or "", told.get("message") or "")
    failure = _failure(job, pods, ends, left)
    if failure is not None:
        return Verdict(FAILED, *failure)
    rule = success_policy.met(job, ends.indexes) if is_indexed(job) else ""
    if rule:
        return Verdict(COMPLETE, "SuccessPolicy", rule)
    if _is_complete(job, pods, ends):
        message = "Reached expected number of succeeded pods"
        return Verdict(COMPLETE, "CompletionsReached", message)
    return None


def seconds_left(job: JSONObject, now: float) -> float | None:
    """Until the job's deadline; None if it has none, or if it does not run."""
    spec, started = job["spec"], (job.get("status") or {}).get("startTime")
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is None or not started or spec.get("suspend"):
        return None
    return parse_rfc3339(started) + float(deadline) - now


def announced(found: conditions.Conditions, verdict: Verdict, now: float) -> conditions.Conditions:
    """First it is told how it will end; that it has ended, only when nothing runs any more."""
    early = "SuccessCriteriaMet" if verdict.kind == COMPLETE else "FailureTarget"
    stamp = rfc3339(now)
    made = conditions.condition(early, True, verdict.reason, verdict.message)
    return conditions.put(found, {**made, "lastProbeTime": stamp}, stamp)


def is_finished(job: JSONObject) -> bool:
    """Whether the job has ended."""
    found = (job.get("status") or {}).get("conditions")
    return conditions.is_true(found, COMPLETE) or conditions.is_true(found, FAILED)


def _failure(
    job: JSONObject, pods: Sequence[JSONObject], ends: Ends, left: float | None
) -> tuple[str, str] | None:
    spec = job["spec"]
    if ends.verdict:
        return "PodFailurePolicy", ends.verdict
    given = spec.get("backoffLimit")
    limit = _MOST_FAILURES if given is None else given
    if ends.failed > limit or _restarts_too_often(job, pods, limit):
        return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    if left is not None and left <= 0:
        return "DeadlineExceeded", "Job was active longer than specified deadline"
    if not is_independent(job):
        return None
    failed, most = len(ends.failed_indexes), spec.get("maxFailedIndexes")
    if most is not None and failed > most:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return "MaxFailedIndexesExceeded", message
    if failed and failed + len(ends.indexes) >= spec["completions"]:
        return "FailedIndexes", "Job has failed indexes"
    return None


def _restarts_too_often(job: JSONObject, pods: Sequence[JSONObject], limit: int) -> bool:
    """A pod that is kept and whose containers are started again does not fail: they count."""
    template = job["spec"].get("template") or {}
    if (template.get("spec") or {}).get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(
        each.get("restartCount") or 0
        for pod in pods
        if (pod.get("status") or {}).get("phase") in ("Running", "Pending")
        for kind in ("initContainerStatuses", "containerStatuses")
        for each in pod["status"].get(kind) or ()
    )
    return restarts > 0 if not limit else restarts >= limit


def _is_complete(job: JSONObject, pods: Sequence[JSONObject], ends: Ends) -> bool:
    completions = job["spec"].get("completions")
    if completions is None:
        return ends.succeeded > 0 and not any(map(is_active, pods))
    done = len(ends.indexes) if is_indexed(job) else ends.succeeded
    return bool(done >= completions)
