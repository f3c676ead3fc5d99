"""What replica sets and deployments tell of pods that were deleted and still run."""

from __future__ import annotations

import time
from typing import Any

import pytest

from listwatch.controllers.deployments import progress
from listwatch.controllers.pods import is_stopping
from tests.controllers.cluster import Namespace, eventually, workload

DELETED = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("phase", "deleted", "expected"),
    [
        ("Pending", True, True), ("Running", True, True), ("Unknown", True, True), ("", True, True),
        ("Failed", True, False), ("Succeeded", True, False), ("Running", False, False),
    ],
)  # fmt: skip
def test_a_pod_stops_from_its_deletion_to_the_end_of_its_containers(
    phase: str, deleted: bool, expected: bool
) -> None:
    metadata = {"name": "p", **({"deletionTimestamp": DELETED} if deleted else {})}
    assert is_stopping({"metadata": metadata, "status": {"phase": phase}}) is expected


NEW: dict[str, int] = {}  # nobody has looked at it yet
OLDER = {"observedGeneration": 1, "replicas": 1}  # whoever looked did not tell
NONE = {"observedGeneration": 1, "terminatingReplicas": 0}
TWO = {"observedGeneration": 1, "terminatingReplicas": 2}


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], 0), ([NEW], 0), ([NONE], 0), ([TWO, NONE, TWO, NEW], 4),
        ([OLDER], None), ([TWO, OLDER, NONE], None),
    ],
)  # fmt: skip
def test_a_deployment_adds_up_what_all_of_its_sets_have_told(
    statuses: list[Any], expected: int | None
) -> None:
    sets = [{"metadata": {}, "spec": {"replicas": 0}, "status": each} for each in statuses]
    assert progress.stopping(sets) == expected
    deployment = {"metadata": {}, "spec": {"replicas": 0}}
    status = progress.status_of(deployment, sets, None, 0.0)
    assert ("terminatingReplicas" in status) is (expected is not None)
    assert status.get("terminatingReplicas") == expected


def slow(replicas: int) -> Any:
    """The spec of a workload whose pods do not end before a test does."""
    spec = workload(replicas)
    spec["template"]["metadata"]["annotations"] = {"kubelet.listwatch.dev/stop-seconds": "900"}
    spec["template"]["spec"]["terminationGracePeriodSeconds"] = 900
    return spec


def told(namespace: Namespace, resource: str) -> list[int | None]:
    return [each["status"].get("terminatingReplicas") for each in namespace.items(resource)]


def end(namespace: Namespace, count: int) -> None:
    """Let so many of the pods that were deleted be gone."""
    going = [pod for pod in namespace.pods() if "deletionTimestamp" in pod["metadata"]]
    for pod in going[:count]:
        namespace.delete("pods", pod["metadata"]["name"], gracePeriodSeconds=0)


def test_pods_that_stop_are_told_of_until_they_are_gone(namespace: Namespace) -> None:
    namespace.create("deployments", "web", slow(3))
    eventually(lambda: len(namespace.ready()) == 3)
    eventually(lambda: told(namespace, "replicasets") == told(namespace, "deployments") == [0])

    namespace.patch("deployments", "web", {"spec": {"replicas": 1}})
    eventually(lambda: told(namespace, "replicasets") == told(namespace, "deployments") == [2])
    status = namespace.get("deployments", "web")["status"]
    assert status["replicas"] == 1, "they are none of the replicas any more"
    assert namespace.items("replicasets")[0]["status"]["replicas"] == 1

    end(namespace, 1)
    eventually(lambda: told(namespace, "replicasets") == told(namespace, "deployments") == [1])
    end(namespace, 1)
    eventually(lambda: told(namespace, "replicasets") == told(namespace, "deployments") == [0])


def test_an_old_revision_counts_as_long_as_its_pods_stop(namespace: Namespace) -> None:
    namespace.create("deployments", "web", slow(2))
    eventually(lambda: len(namespace.ready()) == 2)
    change = {"containers": [{"name": "c", "image": "app:2"}]}
    namespace.patch("deployments", "web", {"spec": {"template": {"spec": change}}})
    eventually(lambda: sorted(map(str, told(namespace, "replicasets"))) == ["0", "2"])
    eventually(lambda: told(namespace, "deployments") == [2])

    def versions() -> set[str]:
        everything = [*namespace.items("replicasets"), *namespace.items("deployments")]
        return {each["metadata"]["resourceVersion"] for each in everything}

    def quiet() -> bool:
        before = versions()
        time.sleep(1.0)
        return versions() == before

    eventually(quiet)


def test_the_older_kind_has_no_such_field(namespace: Namespace) -> None:
    spec = slow(2)
    spec["selector"] = {"app": "web"}
    namespace.create("replicationcontrollers", "web", spec)
    eventually(lambda: len(namespace.ready()) == 2)
    namespace.patch("replicationcontrollers", "web", {"spec": {"replicas": 1}})
    eventually(
        lambda: namespace.get("replicationcontrollers", "web")["status"].get("readyReplicas") == 1
    )
    assert told(namespace, "replicationcontrollers") == [None]
