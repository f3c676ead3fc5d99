"""Indexed jobs: a back-off limit for each index, and when a part of the indexes is enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from listwatch.controllers.jobs import backoff, success_policy
from listwatch.controllers.jobs.accounting import FINALIZER, ends_of, waiting_for_next
from listwatch.controllers.jobs.indexes import (
    FAILURES,
    IGNORED,
    INDEX,
    failure_notes,
    free_indexes,
    indexes_text,
    read_indexes,
    superfluous,
)
from listwatch.controllers.jobs.made_pods import pod_of
from listwatch.controllers.jobs.verdicts import verdict_of
from listwatch.protocol.clock import parse_rfc3339
from tests.controllers.cluster import (
    Cluster,
    Controllers,
    Namespace,
    condition,
    eventually,
    template,
)
from tests.servers import running

BEGUN, ENDED = "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"
ENDED_AT = parse_rfc3339(ENDED)


def job(completions: int = 3, **spec: Any) -> Any:
    status = spec.pop("status", {})
    spec = {"completionMode": "Indexed", "completions": completions, "parallelism": 3, **spec}
    metadata = {"name": "each", "namespace": "default", "uid": "job"}
    return {"metadata": metadata, "spec": spec, "status": status}


def pod(
    index: int, phase: str = "Failed", uid: str = "", *, code: int = 1, notes: Any = None
) -> Any:
    ended = {"exitCode": code, "finishedAt": ENDED}
    status: Any = {"phase": phase}
    if phase in ("Failed", "Succeeded"):
        status["containerStatuses"] = [{"name": "c", "state": {"terminated": ended}}]
    return {
        "metadata": {
            "name": f"each-{index}", "namespace": "default", "uid": uid or f"uid-{index}",
            "creationTimestamp": BEGUN, "finalizers": [FINALIZER],
            "annotations": {INDEX: str(index), **(notes or {})},
        },
        "spec": {}, "status": status,
    }  # fmt: skip


def failures(count: int, ignored: int = 0) -> dict[str, str]:
    return {FAILURES: str(count), **({IGNORED: str(ignored)} if ignored else {})}


FAIL_INDEX = {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}}
IGNORE = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}


def test_indexes_are_told_in_ranges() -> None:
    assert indexes_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7,8"
    assert read_indexes("0-2,5,7,8") == {0, 1, 2, 5, 7, 8}
    assert read_indexes("0-9", 4) == {0, 1, 2, 3}


def test_two_pods_of_one_index_complete_it_once() -> None:
    ends = ends_of(job(), [pod(1, "Succeeded", "a"), pod(1, "Succeeded", "b")])
    assert (ends.succeeded, ends.indexes, len(ends.held)) == (1, {1}, 2)
    assert ends.is_settled, "the number is enough to count it once"


def test_an_index_is_given_up_after_as_many_failures_as_it_has_to_spare() -> None:
    limited = job(backoffLimitPerIndex=1)
    first = ends_of(limited, [pod(0, notes=failures(0))])
    assert first.failed_indexes == set()
    second = ends_of(limited, [pod(0, notes=failures(1))])
    assert second.failed_indexes == {0}
    known = job(backoffLimitPerIndex=1, status={"failedIndexes": "2,7"})
    assert ends_of(known, []).failed_indexes == {2}, "7 is none of its indexes any more"


def test_a_rule_gives_an_index_up_at_once_and_another_lets_it_go_on() -> None:
    limited = job(backoffLimitPerIndex=0, podFailurePolicy={"rules": [FAIL_INDEX, IGNORE]})
    ends = ends_of(limited, [pod(0, code=42), pod(1, code=7)])
    assert ends.failed_indexes == {0}
    assert ends.failed == 1


def test_a_pod_that_failed_is_held_until_the_next_one_of_its_index_has_its_count() -> None:
    limited = job(backoffLimitPerIndex=2)
    old = pod(0, uid="old", notes=failures(0))
    ends = ends_of(limited, [old])
    last = waiting_for_next(limited, [old], ends)
    assert list(last) == [0]
    assert (ends.failed, len(ends.held)) == (1, 1), "a verdict counts it"
    ends.put_off(last.values())
    assert (ends.failed, ends.held, ends.uncounted["failed"]) == (0, [], [])

    both = [old, pod(0, "Running", "new", notes=failures(1))]
    assert waiting_for_next(limited, both, ends_of(limited, both)) == {}
    assert ends_of(limited, both).failed == 1


def test_the_next_pod_of_an_index_tells_how_often_it_has_failed() -> None:
    limited = job(
        backoffLimitPerIndex=5, podFailurePolicy={"rules": [IGNORE]},
        template=template({}, restartPolicy="Never"),
    )  # fmt: skip
    assert failure_notes(limited, None) == failures(0)
    assert failure_notes(limited, pod(0, notes=failures(1))) == failures(2)
    ignored = failure_notes(limited, pod(0, code=7, notes=failures(2)))
    assert ignored == failures(2, 1)
    made = pod_of(limited, 4, ignored)
    assert made["metadata"]["annotations"] == {INDEX: "4", **failures(2, 1)}


def test_each_index_waits_by_itself() -> None:
    now = ENDED_AT + 5
    last = {0: pod(0, notes=failures(0)), 2: pod(2, notes=failures(2, 1))}
    delays = backoff.delays_of_indexes(last, now)
    assert delays == {0: 5.0, 2: 75.0}  # 10 and 80 seconds after the last end
    assert free_indexes(4, set(), delays, 3) == ([1], 5.0)
    assert free_indexes(4, {1}, {}, 2) == ([0, 2], 0.0)


def test_a_pod_without_an_end_ended_when_it_ceased_to_be_ready_or_was_deleted() -> None:
    gone = pod(0, "Running")
    assert backoff.finished_at(gone) == parse_rfc3339(BEGUN)
    gone["metadata"] |= {"deletionTimestamp": ENDED, "deletionGracePeriodSeconds": 30}
    assert backoff.finished_at(gone) == ENDED_AT - 30
    unready = {"type": "Ready", "status": "False", "lastTransitionTime": ENDED}
    gone["status"]["conditions"] = [unready]
    assert backoff.finished_at(gone) == ENDED_AT


def verdict(subject: Any, *pods: Any, left: float | None = None) -> tuple[str, str, str] | None:
    return verdict_of(subject, pods, ends_of(subject, pods), left)


def test_a_job_fails_with_too_many_failed_indexes_or_when_none_is_left() -> None:
    many = job(backoffLimit=100, backoffLimitPerIndex=0, maxFailedIndexes=1)
    assert verdict(many, pod(0)) is None
    found = verdict(many, pod(0), pod(1))
    assert found == (
        "Failed", "MaxFailedIndexesExceeded",
        "Job has exceeded the specified maximal number of failed indexes",
    )  # fmt: skip
    done = [pod(0), pod(1, "Succeeded", code=0), pod(2, "Succeeded", code=0)]
    assert verdict(many, *done[:2]) is None
    assert verdict(many, *done) == ("Failed", "FailedIndexes", "Job has failed indexes")


@pytest.mark.parametrize(
    ("rules", "succeeded", "expected"),
    [
        ([{"succeededCount": 2}], {0, 5}, "Matched rules at index 0"),
        ([{"succeededCount": 2}], {0}, ""),
        ([{"succeededIndexes": "0,2-3"}], {0, 2, 3}, "Matched rules at index 0"),
        ([{"succeededIndexes": "0,2-3"}], {0, 2, 4}, ""),
        ([{"succeededIndexes": "0,2-3", "succeededCount": 2}], {0, 3}, "Matched rules at index 0"),
        ([{"succeededIndexes": "0,2-3", "succeededCount": 2}], {0, 4}, ""),
        ([{"succeededIndexes": "9"}, {"succeededCount": 1}], {4}, "Matched rules at index 1"),
        ([{"succeededIndexes": "9"}], set(), ""),
    ],
)
def test_a_part_of_the_indexes_may_be_enough(
    rules: Any, succeeded: set[int], expected: str
) -> None:
    assert success_policy.met(job(8, successPolicy={"rules": rules}), succeeded) == expected


def test_a_job_that_was_told_to_succeed_does_so_whatever_fails_afterwards() -> None:
    met = {"type": "SuccessCriteriaMet", "status": "True", "reason": "SuccessPolicy"}
    told = job(backoffLimit=0, status={"conditions": [met]})
    assert verdict(told, pod(0), pod(1), left=-1.0) == ("Complete", "SuccessPolicy", "")


def test_pods_beyond_the_last_index_or_of_one_that_runs_already_go() -> None:
    twins = [pod(0, "Running", "first"), pod(0, "Pending", "second")]
    others = [pod(1, "Running"), pod(5, "Running")]
    found = superfluous([*twins, *others], 3)
    assert {each["metadata"]["uid"] for each in found} == {"second", "uid-5"}


def test_containers_that_are_started_again_and_again_use_up_the_limit() -> None:
    again = job(backoffLimit=2, template={"spec": {"restartPolicy": "OnFailure"}})
    running = pod(0, "Running")
    running["status"]["containerStatuses"] = [{"name": "c", "restartCount": 1}]
    assert verdict(again, running) is None
    running["status"]["containerStatuses"][0]["restartCount"] = 2
    found = verdict(again, running)
    assert found is not None
    assert found[1] == "BackoffLimitExceeded"


# In a cluster

# Its index is not among what a guess sees: the pods of all indexes fail by the same command.
EXIT = {"command": ["sh", "-c", "exit 1"]}


def spec_of(**spec: Any) -> Any:
    container = spec.pop("container", {"command": ["true"]})
    return {
        "completionMode": "Indexed", "parallelism": 3, "completions": 3,
        "template": template({}, restartPolicy="Never", container=container), **spec,
    }  # fmt: skip


def test_every_index_is_tried_though_one_fails(namespace: Namespace) -> None:
    spec = spec_of(backoffLimitPerIndex=0, parallelism=1, container=EXIT)
    made = namespace.create("jobs", "each", spec)
    assert made["spec"]["backoffLimit"] == 2**31 - 1
    found = eventually(lambda: condition(namespace.get("jobs", "each"), "Failed"))
    status = namespace.get("jobs", "each")["status"]

    assert found["reason"] == "FailedIndexes"
    assert (status["failedIndexes"], status["failed"]) == ("0-2", 3)
    notes = [each["metadata"]["annotations"] for each in namespace.pods()]
    assert sorted(each[INDEX] for each in notes) == ["0", "1", "2"]
    assert {each[FAILURES] for each in notes} == {"0"}
    assert all("finalizers" not in each["metadata"] for each in namespace.pods())


def test_a_job_ends_well_when_its_leader_has(namespace: Namespace) -> None:
    policy = {"rules": [{"succeededIndexes": "0"}]}
    namespace.create("jobs", "led", spec_of(parallelism=1, successPolicy=policy))
    found = eventually(lambda: condition(namespace.get("jobs", "led"), "Complete"))
    done = namespace.get("jobs", "led")

    assert (found["reason"], found["message"]) == ("SuccessPolicy", "Matched rules at index 0")
    assert condition(done, "SuccessCriteriaMet")["reason"] == "SuccessPolicy"
    assert (done["status"]["completedIndexes"], done["status"]["succeeded"]) == ("0", 1)
    assert done["status"].get("active", 0) == 0


def test_an_index_gets_its_second_pod_and_the_count_of_the_first(tmp_path: Path) -> None:
    with running(tmp_path / "server", "--controllers=") as server:
        namespace = Cluster(server).namespace("each")
        controllers = Controllers(server, "--speed", "60", log=tmp_path / "log").start()
        try:
            spec = spec_of(backoffLimitPerIndex=1, completions=2, container=EXIT)
            namespace.create("jobs", "each", spec)
            found = eventually(lambda: condition(namespace.get("jobs", "each"), "Failed"))
            status = namespace.get("jobs", "each")["status"]
        finally:
            assert controllers.stop() == 0
        notes = [each["metadata"]["annotations"] for each in namespace.pods()]
    assert (found["reason"], status["failedIndexes"], status["failed"]) == (
        "FailedIndexes", "0,1", 4,
    )  # fmt: skip
    assert sorted((each[INDEX], each[FAILURES]) for each in notes) == [
        ("0", "0"), ("0", "1"), ("1", "0"), ("1", "1"),
    ]  # fmt: skip
