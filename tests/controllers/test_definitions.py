"""Custom kinds that come, go and come again under the eyes of the garbage collector."""

from __future__ import annotations

from listwatch.protocol.objects import JSONObject
from tests.controllers.cluster import Cluster, Namespace, eventually
from tests.informer.test_definitions import DEFINITION

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "gears.informed.example.com"


def reference(name: str, uid: str) -> JSONObject:
    return {"apiVersion": "informed.example.com/v1", "kind": "Gear", "name": name, "uid": uid}


def test_a_definition_that_goes_is_nothing_to_complain_of_and_one_that_comes_back_is_followed(
    cluster: Cluster, namespace: Namespace
) -> None:
    server = cluster.server
    path = f"/apis/informed.example.com/v1/namespaces/{namespace.name}/gears"
    gear = {"apiVersion": "informed.example.com/v1", "kind": "Gear", "metadata": {"name": "a"}}
    logged = len(server.log)

    def owned_by(name: str, uid: str) -> str:
        made = f"{name}-{uid[:8]}"
        namespace.create("configmaps", made, metadata={"ownerReferences": [reference(name, uid)]})
        return made

    def is_gone(name: str) -> bool:
        return namespace.get("configmaps", name) is None

    # Of a kind that nobody knows: kept, until it is known and there is no such owner.
    stray = owned_by("never", "11111111-0000-0000-0000-000000000000")
    for round_ in range(2):
        server.json("POST", DEFINITIONS, DEFINITION)
        owner = eventually(
            lambda: server.request("POST", path, gear)[0] == 201 and cluster.get(f"{path}/a")
        )
        owned = owned_by("a", owner["metadata"]["uid"])
        if round_:
            stray = owned_by("never", "22222222-0000-0000-0000-000000000000")
        eventually(lambda name=stray: is_gone(name))  # type: ignore[misc]
        assert not is_gone(owned)
        # With the kind go its objects, and with them what they own.
        server.json("DELETE", f"{path}/a" if round_ else f"{DEFINITIONS}/{NAME}")
        eventually(lambda name=owned: is_gone(name))  # type: ignore[misc]
        if round_:
            server.json("DELETE", f"{DEFINITIONS}/{NAME}")
        eventually(lambda: cluster.get(f"{DEFINITIONS}/{NAME}") is None)

    lines = [each for each in server.log[logged:].splitlines() if "informed.example.com" in each]
    assert lines == []
