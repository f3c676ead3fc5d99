"""Webhooks are shown what was sent: a Scale, a Binding, an Eviction, or another version of it."""

from __future__ import annotations

from typing import Any

from listwatch.protocol.objects import JSONObject
from tests.registry.hooks import Hook, allow, configure, patch
from tests.registry.house import House, deployment, pod, refused


def rules(group: str, resource: str, version: str = "v1") -> list[JSONObject]:
    return [
        {"operations": ["*"], "apiGroups": [group], "apiVersions": [version],
         "resources": [resource]}
    ]  # fmt: skip


def kinds(asked: list[JSONObject]) -> list[tuple[str, str, str]]:
    return [(one["operation"], one["kind"]["kind"], one.get("subResource", "")) for one in asked]


async def test_a_scale_is_shown_as_one_and_the_workload_is_not(house: House, hook: Hook) -> None:
    await house.create("deployments", deployment("d", replicas=1))
    await configure(house, hook, "validating", allow, rules=rules("apps", "deployments/scale"))
    await configure(
        house, hook, "validating", allow, name="x.x.test", rules=rules("apps", "deployments")
    )
    scale = await house.get("deployments/scale", "d")
    scale["spec"]["replicas"] = 3

    await house.put("deployments/scale", scale)
    await house.patch("deployments/scale", "d", {"spec": {"replicas": 4}})

    assert kinds(hook.asked) == [("UPDATE", "Scale", "scale")] * 2
    asked = hook.asked[0]
    assert (asked["oldObject"]["spec"], asked["object"]["spec"]) == (
        {"replicas": 1}, {"replicas": 3},
    )  # fmt: skip
    assert asked["resource"] == {"group": "apps", "version": "v1", "resource": "deployments"}
    assert (await house.get("deployments", "d"))["spec"]["replicas"] == 4


async def test_what_a_webhook_makes_of_a_scale_is_what_the_workload_gets(
    house: House, hook: Hook
) -> None:
    await house.create("deployments", deployment("d", replicas=1))
    least = patch({"op": "replace", "path": "/spec/replicas", "value": 2})
    await configure(house, hook, "mutating", least, rules=rules("apps", "*/scale"))

    answer = await house.patch("deployments/scale", "d", {"spec": {"replicas": 9}})

    assert answer["spec"]["replicas"] == 2
    assert (await house.get("deployments", "d"))["spec"]["replicas"] == 2


async def test_a_scale_can_be_refused(house: House, hook: Hook) -> None:
    await house.create("deployments", deployment("d", replicas=1))
    await configure(
        house, hook, "validating", lambda _: {"allowed": False}, rules=rules("apps", "*/*")
    )

    error = await refused(house.patch("deployments/scale", "d", {"spec": {"replicas": 9}}))

    assert error.code == 400
    assert (await house.get("deployments", "d"))["spec"]["replicas"] == 1


async def test_bindings_and_evictions_are_shown(house: House, hook: Hook) -> None:
    await house.create("pods", pod("p"))
    await configure(house, hook, "validating", allow, rules=rules("", "pods/*"))
    target = {"kind": "Node", "name": "n"}

    await house.create("pods/binding", {"metadata": {"name": "p"}, "target": target}, name="p")
    await house.create("pods/eviction", {"metadata": {"name": "p"}}, name="p")

    assert kinds(hook.asked)[:2] == [
        ("CREATE", "Binding", "binding"), ("CREATE", "Eviction", "eviction"),
    ]  # fmt: skip
    assert hook.asked[0]["object"]["target"] == target
    assert hook.asked[0]["name"] == "p"


async def test_a_refused_binding_leaves_the_pod_alone(house: House, hook: Hook) -> None:
    await house.create("pods", pod("p"))
    await configure(
        house, hook, "validating", lambda _: {"allowed": False}, rules=rules("", "pods/binding")
    )
    body: JSONObject = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}

    assert (await refused(house.create("pods/binding", body, name="p"))).code == 400
    assert "nodeName" not in (await house.get("pods", "p"))["spec"]


async def test_token_requests_and_reviews_are_shown(house: House, hook: Hook) -> None:
    await house.create("serviceaccounts", {"metadata": {"name": "a"}})
    any_kind: list[Any] = [
        {"operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    ]
    await configure(house, hook, "validating", allow, rules=any_kind)

    await house.create("serviceaccounts/token", {"spec": {}}, name="a")
    spec = {"nonResourceAttributes": {"path": "/", "verb": "get"}}
    await house.create("selfsubjectaccessreviews", {"spec": spec}, group="authorization.k8s.io")

    assert kinds(hook.asked) == [
        ("CREATE", "TokenRequest", "token"), ("CREATE", "SelfSubjectAccessReview", ""),
    ]  # fmt: skip


async def test_a_rule_about_another_version_takes_the_object_in_that_version(
    house: House, hook: Hook
) -> None:
    await configure(
        house, hook, "validating", allow,
        rules=rules("autoscaling", "horizontalpodautoscalers", "v2"),
    )  # fmt: skip
    await configure(
        house, hook, "validating", allow, name="x.x.test", matchPolicy="Exact",
        rules=rules("autoscaling", "horizontalpodautoscalers", "v2"),
    )  # fmt: skip
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 50}

    await house.create(
        "horizontalpodautoscalers", {"metadata": {"name": "h"}, "spec": spec}, group="autoscaling"
    )

    [asked] = hook.asked
    assert asked["kind"]["version"] == asked["resource"]["version"] == "v2"
    assert asked["requestKind"]["version"] == asked["requestResource"]["version"] == "v1"
    assert asked["object"]["apiVersion"] == "autoscaling/v2"
    assert asked["object"]["spec"]["metrics"][0]["resource"]["name"] == "cpu"


async def test_a_patch_of_another_version_changes_what_is_stored(house: House, hook: Hook) -> None:
    most = patch({"op": "replace", "path": "/spec/maxReplicas", "value": 7})
    await configure(
        house, hook, "mutating", most,
        rules=rules("autoscaling", "horizontalpodautoscalers", "v2"),
    )  # fmt: skip
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}

    made = await house.create(
        "horizontalpodautoscalers",
        {"metadata": {"name": "h"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}},
        group="autoscaling",
    )

    assert (made["apiVersion"], made["spec"]["maxReplicas"]) == ("autoscaling/v1", 7)
