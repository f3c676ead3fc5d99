"""The numbers of an indexed job's pods: read, told as text, given up, and given out again.

Upstream: pkg/controller/job/indexed_job_utils.go. Used by `accounting` and `controller`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from listwatch.controllers.jobs.failure_policy import COUNT, FAIL_INDEX, IGNORE, judge
from listwatch.controllers.pods import in_order_of_deletion, is_active
from listwatch.protocol.objects import JSONObject

INDEX = "batch.kubernetes.io/job-completion-index"
# How often pods of this index failed before this one; the next one is told by the last.
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"


def is_indexed(job: JSONObject) -> bool:
    """Whether each completion has a number."""
    return bool((job.get("spec") or {}).get("completionMode") == "Indexed")


def is_independent(job: JSONObject) -> bool:
    """Whether each index has a back-off limit of its own."""
    return is_indexed(job) and job["spec"].get("backoffLimitPerIndex") is not None


def index_of(pod: JSONObject) -> int | None:
    """Its completion index."""
    return _number(pod, INDEX)


def read_indexes(text: str, completions: int | None = None) -> set[int]:
    """`0-2,5` as numbers, those below `completions` if there is such a bound."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found if completions is None else {each for each in found if each < completions}


def indexes_text(indexes: Collection[int]) -> str:
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


def is_given_up(job: JSONObject, pod: JSONObject) -> bool:
    """Whether this pod, which failed, was the last one that its index gets."""
    action = judge(job, pod)[0]
    if action == FAIL_INDEX:
        return True
    limit = int(job["spec"]["backoffLimitPerIndex"])
    return action == COUNT and failures_before(pod)[0] >= limit


def failures_before(pod: JSONObject) -> tuple[int, int]:
    """How often its index had failed before it; and how often that did not count."""
    return _number(pod, FAILURES) or 0, _number(pod, IGNORED) or 0


def failure_notes(job: JSONObject, before: JSONObject | None) -> dict[str, str]:
    """The annotations of the pod that follows `before` in its index; None: the first one."""
    failures = ignored = 0
    if before is not None:
        failures, ignored = failures_before(before)
        if judge(job, before)[0] == IGNORE:
            ignored += 1
        else:
            failures += 1
    return {FAILURES: str(failures), **({IGNORED: str(ignored)} if ignored else {})}


def last_failed(
    pods: Iterable[JSONObject], failed: Collection[str], settled: Collection[int]
) -> dict[int, JSONObject]:
    """The pod that the next one of each index is told by; it is held until there is that one.

    `failed` are uids; `settled` are indexes that get no other pod.
    """
    everything = list(pods)
    running = {index_of(pod) for pod in everything if is_active(pod)}
    found: dict[int, JSONObject] = {}
    for pod in everything:
        index = index_of(pod)
        if index is None or index in settled or index in running:
            continue
        if pod["metadata"]["uid"] not in failed:
            continue
        if index not in found or sum(failures_before(pod)) >= sum(failures_before(found[index])):
            found[index] = pod
    return found


def superfluous(active: Sequence[JSONObject], completions: int) -> list[JSONObject]:
    """Pods whose number is none, too high, or that of another one."""
    seen: set[int] = set()
    found: list[JSONObject] = []
    for pod in reversed(in_order_of_deletion(active)):  # those that are missed most stay
        index = index_of(pod)
        if index is None or index >= completions or index in seen:
            found.append(pod)
        else:
            seen.add(index)
    return found


def free_indexes(
    completions: int, taken: Collection[int | None], delays: Mapping[int, float], count: int
) -> tuple[list[int], float]:
    """The first `count` numbers whose turn it is now, and the seconds until it is another's.

    `delays` are seconds by index; those that have to wait do not let later ones go before.
    """
    free = [number for number in range(completions) if number not in taken][:count]
    now = [number for number in free if delays.get(number, 0.0) <= 0]
    later = [delays[number] for number in free if delays.get(number, 0.0) > 0]
    return now, min(later, default=0.0)


def _number(pod: JSONObject, key: str) -> int | None:
    text = (pod["metadata"].get("annotations") or {}).get(key, "")
    return int(text) if text.isdecimal() else None
