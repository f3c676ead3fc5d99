"""Status, scale, binding and finalize: each changes its own part of an object, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.registry.patch import JSON_PATCH, STRATEGIC_PATCH
from listwatch.registry.scale import selector_text
from tests.registry.house import House, configmap, deployment, object_of, pod, refused

SCALE = {"apiVersion": "autoscaling/v1", "kind": "Scale"}


async def test_the_status_address_changes_the_status_and_labels_alone(house: House) -> None:
    made = await house.create("pods", pod())
    sent = {
        **pod(priorityClassName="other", metadata={"labels": {"x": "y"}}),
        "status": {"phase": "Running", "podIP": "10.1.2.3"},
    }
    changed = await house.put("pods/status", sent)

    assert changed["metadata"]["labels"] == {"x": "y"}
    assert changed["spec"] == made["spec"]
    assert changed["status"] == {
        "phase": "Running", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}],
        "qosClass": "BestEffort",
    }  # fmt: skip
    assert changed["metadata"]["generation"] == 1


async def test_conditions_merge_by_their_type(house: House) -> None:
    await house.create("pods", pod())
    for kind in ("Ready", "Ok"):
        patch = {"status": {"conditions": [{"type": kind, "status": "True"}]}}
        changed = await house.patch("pods/status", "p", patch, STRATEGIC_PATCH)

    conditions = changed["status"]["conditions"]
    assert sorted(condition["type"] for condition in conditions) == ["Ok", "Ready"]
    assert all(condition["lastProbeTime"] is None for condition in conditions)


async def test_owners_of_a_pod_cannot_be_changed_at_its_status(house: House) -> None:
    await house.create("pods", pod())
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
    patch = {"metadata": {"ownerReferences": [owner]}, "status": {"phase": "Running"}}
    changed = await house.patch("pods/status", "p", patch)

    assert "ownerReferences" not in changed["metadata"]


async def test_labels_of_a_deployment_cannot_be_changed_at_its_status(house: House) -> None:
    await house.create("deployments", deployment())
    patch = {"metadata": {"labels": {"x": "y"}}, "status": {"replicas": 2}}
    changed = await house.patch("deployments/status", "d", patch)

    assert "labels" not in changed["metadata"]
    assert changed["status"]["replicas"] == 2


async def test_the_status_of_what_is_not_there_is_not_made(house: House) -> None:
    error = await refused(house.put("endpoints/status", {"metadata": {"name": "e"}}))

    assert error.code == 404


async def test_a_namespace_keeps_its_finalizers_at_its_status(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    condition = {"type": "Mine", "status": "True"}
    patch = {"metadata": {"labels": {"x": "y"}}, "status": {"conditions": [condition]}}
    changed = await house.patch("namespaces/status", "n", patch)

    assert changed["spec"] == {"finalizers": ["kubernetes"]}
    assert changed["metadata"]["labels"] == {"kubernetes.io/metadata.name": "n", "x": "y"}
    assert changed["status"]["phase"] == "Active"


async def test_a_namespace_that_lives_cannot_be_said_to_terminate(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    body = {"metadata": {"name": "n"}, "status": {"phase": "Terminating"}}
    error = await refused(house.put("namespaces/status", body))

    assert error.message == (
        'Namespace "n" is invalid: status.Phase: Invalid value: "Terminating": may only be '
        "'Active' if `deletionTimestamp` is empty"
    )


async def test_a_scale_shows_replicas_and_selector(house: House) -> None:
    made = await house.create("deployments", deployment(replicas=2))

    assert await house.get("deployments/scale", "d") == {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            key: made["metadata"][key]
            for key in ("resourceVersion", "name", "namespace", "uid", "creationTimestamp")
        },
        "spec": {"replicas": 2},
        "status": {"replicas": 0, "selector": "app=d"},
    }


async def test_a_scale_that_is_written_scales(house: House) -> None:
    await house.create("deployments", deployment(replicas=2))
    body = {**SCALE, "metadata": {"name": "d"}, "spec": {"replicas": 4}}
    written = await house.put("deployments/scale", body)
    found = await house.get("deployments", "d")

    assert (written["kind"], written["spec"]) == ("Scale", {"replicas": 4})
    assert written["metadata"]["resourceVersion"] == str(house.revision)
    assert (found["spec"]["replicas"], found["metadata"]["generation"]) == (4, 2)


async def test_a_scale_can_be_patched_to_none(house: House) -> None:
    await house.create("deployments", deployment(replicas=2))
    merged = await house.patch("deployments/scale", "d", {"spec": {"replicas": 1}})
    patch = [{"op": "replace", "path": "/spec/replicas", "value": 0}]
    emptied = await house.patch("deployments/scale", "d", patch, JSON_PATCH)

    assert (merged["spec"], emptied["spec"]) == ({"replicas": 1}, {})
    assert (await house.get("deployments", "d"))["spec"]["replicas"] == 0


async def test_fewer_than_no_replicas_are_refused_as_a_scale(house: House) -> None:
    await house.create("deployments", deployment())
    error = await refused(house.patch("deployments/scale", "d", {"spec": {"replicas": -1}}))

    assert error.message == (
        'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than '
        "or equal to 0"
    )


async def test_a_stale_scale_conflicts_as_its_workload(house: House) -> None:
    await house.create("deployments", deployment())
    body = {"metadata": {"name": "d", "resourceVersion": "1"}, "spec": {"replicas": 4}}
    error = await refused(house.put("deployments/scale", body))

    assert (error.code, error.details["kind"]) == (409, "deployments")


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("none", 404, 'deployments.apps "none" not found'),
        ("d", 400, "the name of the object (e) does not match the name on the URL (d)"),
    ],
)
async def test_a_scale_is_of_an_object(house: House, name: str, code: int, message: str) -> None:
    await house.create("deployments", deployment())
    body = {"metadata": {"name": "e" if name == "d" else name}, "spec": {"replicas": 4}}
    error = await refused(house.put("deployments/scale", body, name=name))

    assert (error.code, error.message) == (code, message)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"app": "d", "a": "b"}, "a=b,app=d"),
        (
            {
                "matchLabels": {"b": "1", "a": "2"},
                "matchExpressions": [
                    {"key": "c", "operator": "In", "values": ["y", "x"]},
                    {"key": "d", "operator": "DoesNotExist"},
                    {"key": "e", "operator": "NotIn", "values": ["z"]},
                    {"key": "f", "operator": "Exists"},
                ],
            },
            "a=2,b=1,c in (x,y),!d,e notin (z),f",
        ),
        ({}, ""),
    ],
)
def test_a_selector_is_written_as_a_parameter(selector: dict[str, Any], text: str) -> None:
    assert selector_text(selector) == text


def binding(name: str = "p", node: str = "node-x", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **metadata},
        "target": {"kind": "Node", "name": node},
    }  # fmt: skip


async def test_a_binding_sets_the_node_the_condition_and_its_own_labels(house: House) -> None:
    await house.create("pods", pod())
    body = binding(annotations={"a.test/x": "1"}, labels={"l": "1"})
    answer = await house.create("pods/binding", body, name="p")
    found = await house.get("pods", "p")

    assert (answer["kind"], answer["status"], answer["code"]) == ("Status", "Success", 201)
    assert found["spec"]["nodeName"] == "node-x"
    assert found["metadata"]["labels"] == {"l": "1"}
    assert found["metadata"]["annotations"] == {"a.test/x": "1"}
    assert found["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2023-11-14T22:13:20Z",
        }
    ]


@pytest.mark.parametrize("node", ["node-x", "node-y"])
async def test_a_bound_pod_stays_where_it_is(house: House, node: str) -> None:
    await house.create("pods", pod())
    await house.create("pods/binding", binding(), name="p")
    error = await refused(house.create("pods/binding", binding(node=node), name="p"))

    assert error.to_dict()["details"] == {"name": "p", "kind": "pods/binding"}
    assert error.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node '
        '"node-x"'
    )


async def test_a_pod_that_goes_is_not_bound(house: House) -> None:
    await house.create("pods", pod(metadata={"finalizers": ["a.test/1"]}))
    await house.delete("pods", "p")
    error = await refused(house.create("pods/binding", binding(), name="p"))

    assert error.message.endswith("pod p is being deleted, cannot be assigned to a host")


async def test_a_gated_pod_is_not_bound(house: House) -> None:
    await house.create("pods", pod(schedulingGates=[{"name": "a.test/g"}]))
    error = await refused(house.create("pods/binding", binding(), name="p"))

    assert error.message.endswith("pod p has non-empty .spec.schedulingGates")


async def test_a_binding_of_nothing_is_not_found(house: House) -> None:
    error = await refused(house.create("pods/binding", binding("none"), name="none"))

    assert (error.code, error.message) == (404, 'pods "none" not found')


async def test_a_binding_names_the_pod_and_a_node(house: House) -> None:
    await house.create("pods", pod())
    other = await refused(house.create("pods/binding", binding("q"), name="p"))
    nowhere = await refused(house.create("pods/binding", binding(node=""), name="p"))

    assert other.code == 400
    assert (nowhere.code, nowhere.causes[0].field) == (422, "target.name")


async def test_a_namespace_goes_with_the_last_of_its_finalizers(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    await house.delete("namespaces", "n")
    body = {"metadata": {"name": "n"}, "spec": {"finalizers": []}}
    answer = await house.put("namespaces/finalize", body)

    assert answer["spec"] == {}
    assert answer["status"] == {"phase": "Terminating"}
    assert (await refused(house.get("namespaces", "n"))).code == 404


async def test_a_namespace_with_content_does_not_go(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    await house.create("configmaps", configmap(), namespace="n")
    await house.delete("namespaces", "n")
    body = {"metadata": {"name": "n"}, "spec": {"finalizers": []}}
    error = await refused(house.put("namespaces/finalize", body))

    assert error.message == (
        'Operation cannot be fulfilled on namespaces "n": the namespace still holds 1 object'
    )
    assert (await house.get("namespaces", "n"))["spec"] == {"finalizers": ["kubernetes"]}


async def test_metadata_finalizers_hold_a_namespace_as_well(house: House) -> None:
    body = {"metadata": {"name": "n", "finalizers": ["a.test/1"]}}
    await house.create("namespaces", body)
    await house.delete("namespaces", "n")
    emptied = {**body, "spec": {"finalizers": []}}
    held = await house.put("namespaces/finalize", emptied)
    await house.patch("namespaces", "n", {"metadata": {"finalizers": None}})

    assert held["metadata"]["finalizers"] == ["a.test/1"]
    assert (await refused(house.get("namespaces", "n"))).code == 404


async def test_a_deleted_namespace_turns_terminating_and_stays_so(house: House) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    first = await house.delete("namespaces", "n")
    await house.clock.advance(5)
    second = await house.delete("namespaces", "n")
    shown = object_of(first)

    assert (first, first.gone) == (second, False)
    assert shown["status"] == {"phase": "Terminating"}
    assert "deletionGracePeriodSeconds" not in shown["metadata"]


@pytest.mark.parametrize("resource", ["configmaps/status", "pods/status"])
async def test_a_subresource_that_is_none_is_refused(house: House, resource: str) -> None:
    ctx = house.ctx(resource, "x")
    error = await refused(house.registry.delete(ctx, None))  # type: ignore[arg-type]

    assert error.code == 405
