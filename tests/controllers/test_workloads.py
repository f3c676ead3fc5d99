"""Stateful and daemon sets, jobs, services, quotas and budgets, each by what a user sees of it."""

from __future__ import annotations

from typing import Any

from tests.controllers.cluster import (
    POD,
    Cluster,
    Namespace,
    always,
    condition,
    eventually,
    template,
    workload,
)

DB = {"app": "db"}


def stateful(replicas: int, **spec: Any) -> Any:
    return {
        "serviceName": "db",
        "replicas": replicas,
        "selector": {"matchLabels": DB},
        "template": template(DB),
        **spec,
    }


def job(**spec: Any) -> Any:
    container = spec.pop("container", {"command": ["true"]})
    return {"template": template({}, restartPolicy="Never", container=container), **spec}


def test_a_stateful_set_counts_its_pods_and_keeps_their_names(namespace: Namespace) -> None:
    claims = [{
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        },
    }]  # fmt: skip
    spec = stateful(3, volumeClaimTemplates=claims)
    mounts = [{"name": "data", "mountPath": "/var/lib/db"}]
    spec["template"]["spec"]["containers"][0]["volumeMounts"] = mounts
    namespace.create("statefulsets", "db", spec)
    eventually(lambda: len(namespace.ready(**DB)) == 3)
    pods = sorted(namespace.pods(**DB), key=lambda pod: pod["metadata"]["creationTimestamp"])

    assert sorted(pod["metadata"]["name"] for pod in pods) == ["db-0", "db-1", "db-2"]
    assert {claim["metadata"]["name"] for claim in namespace.items("persistentvolumeclaims")} == {
        "data-db-0", "data-db-1", "data-db-2",
    }  # fmt: skip
    counted = namespace.get("statefulsets", "db")["status"]
    assert counted["collisionCount"] == 0  # told also where there was none, as upstream tells it
    uid = namespace.get("pods", "db-1")["metadata"]["uid"]
    namespace.delete("pods", "db-1")
    eventually(
        lambda: (pod := namespace.get("pods", "db-1")) is not None and pod["metadata"]["uid"] != uid
    )
    namespace.patch("statefulsets", "db", {"spec": {"replicas": 1}})
    eventually(lambda: [pod["metadata"]["name"] for pod in namespace.pods(**DB)] == ["db-0"])
    assert len(namespace.items("persistentvolumeclaims")) == 3


def test_a_stateful_set_updates_down_to_its_partition(namespace: Namespace) -> None:
    namespace.create("statefulsets", "db", stateful(3))
    eventually(lambda: len(namespace.ready(**DB)) == 3)
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    namespace.patch(
        "statefulsets", "db",
        {"spec": {"updateStrategy": rolling, "template": template(DB, "app:2")}},
    )  # fmt: skip

    def images() -> dict[str, str]:
        return {
            pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"]
            for pod in namespace.ready(**DB)
        }

    eventually(lambda: images() == {"db-0": "app:1", "db-1": "app:1", "db-2": "app:2"})
    rolling["rollingUpdate"] = {"partition": 0}
    namespace.patch("statefulsets", "db", {"spec": {"updateStrategy": rolling}})
    eventually(lambda: images() == {"db-0": "app:2", "db-1": "app:2", "db-2": "app:2"})
    eventually(
        lambda: (
            (status := namespace.get("statefulsets", "db")["status"])["currentRevision"]
            == status["updateRevision"]
        )
    )


def test_a_daemon_set_has_one_pod_on_each_node(cluster: Cluster, namespace: Namespace) -> None:
    labels = {"app": "agent"}
    spec = {"selector": {"matchLabels": labels}, "template": template(labels)}
    namespace.create("daemonsets", "agent", spec)
    eventually(lambda: len(namespace.ready(**labels)) == 3)
    nodes = sorted(pod["spec"]["nodeName"] for pod in namespace.pods(**labels))

    assert nodes == sorted(node["metadata"]["name"] for node in cluster.nodes())
    namespace.patch("daemonsets", "agent", {"spec": {"template": template(labels, "app:2")}})
    eventually(
        lambda: (
            namespace.get("daemonsets", "agent")["status"].get("updatedNumberScheduled") == 3
            and namespace.get("daemonsets", "agent")["status"].get("numberAvailable") == 3
        )
    )


