"""Claims and volumes: which suits which, and what a user sees of it on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from listwatch.controllers.volumes import matching
from tests.controllers.cluster import (
    Cluster,
    Controllers,
    Namespace,
    always,
    eventually,
    workload,
)
from tests.servers import running

VOLUMES, CLASSES = "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses"


def claim(size: str = "1Gi", **spec: Any) -> Any:
    return {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec,
    }  # fmt: skip


def volume(name: str, size: str = "1Gi", storage_class: str = "manual", **spec: Any) -> Any:
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class, "hostPath": {"path": f"/data/{name}"}, **spec,
        },
    }  # fmt: skip


def using(claim_name: str, **spec: Any) -> Any:
    source = {"persistentVolumeClaim": {"claimName": claim_name}}
    container = {"name": "c", "image": "app:1"}
    return {"containers": [container], "volumes": [{"name": "data", **source}], **spec}


# Which suits which


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, "small"),  # the smallest that is large enough
        ({"size": "3Gi"}, "large"),
        ({"size": "50Gi"}, None),
        ({"accessModes": ["ReadWriteMany"]}, "shared"),
        ({"volumeMode": "Block"}, None),
        ({"storageClassName": ""}, "plain"),
        ({"storageClassName": "other"}, None),
        ({"selector": {"matchLabels": {"tier": "gold"}}}, "large"),
    ],
)
def test_a_claim_gets_the_smallest_volume_that_suits_it(
    wanted: dict[str, Any], expected: str | None
) -> None:
    large: Any = volume("large", "5Gi")
    large["metadata"]["labels"] = {"tier": "gold"}
    taken = volume("taken", claimRef={"namespace": "x", "name": "y", "uid": "z"})
    shared = volume("shared", "9Gi", accessModes=["ReadWriteOnce", "ReadWriteMany"])
    volumes = [large, taken, shared, volume("small", "2Gi"), volume("plain", "1Gi", "")]
    spec = claim(**{"storageClassName": "manual", **wanted})
    made: Any = {"metadata": {"name": "c", "namespace": "n", "uid": "u"}, "spec": spec}

    found = matching.best(volumes, made)
    assert (found and found["metadata"]["name"]) == expected


def test_a_volume_that_is_kept_for_a_claim_comes_first_and_one_elsewhere_never() -> None:
    spec = claim(storageClassName="manual")
    made: Any = {"metadata": {"name": "c", "namespace": "n", "uid": "u"}, "spec": spec}
    kept: Any = volume("kept", "9Gi", claimRef={"namespace": "n", "name": "c"})
    assert matching.best([volume("small"), kept], made) == kept
    earlier = volume("earlier", claimRef={"namespace": "n", "name": "c", "uid": "before"})
    assert matching.best([earlier], made) is None

    field = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}
    terms = {"required": {"nodeSelectorTerms": [{"matchExpressions": [field]}]}}
    local = volume("local", nodeAffinity=terms)
    here = {"metadata": {"name": "node-1", "labels": {"kubernetes.io/hostname": "node-1"}}}
    there = {"metadata": {"name": "node-2", "labels": {"kubernetes.io/hostname": "node-2"}}}
    assert matching.best([local], made, here) == local
    assert matching.best([local], made, there) is None


# On a cluster


def phase(namespace: Namespace, name: str) -> str:
    found = namespace.get("persistentvolumeclaims", name) or {}
    return str((found.get("status") or {}).get("phase"))


def test_a_claim_waits_for_its_first_pod_and_both_come_to_be(
    cluster: Cluster, namespace: Namespace
) -> None:
    made = namespace.create("persistentvolumeclaims", "data", claim())
    assert made["spec"]["storageClassName"] == "standard"
    eventually(lambda: namespace.events("WaitForFirstConsumer"))
    assert phase(namespace, "data") == "Pending"

    namespace.create("pods", "db", using("data"))
    eventually(namespace.ready)
    bound = namespace.get("persistentvolumeclaims", "data")
    assert bound["status"] == {
        "phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
    }  # fmt: skip
    name = bound["spec"]["volumeName"]
    assert cluster.get(f"{VOLUMES}/{name}")["status"]["phase"] == "Bound"

    larger = {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}
    namespace.patch("persistentvolumeclaims", "data", larger)
    eventually(
        lambda: (
            namespace.get("persistentvolumeclaims", "data")["status"]["capacity"]
            == {"storage": "3Gi"}
        )
    )
    assert cluster.get(f"{VOLUMES}/{name}")["spec"]["capacity"] == {"storage": "3Gi"}

    # The claim stays while the pod is there, and takes its volume with it.
    namespace.delete("persistentvolumeclaims", "data")
    always(lambda: namespace.get("persistentvolumeclaims", "data"))
    namespace.delete("pods", "db")
    eventually(lambda: namespace.get("persistentvolumeclaims", "data") is None)
    eventually(lambda: cluster.get(f"{VOLUMES}/{name}") is None)


def test_a_claim_is_bound_to_a_volume_that_somebody_made_and_releases_it(
    cluster: Cluster, namespace: Namespace
) -> None:
    kind, name = f"static-{namespace.name}", f"disk-{namespace.name}"
    namespace.create("persistentvolumeclaims", "data", claim(storageClassName=kind))
    namespace.create("pods", "db", using("data"))

    def waits() -> bool:
        told = namespace.events("FailedScheduling")
        return any("unbound immediate PersistentVolumeClaims" in each["message"] for each in told)

    eventually(waits)
    cluster.server.json("POST", VOLUMES, volume(name, "5Gi", kind))
    eventually(namespace.ready)
    assert namespace.get("persistentvolumeclaims", "data")["spec"]["volumeName"] == name
    assert namespace.get("persistentvolumeclaims", "data")["status"]["capacity"] == {
        "storage": "5Gi"
    }
    namespace.delete("pods", "db")
    namespace.delete("persistentvolumeclaims", "data")
    eventually(lambda: cluster.get(f"{VOLUMES}/{name}")["status"]["phase"] == "Released")
    cluster.server.json("DELETE", f"{VOLUMES}/{name}")
    eventually(lambda: cluster.get(f"{VOLUMES}/{name}") is None)


def test_local_volumes_draw_their_pod_to_their_node(cluster: Cluster, namespace: Namespace) -> None:
    kind, name = f"local-{namespace.name}", f"disk-{namespace.name}"
    delayed = {"provisioner": matching.NO_PROVISIONER, "volumeBindingMode": matching.DELAYED}
    cluster.server.json("POST", CLASSES, {"metadata": {"name": kind}, **delayed})
    node = max(each["metadata"]["name"] for each in cluster.nodes())
    field = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    terms = {"required": {"nodeSelectorTerms": [{"matchExpressions": [field]}]}}
    local = volume(name, "5Gi", kind, nodeAffinity=terms, local={"path": "/data"})
    del local["spec"]["hostPath"]
    cluster.server.json("POST", VOLUMES, local)
    namespace.create("persistentvolumeclaims", "data", claim(storageClassName=kind))
    namespace.create("pods", "db", using("data"))

    (pod,) = eventually(namespace.ready)
    assert pod["spec"]["nodeName"] == node
    namespace.create("persistentvolumeclaims", "more", claim(storageClassName=kind))
    namespace.create("pods", "late", using("more"))
    eventually(
        lambda: any(
            "didn't find available persistent volumes to bind" in each["message"]
            for each in namespace.events("FailedScheduling")
        )
    )
    cluster.server.json("DELETE", f"{CLASSES}/{kind}")


def test_a_volume_of_a_pods_own_comes_and_goes_with_it(namespace: Namespace) -> None:
    template = {"metadata": {"labels": {"of": "db"}}, "spec": claim()}
    spec = using("")
    spec["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
    namespace.create("pods", "db", spec)
    (pod,) = eventually(namespace.ready)
    made = namespace.get("persistentvolumeclaims", "db-scratch")
    assert made["metadata"]["labels"] == {"of": "db"}
    assert made["metadata"]["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
    namespace.delete("pods", "db")
    eventually(lambda: namespace.get("persistentvolumeclaims", "db-scratch") is None)


def test_a_pod_whose_claim_is_missing_says_so_and_runs_when_it_comes(namespace: Namespace) -> None:
    namespace.create("pods", "db", using("data"))
    (told,) = eventually(lambda: namespace.events("FailedScheduling"))
    assert 'persistentvolumeclaim "data" not found' in told["message"]
    namespace.create("persistentvolumeclaims", "data", claim())
    eventually(namespace.ready)


def test_a_class_that_only_somebody_else_can_serve_is_said_to_be_waited_for(
    cluster: Cluster, namespace: Namespace
) -> None:
    kind = f"csi-{namespace.name}"
    cluster.server.json(
        "POST", CLASSES, {"metadata": {"name": kind}, "provisioner": "ebs.csi.example.com"}
    )
    namespace.create("persistentvolumeclaims", "data", claim(storageClassName=kind))
    (told,) = eventually(lambda: namespace.events("ExternalProvisioning"))
    assert "external provisioner 'ebs.csi.example.com'" in told["message"]
    cluster.server.json("DELETE", f"{CLASSES}/{kind}")


def test_a_claim_from_before_any_class_gets_the_default_one(tmp_path: Path) -> None:
    with running(tmp_path / "server", "--controllers=") as server:
        namespace = Cluster(server).namespace("early")
        made = namespace.create("persistentvolumeclaims", "data", claim())
        assert "storageClassName" not in made["spec"]
        namespace.create("pods", "db", using("data"))
        controllers = Controllers(server, "--nodes", "1", log=tmp_path / "log").start()
        try:
            eventually(namespace.ready)
        finally:
            assert controllers.stop() == 0
        assert phase(namespace, "data") == "Bound"
    assert (tmp_path / "log").read_text() == ""


# Priorities


def test_a_pod_of_higher_priority_takes_the_room_of_lower_ones(
    cluster: Cluster, namespace: Namespace
) -> None:
    node = min(each["metadata"]["name"] for each in cluster.nodes())
    urgent = f"urgent-{namespace.name}"
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    cluster.server.json("POST", path, {"metadata": {"name": urgent}, "value": 1000})
    polite = {"metadata": {"name": f"{urgent}-polite"}, "preemptionPolicy": "Never"}
    cluster.server.json("POST", path, {**polite, "value": 1000})

    def pod(cpu: str, **spec: Any) -> Any:
        container = {"name": "c", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
        selector = {"kubernetes.io/hostname": node}
        return {"containers": [container], "nodeSelector": selector, **spec}

    namespace.create("pods", "large", pod("9"))
    namespace.create("pods", "small", pod("5"))
    eventually(lambda: len(namespace.ready()) == 2)
    namespace.create("pods", "polite", pod("8", priorityClassName=f"{urgent}-polite"))
    eventually(lambda: namespace.events("FailedScheduling"))
    always(lambda: len(namespace.ready()) == 2)
    namespace.delete("pods", "polite")

    namespace.create("pods", "urgent", pod("10", priorityClassName=urgent))
    eventually(lambda: {p["metadata"]["name"] for p in namespace.ready()} == {"urgent", "small"})
    (told,) = eventually(lambda: namespace.events("Preempted"))
    assert told["involvedObject"]["name"] == "large"
    assert node in told["message"]
    cluster.server.json("DELETE", f"{path}/{urgent}")


def test_replicas_of_a_deployment_share_a_claim(namespace: Namespace) -> None:
    namespace.create("persistentvolumeclaims", "data", claim())
    spec = workload(3)
    spec["template"]["spec"]["volumes"] = using("data")["volumes"]
    namespace.create("deployments", "web", spec)
    eventually(lambda: len(namespace.ready()) == 3)
