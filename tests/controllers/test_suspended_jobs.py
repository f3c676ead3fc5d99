"""Jobs that are suspended and resumed: what a pause takes away, and what it leaves alone.

The job controller runs alone; the tests are the kubelet, so that nothing ends but by their word.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest

from listwatch.controllers.jobs.accounting import FINALIZER
from listwatch.controllers.jobs.indexes import FAILURES, INDEX
from listwatch.protocol.clock import rfc3339
from tests.controllers.cluster import (
    Cluster,
    Controllers,
    Namespace,
    always,
    condition,
    eventually,
    template,
)
from tests.servers import running

HOUR = 3600.0
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("suspended")
    with running(folder / "server", "--controllers=") as server:
        arguments = ("--controllers", "job-controller")
        controllers = Controllers(server, *arguments, log=folder / "log").start()
        try:
            yield Cluster(server)
        finally:
            assert controllers.stop() == 0
        assert "Traceback" not in (folder / "log").read_text()


@pytest.fixture
def namespace(stage: Cluster) -> Namespace:
    return stage.namespace(f"test-{next(NUMBERS)}")


def spec_of(**spec: Any) -> Any:
    # Pods that have a node stop by and by; others would be gone at once.
    return {"template": template({}, restartPolicy="Never", nodeName="here"), **spec}


def indexed(count: int, **spec: Any) -> Any:
    return spec_of(completionMode="Indexed", completions=count, parallelism=count, **spec)


def suspend(namespace: Namespace, yes: bool) -> None:
    namespace.patch("jobs", "each", {"spec": {"suspend": yes}})
    status = "True" if yes else "False"
    eventually(
        lambda: condition(namespace.get("jobs", "each"), "Suspended").get("status") == status
    )


def status_of(namespace: Namespace) -> Any:
    return namespace.get("jobs", "each")["status"]


def is_deleted(pod: Any) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def active(namespace: Namespace, count: int) -> list[Any]:
    """The pods that go on, once there are so many of them and the status tells it."""

    def look() -> Any:
        pods = [
            pod
            for pod in namespace.pods()
            if not is_deleted(pod) and pod["status"].get("phase") in ("Pending", "Running")
        ]
        return len(pods) == count == status_of(namespace).get("active", 0) and [pods]

    found: list[Any] = eventually(look)[0]
    return found


def of_index(pods: list[Any], index: int) -> Any:
    (found,) = (pod for pod in pods if pod["metadata"]["annotations"][INDEX] == str(index))
    return found


def end(namespace: Namespace, pod: Any, code: int, ago: float = HOUR) -> None:
    """Let the pod end, so many seconds ago."""
    ended = {"exitCode": code, "finishedAt": rfc3339(time.time() - ago)}
    status = {
        "phase": "Failed" if code else "Succeeded",
        "containerStatuses": [
            {
                "name": "c", "ready": False, "restartCount": 0, "image": "app:1", "imageID": "",
                "state": {"terminated": ended},
            }
        ],
    }  # fmt: skip
    namespace.patch("pods", pod["metadata"]["name"], {"status": status}, "status")


def stopped(namespace: Namespace) -> None:
    """All pods that were deleted are gone."""
    for pod in filter(is_deleted, namespace.pods()):
        namespace.delete("pods", pod["metadata"]["name"], gracePeriodSeconds=0)
    eventually(lambda: not any(map(is_deleted, namespace.pods())))


def test_indexes_keep_what_was_reached_and_what_waits_but_not_what_ran(
    namespace: Namespace,
) -> None:
    namespace.create("jobs", "each", indexed(4, backoffLimitPerIndex=1))
    pods = active(namespace, 4)
    end(namespace, of_index(pods, 0), 0)
    end(namespace, of_index(pods, 1), 1)
    end(namespace, of_index(pods, 3), 1)
    # The next one of this index has to wait for long after this end.
    end(namespace, of_index(pods, 2), 1, ago=-HOUR)
    second = active(namespace, 2)
    assert [each["metadata"]["annotations"][FAILURES] for each in second] == ["1", "1"]
    end(namespace, of_index(second, 1), 1)
    (running,) = active(namespace, 1)
    reached = {"completedIndexes": "0", "failedIndexes": "1", "succeeded": 1, "failed": 3}
    eventually(lambda: reached.items() <= status_of(namespace).items())

    suspend(namespace, True)
    status = status_of(namespace)
    assert reached.items() <= status.items()
    assert (status.get("active", 0), status["ready"], status["terminating"]) == (0, 0, 1)
    assert "startTime" not in status
    told = condition(namespace.get("jobs", "each"), "Suspended")
    assert (told["reason"], told["message"]) == ("JobSuspended", "Job suspended")
    assert eventually(lambda: namespace.events("Suspended"))[0]["message"] == "Job suspended"
    assert is_deleted(namespace.get("pods", running["metadata"]["name"]))
    stopped(namespace)
    waits = of_index(pods, 2)["metadata"]["name"]
    assert namespace.get("pods", waits)["metadata"]["finalizers"] == [FINALIZER]
    # The time that it waits for is over, and still nothing comes.
    end(namespace, of_index(pods, 2), 1)
    before = len(namespace.pods())
    always(lambda: len(namespace.pods()) == before)
    eventually(lambda: (reached | {"terminating": 0}).items() <= status_of(namespace).items())

    suspend(namespace, False)
    third = active(namespace, 2)
    told = condition(namespace.get("jobs", "each"), "Suspended")
    assert (told["reason"], told["message"]) == ("JobResumed", "Job resumed")
    assert eventually(lambda: namespace.events("Resumed"))[0]["message"] == "Job resumed"
    assert status_of(namespace)["startTime"] >= told["lastTransitionTime"]
    # What failed is carried on by the pod that failed; who did not fail took the number along.
    assert of_index(third, 2)["metadata"]["annotations"][FAILURES] == "1"
    assert of_index(third, 3)["metadata"]["annotations"][FAILURES] == "0"
    for each in third:
        end(namespace, each, 0)
    found = eventually(lambda: condition(namespace.get("jobs", "each"), "Failed"))
    assert found["reason"] == "FailedIndexes"
    reached = {"completedIndexes": "0,2,3", "failedIndexes": "1", "succeeded": 3, "failed": 4}
    assert reached.items() <= status_of(namespace).items()


@pytest.mark.parametrize(
    "spec",
    [
        indexed(2, backoffLimitPerIndex=0), indexed(2, backoffLimit=0),
        spec_of(completions=2, parallelism=2, backoffLimit=0),
        spec_of(parallelism=2, backoffLimit=0),
    ],
    ids=["each index", "indexed", "completions", "queue"],
)  # fmt: skip
def test_a_pause_is_no_failure_and_makes_nobody_wait(namespace: Namespace, spec: Any) -> None:
    namespace.create("jobs", "each", spec)
    for _ in range(2):
        active(namespace, 2)
        suspend(namespace, True)
        assert status_of(namespace)["terminating"] >= 2
        suspend(namespace, False)
        # At once, although those before have not stopped yet.
        active(namespace, 2)
        assert any(map(is_deleted, namespace.pods()))
    assert status_of(namespace).get("failed", 0) == 0
    assert status_of(namespace).get("failedIndexes", "") == ""
    for each in active(namespace, 2):
        end(namespace, each, 0)
    stopped(namespace)
    eventually(lambda: condition(namespace.get("jobs", "each"), "Complete"))
    assert status_of(namespace)["succeeded"] == 2


def test_who_replaces_only_what_has_ended_waits_for_those_that_stop(namespace: Namespace) -> None:
    spec = indexed(2, backoffLimitPerIndex=1, podReplacementPolicy="Failed")
    namespace.create("jobs", "each", spec)
    active(namespace, 2)
    suspend(namespace, True)
    suspend(namespace, False)
    always(lambda: len(namespace.pods()) == 2)
    stopped(namespace)
    active(namespace, 2)


def test_a_pod_that_failed_is_replaced_though_somebody_has_deleted_it(
    namespace: Namespace,
) -> None:
    spec = indexed(1, backoffLimitPerIndex=1, podReplacementPolicy="Failed")
    namespace.create("jobs", "each", spec)
    (pod,) = active(namespace, 1)
    end(namespace, pod, 1, ago=-HOUR)
    active(namespace, 0)
    namespace.delete("pods", pod["metadata"]["name"])
    assert is_deleted(namespace.get("pods", pod["metadata"]["name"])), "it is held"
    end(namespace, pod, 1)
    (second,) = active(namespace, 1)
    assert second["metadata"]["annotations"][FAILURES] == "1"
    eventually(lambda: namespace.get("pods", pod["metadata"]["name"]) is None)


def test_a_job_that_begins_suspended_has_no_pods_until_it_is_resumed(namespace: Namespace) -> None:
    namespace.create("jobs", "each", indexed(2, backoffLimitPerIndex=0, suspend=True))
    eventually(lambda: condition(namespace.get("jobs", "each"), "Suspended"))
    assert "startTime" not in status_of(namespace)
    assert namespace.pods() == []
    suspend(namespace, False)
    assert [each["metadata"]["annotations"][FAILURES] for each in active(namespace, 2)] == ["0"] * 2


def test_pods_that_are_too_many_are_no_failures(namespace: Namespace) -> None:
    namespace.create("jobs", "each", indexed(3, backoffLimitPerIndex=0))
    active(namespace, 3)
    namespace.patch("jobs", "each", {"spec": {"parallelism": 1}})
    active(namespace, 1)
    stopped(namespace)
    status = status_of(namespace)
    assert (status.get("failed", 0), status["failedIndexes"]) == (0, "")


def test_pods_that_are_not_needed_any_more_are_no_failures(namespace: Namespace) -> None:
    policy = {"rules": [{"succeededIndexes": "0"}]}
    namespace.create("jobs", "each", indexed(3, successPolicy=policy))
    end(namespace, of_index(active(namespace, 3), 0), 0)
    active(namespace, 0)
    stopped(namespace)
    eventually(lambda: condition(namespace.get("jobs", "each"), "Complete"))
    assert status_of(namespace).get("failed", 0) == 0
