"""Deployments from the first pod to the roll-back, seen through the API alone."""

from __future__ import annotations

from typing import Any

from tests.controllers.cluster import Namespace, condition, eventually, workload


def rolled_out(namespace: Namespace, replicas: int, image: str = "app:1") -> Any:
    """The deployment `web`, once `kubectl rollout status` would be content."""

    def look() -> Any:
        found = namespace.get("deployments", "web")
        status = found["status"]
        content = (
            status.get("observedGeneration", 0) >= found["metadata"]["generation"]
            and status.get("updatedReplicas", 0) == replicas
            and status.get("replicas", 0) == replicas
            and status.get("availableReplicas", 0) == replicas
            and found["spec"]["template"]["spec"]["containers"][0]["image"] == image
        )
        return found if content else None

    return eventually(look)


def replica_sets(namespace: Namespace) -> dict[str, int]:
    """Images and sizes."""
    return {
        each["spec"]["template"]["spec"]["containers"][0]["image"]: each["spec"]["replicas"]
        for each in namespace.items("replicasets")
    }


def set_image(namespace: Namespace, image: str) -> None:
    containers = [{"name": "c", "image": image}]
    namespace.patch(
        "deployments", "web", {"spec": {"template": {"spec": {"containers": containers}}}}
    )


def test_a_deployment_becomes_a_replica_set_and_the_pods_of_that_run(namespace: Namespace) -> None:
    namespace.create("deployments", "web", workload(5))
    done = rolled_out(namespace, 5)

    assert condition(done, "Available")["status"] == "True"
    assert condition(done, "Progressing")["reason"] == "NewReplicaSetAvailable"
    assert done["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    pods = namespace.pods(app="web")
    assert len(pods) == 5
    assert len({pod["status"]["podIP"] for pod in pods}) == 5
    (owner,) = namespace.items("replicasets")
    for pod in pods:
        (reference,) = pod["metadata"]["ownerReferences"]
        assert reference["uid"] == owner["metadata"]["uid"]
        assert reference["controller"]
        assert pod["status"]["containerStatuses"][0]["ready"]
    assert owner["metadata"]["labels"]["pod-template-hash"] in owner["metadata"]["name"]


def test_an_update_rolls_out_and_never_leaves_too_few(namespace: Namespace) -> None:
    namespace.create("deployments", "web", workload(4))
    rolled_out(namespace, 4)
    set_image(namespace, "app:2")
    least = 4

    def look() -> bool:
        nonlocal least
        found = namespace.get("deployments", "web")
        least = min(least, found["status"].get("availableReplicas", 0))
        return replica_sets(namespace) == {"app:1": 0, "app:2": 4} and (
            found["status"].get("availableReplicas") == 4
        )

    eventually(look)
    assert least >= 3
    assert rolled_out(namespace, 4, "app:2")


def test_a_rollback_brings_the_old_replica_set_back_under_a_new_number(
    namespace: Namespace,
) -> None:
    namespace.create("deployments", "web", workload(2))
    rolled_out(namespace, 2)
    first = {each["metadata"]["uid"] for each in namespace.items("replicasets")}
    set_image(namespace, "app:2")
    rolled_out(namespace, 2, "app:2")
    set_image(namespace, "app:1")  # what `kubectl rollout undo` writes
    done = rolled_out(namespace, 2, "app:1")

    assert done["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"
    current = [each for each in namespace.items("replicasets") if each["spec"]["replicas"]]
    assert {each["metadata"]["uid"] for each in current} == first
    annotations = current[0]["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision-history"] == "1"


def test_a_paused_deployment_scales_but_does_not_roll_out(namespace: Namespace) -> None:
    namespace.create("deployments", "web", workload(2))
    rolled_out(namespace, 2)
    namespace.patch("deployments", "web", {"spec": {"paused": True}})
    eventually(
        lambda: (
            condition(namespace.get("deployments", "web"), "Progressing").get("reason")
            == "DeploymentPaused"
        )
    )
    set_image(namespace, "app:2")
    namespace.patch("deployments", "web", {"spec": {"replicas": 3}})
    eventually(lambda: replica_sets(namespace) == {"app:1": 3})

    namespace.patch("deployments", "web", {"spec": {"paused": False}})
    rolled_out(namespace, 3, "app:2")
    assert replica_sets(namespace) == {"app:1": 0, "app:2": 3}


def test_recreate_ends_all_old_pods_before_a_new_one_comes(namespace: Namespace) -> None:
    namespace.create("deployments", "web", workload(3, strategy={"type": "Recreate"}))
    rolled_out(namespace, 3)
    set_image(namespace, "app:2")

    def images() -> set[str]:
        return {pod["spec"]["containers"][0]["image"] for pod in namespace.pods(app="web")}

    def look() -> bool:
        assert images() != {"app:1", "app:2"}
        return len(namespace.ready(app="web")) == 3 and images() == {"app:2"}

    eventually(look)


def test_pods_that_never_get_ready_are_told_of_when_the_deadline_is_over(
    namespace: Namespace,
) -> None:
    spec = workload(1, progressDeadlineSeconds=1)
    spec["template"]["metadata"]["annotations"] = {"kubelet.listwatch.dev/never-ready": "true"}
    namespace.create("deployments", "web", spec)
    found = eventually(
        lambda: (
            condition(namespace.get("deployments", "web"), "Progressing").get("reason")
            == "ProgressDeadlineExceeded"
            and namespace.get("deployments", "web")
        )
    )
    assert condition(found, "Progressing")["status"] == "False"
    assert condition(found, "Available")["reason"] == "MinimumReplicasUnavailable"


def test_old_revisions_beyond_the_limit_are_removed(namespace: Namespace) -> None:
    namespace.create("deployments", "web", workload(1, revisionHistoryLimit=1))
    for number in (1, 2, 3, 4):
        set_image(namespace, f"app:{number}")
        rolled_out(namespace, 1, f"app:{number}")
    eventually(lambda: replica_sets(namespace) == {"app:3": 0, "app:4": 1})


def test_an_orphan_is_adopted_and_a_pod_whose_label_goes_is_let_go(namespace: Namespace) -> None:
    orphan = {"metadata": {"labels": {"app": "web"}}, "spec": workload(1)["template"]["spec"]}
    namespace.create("pods", "orphan", orphan["spec"], metadata=orphan["metadata"])
    namespace.create("replicasets", "web", workload(2))
    eventually(lambda: len(namespace.ready(app="web")) == 2)
    names = {pod["metadata"]["name"] for pod in namespace.pods(app="web")}
    assert "orphan" in names

    namespace.patch("pods", "orphan", {"metadata": {"labels": {"app": "other"}}})
    eventually(lambda: len(namespace.ready(app="web")) == 2)
    assert not namespace.get("pods", "orphan")["metadata"].get("ownerReferences")