def test_a_job_ends_when_enough_have_succeeded_and_counts_each_once(namespace: Namespace) -> None:
    namespace.create("jobs", "sum", job(completions=4, parallelism=2))
    done = eventually(
        lambda: (
            condition(namespace.get("jobs", "sum"), "Complete").get("status") == "True"
            and namespace.get("jobs", "sum")
        )
    )
    assert done["status"]["succeeded"] == 4
    assert done["status"].get("active", 0) == 0
    assert done["status"]["uncountedTerminatedPods"] == {}
    assert done["status"]["completionTime"]
    for pod in namespace.pods():
        assert pod["status"]["phase"] == "Succeeded"
        assert "finalizers" not in pod["metadata"]


def test_an_indexed_job_runs_each_index(namespace: Namespace) -> None:
    namespace.create("jobs", "each", job(completions=3, parallelism=3, completionMode="Indexed"))
    eventually(lambda: condition(namespace.get("jobs", "each"), "Complete"))
    status = namespace.get("jobs", "each")["status"]

    assert status["completedIndexes"] == "0-2"
    key = "batch.kubernetes.io/job-completion-index"
    assert sorted(pod["metadata"]["annotations"][key] for pod in namespace.pods()) == [
        "0",
        "1",
        "2",
    ]


def test_a_job_that_fails_too_often_is_told_to_have_failed(namespace: Namespace) -> None:
    namespace.create("jobs", "bad", job(backoffLimit=0, container={"command": ["false"]}))
    eventually(
        lambda: (
            condition(namespace.get("jobs", "bad"), "Failed").get("reason")
            == "BackoffLimitExceeded"
        )
    )
    assert namespace.get("jobs", "bad")["status"]["failed"] == 1


def test_a_service_has_the_addresses_of_its_ready_pods(namespace: Namespace) -> None:
    namespace.create("services", "web", {"selector": {"app": "web"}, "ports": [{"port": 80}]})
    namespace.create("deployments", "web", workload(3))
    eventually(lambda: len(namespace.ready(app="web")) == 3)
    addresses = sorted(pod["status"]["podIP"] for pod in namespace.pods(app="web"))

    def in_endpoints() -> list[str]:
        found = namespace.get("endpoints", "web") or {}
        return sorted(
            address["ip"]
            for subset in found.get("subsets") or ()
            for address in subset.get("addresses") or ()
        )

    def in_slices() -> list[str]:
        return sorted(
            address
            for each in namespace.items("endpointslices")
            for endpoint in each["endpoints"] or ()
            if endpoint["conditions"]["ready"]
            for address in endpoint["addresses"]
        )

    eventually(lambda: in_endpoints() == addresses)
    eventually(lambda: in_slices() == addresses)
    namespace.patch("deployments", "web", {"spec": {"replicas": 0}})
    eventually(lambda: in_endpoints() == [] == in_slices())
    namespace.delete("services", "web")
    eventually(lambda: namespace.get("endpoints", "web") is None)
    eventually(lambda: namespace.items("endpointslices") == [])


def test_the_status_of_a_quota_follows_what_is_used(namespace: Namespace) -> None:
    eventually(lambda: namespace.get("configmaps", "kube-root-ca.crt"))
    hard = {"pods": "5", "requests.cpu": "2", "configmaps": "9", "count/deployments.apps": "3"}
    namespace.create("resourcequotas", "q", {"hard": hard})

    def used() -> Any:
        return namespace.get("resourcequotas", "q").get("status", {}).get("used", {})

    nothing = {"pods": "0", "requests.cpu": "0", "configmaps": "1", "count/deployments.apps": "0"}
    eventually(lambda: used() == nothing)
    pod = {"containers": [{**POD["containers"][0], "resources": {"requests": {"cpu": "500m"}}}]}
    namespace.create("pods", "one", pod)
    namespace.create("configmaps", "mine")
    eventually(
        lambda: used() == {**nothing, "pods": "1", "requests.cpu": "500m", "configmaps": "2"}
    )
    namespace.delete("pods", "one", gracePeriodSeconds=0)
    namespace.delete("configmaps", "mine")
    eventually(lambda: used() == nothing)


