"""What goes with what: garbage of three policies, circles, and namespaces that end pods first."""

from __future__ import annotations

from typing import Any

from tests.controllers.cluster import (
    POD,
    Cluster,
    Namespace,
    always,
    condition,
    eventually,
    workload,
)


def reference(owner: Any, *, blocks: bool = False) -> dict[str, Any]:
    metadata = owner["metadata"]
    return {
        "apiVersion": "v1", "kind": owner.get("kind", "ConfigMap"), "name": metadata["name"],
        "uid": metadata["uid"], "blockOwnerDeletion": blocks,
    }  # fmt: skip


def pair(namespace: Namespace, *, blocks: bool = False) -> Any:
    """Config maps a and b; b is owned by a."""
    owner = namespace.create("configmaps", "a")
    owned = {"ownerReferences": [reference(owner, blocks=blocks)]}
    namespace.create("configmaps", "b", metadata=owned)
    return owner


# kubernetes-sigs/controller-runtime#880, #1459: owners and namespaces in tests without a cluster
def test_in_background_the_owner_goes_first_and_then_what_it_owned(namespace: Namespace) -> None:
    pair(namespace)
    namespace.delete("configmaps", "a", propagationPolicy="Background")

    assert namespace.get("configmaps", "a") is None
    eventually(lambda: namespace.get("configmaps", "b") is None)


def test_in_foreground_the_owner_waits_for_what_it_owns(namespace: Namespace) -> None:
    owner = namespace.create("configmaps", "a")
    held = {"ownerReferences": [reference(owner, blocks=True)], "finalizers": ["test.dev/hold"]}
    namespace.create("configmaps", "b", metadata=held)
    namespace.delete("configmaps", "a", propagationPolicy="Foreground")
    eventually(lambda: "deletionTimestamp" in namespace.get("configmaps", "b")["metadata"])
    always(lambda: namespace.get("configmaps", "a") is not None)

    namespace.patch("configmaps", "b", {"metadata": {"finalizers": None}})
    eventually(lambda: namespace.get("configmaps", "a") is None)
    assert namespace.get("configmaps", "b") is None


def test_orphans_stay_and_lose_their_reference(namespace: Namespace) -> None:
    pair(namespace)
    namespace.delete("configmaps", "a", propagationPolicy="Orphan")
    eventually(lambda: namespace.get("configmaps", "a") is None)

    left = namespace.get("configmaps", "b")
    assert not left["metadata"].get("ownerReferences")
    always(lambda: namespace.get("configmaps", "b") is not None)


def test_one_owner_that_is_left_keeps_what_two_owned(namespace: Namespace) -> None:
    one, two = namespace.create("configmaps", "one"), namespace.create("configmaps", "two")
    both = {"ownerReferences": [reference(one), reference(two)]}
    namespace.create("configmaps", "both", metadata=both)
    namespace.delete("configmaps", "one", propagationPolicy="Background")

    def left() -> list[str]:
        metadata = namespace.get("configmaps", "both")["metadata"]
        return [each["name"] for each in metadata["ownerReferences"]]

    eventually(lambda: left() == ["two"])
    assert "deletionTimestamp" not in namespace.get("configmaps", "both")["metadata"]


def test_a_circle_of_owners_does_not_hold_itself(namespace: Namespace) -> None:
    made = [namespace.create("configmaps", f"c{number}") for number in range(3)]
    for number, each in enumerate(made):
        owners = [reference(made[number - 1], blocks=True)]
        name = each["metadata"]["name"]
        namespace.patch("configmaps", name, {"metadata": {"ownerReferences": owners}})
    namespace.delete("configmaps", "c0", propagationPolicy="Foreground")

    names = ("c0", "c1", "c2")
    eventually(lambda: all(namespace.get("configmaps", name) is None for name in names))


def test_an_owner_of_another_namespace_counts_as_none(
    cluster: Cluster, namespace: Namespace
) -> None:
    elsewhere = cluster.namespace(f"{namespace.name}-elsewhere")
    owner = elsewhere.create("configmaps", "a")
    namespace.create("configmaps", "b", metadata={"ownerReferences": [reference(owner)]})

    eventually(lambda: namespace.get("configmaps", "b") is None)
    assert elsewhere.get("configmaps", "a") is not None


def test_a_deployment_takes_its_replica_sets_and_pods_along(namespace: Namespace) -> None:
    namespace.create("deployments", "web", workload(3))
    eventually(lambda: len(namespace.ready(app="web")) == 3)
    namespace.delete("deployments", "web")

    eventually(lambda: not namespace.pods() and not namespace.items("replicasets"))


def test_every_namespace_begins_with_an_account_and_an_authority(namespace: Namespace) -> None:
    eventually(lambda: namespace.get("serviceaccounts", "default"))
    authority = eventually(lambda: namespace.get("configmaps", "kube-root-ca.crt"))
    assert authority["data"]["ca.crt"] == namespace.cluster.server.ca.read_text()

    namespace.patch("configmaps", "kube-root-ca.crt", {"data": {"ca.crt": "forged"}})
    eventually(
        lambda: namespace.get("configmaps", "kube-root-ca.crt")["data"]["ca.crt"] != "forged"
    )
    namespace.delete("serviceaccounts", "default")
    eventually(lambda: namespace.get("serviceaccounts", "default"))


def test_a_namespace_ends_pods_first_and_tells_what_is_left(
    cluster: Cluster, namespace: Namespace
) -> None:
    namespace.create("pods", "held", POD, metadata={"finalizers": ["test.dev/hold"]})
    namespace.create("configmaps", "later")
    eventually(lambda: namespace.get("pods", "held")["spec"].get("nodeName"))
    path = f"/api/v1/namespaces/{namespace.name}"
    cluster.server.json("DELETE", path)
    told = eventually(
        lambda: (
            condition(cluster.get(path), "NamespaceFinalizersRemaining").get("status") == "True"
            and cluster.get(path)
        )
    )
    assert {each["type"]: each["status"] for each in told["status"]["conditions"]} == {
        "NamespaceDeletionDiscoveryFailure": "False",
        "NamespaceDeletionGroupVersionParsingFailure": "False",
        "NamespaceDeletionContentFailure": "False",
        "NamespaceContentRemaining": "True",
        "NamespaceFinalizersRemaining": "True",
    }
    said = condition(told, "NamespaceFinalizersRemaining")["message"]
    assert "test.dev/hold in 1 resource instances" in said
    always(lambda: namespace.get("configmaps", "later") is not None)

    namespace.patch("pods", "held", {"metadata": {"finalizers": None}})
    eventually(lambda: cluster.get(path) is None)


def test_a_namespace_that_is_made_again_is_empty(cluster: Cluster, namespace: Namespace) -> None:
    for number in range(3):
        namespace.create("configmaps", f"m{number}")
    namespace.create("deployments", "web", workload(3))
    eventually(lambda: len(namespace.ready(app="web")) == 3)
    path = f"/api/v1/namespaces/{namespace.name}"
    cluster.server.json("DELETE", path)
    eventually(lambda: cluster.get(path) is None)
    cluster.server.json("POST", "/api/v1/namespaces", {"metadata": {"name": namespace.name}})

    assert namespace.pods() == []
    names = {each["metadata"]["name"] for each in namespace.items("configmaps")}
    assert names <= {"kube-root-ca.crt"}