def test_a_budget_lets_go_what_can_be_missed(namespace: Namespace) -> None:
    namespace.create("deployments", "web", workload(3))
    budget = {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}
    namespace.create("poddisruptionbudgets", "web", budget)
    eventually(
        lambda: (
            namespace.get("poddisruptionbudgets", "web")["status"].get("disruptionsAllowed") == 1
        )
    )
    status = namespace.get("poddisruptionbudgets", "web")["status"]
    assert (status["currentHealthy"], status["desiredHealthy"], status["expectedPods"]) == (3, 2, 3)
    name = namespace.pods(app="web")[0]["metadata"]["name"]
    eviction = {
        "apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace.name},
    }  # fmt: skip
    namespace.cluster.server.json("POST", namespace.path("pods", name, "eviction"), eviction)
    eventually(lambda: namespace.get("pods", name) is None)
    eventually(lambda: len(namespace.ready(app="web")) == 3)


def test_a_pod_that_fits_nowhere_is_told_why_and_runs_when_it_does(
    cluster: Cluster, namespace: Namespace
) -> None:
    namespace.create("pods", "picky", {**POD, "nodeSelector": {"disk": "quick"}})
    told = eventually(
        lambda: (
            condition(namespace.get("pods", "picky"), "PodScheduled").get("reason")
            == "Unschedulable"
            and namespace.get("pods", "picky")
        )
    )
    assert condition(told, "PodScheduled")["message"] == (
        "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. "
        "no new claims to deallocate, preemption: 0/3 nodes are available: "
        "3 Preemption is not helpful for scheduling."
    )
    assert eventually(lambda: namespace.events("FailedScheduling"))
    server = cluster.server
    path = "/api/v1/nodes/node-2"
    kind = {"Content_Type": "application/merge-patch+json"}
    server.json("PATCH", path, {"metadata": {"labels": {"disk": "quick"}}}, **kind)
    found = eventually(lambda: (p := namespace.get("pods", "picky"))["spec"].get("nodeName") and p)
    assert found["spec"]["nodeName"] == "node-2"
    server.json("PATCH", path, {"metadata": {"labels": {"disk": None}}}, **kind)


def test_a_container_that_ends_is_started_again_and_then_backs_off(namespace: Namespace) -> None:
    annotations = {
        "kubelet.listwatch.dev/run-seconds": "0", "kubelet.listwatch.dev/exit-code": "7",
    }  # fmt: skip
    namespace.create("pods", "crash", POD, metadata={"annotations": annotations})

    def status() -> Any:
        found = namespace.get("pods", "crash")["status"].get("containerStatuses") or [{}]
        return found[0]

    eventually(
        lambda: status().get("state", {}).get("waiting", {}).get("reason") == "CrashLoopBackOff"
    )
    assert status()["restartCount"] == 1
    assert status()["lastState"]["terminated"]["exitCode"] == 7
    assert not status()["ready"]


def test_a_container_to_debug_with_is_added_to_a_pod_that_runs(namespace: Namespace) -> None:
    namespace.create("pods", "web", POD)
    eventually(namespace.ready)
    added = {"name": "look", "image": "busybox", "targetContainerName": "c"}
    patch = {"spec": {"ephemeralContainers": [added]}}
    namespace.patch("pods", "web", patch, "ephemeralcontainers")

    def statuses() -> Any:
        return namespace.get("pods", "web")["status"].get("ephemeralContainerStatuses")

    [status] = eventually(statuses)
    assert (status["name"], status["ready"]) == ("look", False)
    assert "running" in status["state"]
    assert namespace.ready()

    def paths() -> set[str]:
        events = namespace.events("Started")
        return {each["involvedObject"].get("fieldPath") for each in events}

    eventually(lambda: paths() == {"spec.containers{c}", "spec.ephemeralContainers{look}"})


def test_a_pod_that_needs_time_to_stop_gets_its_grace_period_and_no_more(
    namespace: Namespace,
) -> None:
    slow = {"annotations": {"kubelet.listwatch.dev/stop-seconds": "60"}}
    namespace.create("pods", "slow", {**POD, "terminationGracePeriodSeconds": 2}, metadata=slow)
    eventually(namespace.ready)
    namespace.delete("pods", "slow")
    always(lambda: "deletionTimestamp" in namespace.get("pods", "slow")["metadata"])
    eventually(lambda: namespace.get("pods", "slow") is None)
