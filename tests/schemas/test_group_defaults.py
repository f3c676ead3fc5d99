from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from listwatch.schemas.decoding import decode
from listwatch.schemas.defaults import apply_defaults

Document = dict[str, Any]  # Any: JSON


def spec_of(api_version: str, kind: str, spec: Document) -> Document:
    found: Document = whole(api_version, kind, {"spec": spec})["spec"]
    return found


def whole(api_version: str, kind: str, document: Document) -> Document:
    group, _, version = api_version.rpartition("/")
    gvk = GroupVersionKind(group, version, kind)
    decode(gvk, document)
    apply_defaults(gvk, document)
    return document


JOB = {
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}},
}


@pytest.mark.parametrize(
    ("given", "completions", "parallelism"),
    [
        ({}, 1, 1),
        ({"parallelism": 3}, None, 3),
        ({"completions": 3}, 3, 1),
        ({"completions": 3, "parallelism": 0}, 3, 0),
    ],
)
def test_how_often_a_job_runs(given: Document, completions: int | None, parallelism: int) -> None:
    found = spec_of("batch/v1", "Job", {**JOB, **given})

    assert (found.get("completions"), found["parallelism"]) == (completions, parallelism)


def test_a_job_is_labelled_as_its_pods_unless_it_has_labels() -> None:
    plain = whole("batch/v1", "Job", {"spec": {**JOB}})
    own = whole("batch/v1", "Job", {"metadata": {"labels": {"x": "y"}}, "spec": {**JOB}})

    assert plain["metadata"]["labels"] == {"a": "b"}
    assert own["metadata"]["labels"] == {"x": "y"}


def test_a_job_with_a_limit_for_each_index_has_none_for_all() -> None:
    found = spec_of("batch/v1", "Job", {**JOB, "backoffLimitPerIndex": 2, "podFailurePolicy": {}})

    assert found["backoffLimit"] == 2_147_483_647
    assert found["podReplacementPolicy"] == "Failed"
    assert spec_of("batch/v1", "Job", {**JOB})["backoffLimit"] == 6


def test_a_cron_job_does_not_fill_in_what_its_jobs_will_get() -> None:
    found = spec_of("batch/v1", "CronJob", {"schedule": "@daily", "jobTemplate": {"spec": JOB}})

    assert found["concurrencyPolicy"] == "Allow"
    assert found["suspend"] is False
    assert (found["successfulJobsHistoryLimit"], found["failedJobsHistoryLimit"]) == (3, 1)
    assert "backoffLimit" not in found["jobTemplate"]["spec"]


def test_an_autoscaler_looks_at_the_cpu_if_it_is_not_told_what_to_look_at() -> None:
    found = spec_of("autoscaling/v2", "HorizontalPodAutoscaler", {"maxReplicas": 3})
    target = {"type": "Utilization", "averageUtilization": 80}

    assert found["minReplicas"] == 1
    assert found["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    assert "behavior" not in found


def test_half_a_behavior_of_an_autoscaler_is_completed() -> None:
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    found = spec_of(
        "autoscaling/v2", "HorizontalPodAutoscaler", {"maxReplicas": 3, "behavior": behavior}
    )["behavior"]

    assert found["scaleDown"]["stabilizationWindowSeconds"] == 60
    assert found["scaleDown"]["policies"] == [
        {"type": "Percent", "value": 100, "periodSeconds": 15}
    ]
    assert found["scaleUp"]["stabilizationWindowSeconds"] == 0
    assert [policy["value"] for policy in found["scaleUp"]["policies"]] == [4, 100]


@pytest.mark.parametrize(
    ("spec", "types"),
    [
        ({}, ["Ingress"]),
        ({"egress": [{}]}, ["Ingress", "Egress"]),
        ({"policyTypes": ["Egress"]}, ["Egress"]),
    ],
)
def test_what_a_network_policy_is_about(spec: Document, types: list[str]) -> None:
    assert spec_of("networking.k8s.io/v1", "NetworkPolicy", spec)["policyTypes"] == types


def test_subjects_that_are_no_accounts_are_of_the_rbac_group() -> None:
    found = whole(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        {
            "roleRef": {"kind": "Role", "name": "r"},
            "subjects": [
                {"kind": "User", "name": "u"},
                {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
            ],
        },
    )

    assert found["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
    assert [one.get("apiGroup") for one in found["subjects"]] == [
        "rbac.authorization.k8s.io", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "default", "request_"),
    [
        ({"max": {"cpu": "2"}}, {"cpu": "2"}, {"cpu": "2"}),
        ({"min": {"cpu": "1"}}, None, {"cpu": "1"}),
        ({"max": {"cpu": "2"}, "default": {"cpu": "1"}}, {"cpu": "1"}, {"cpu": "1"}),
        ({"default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}, {"cpu": "2"}, {"cpu": "1"}),
    ],
)
def test_what_a_container_without_limits_gets(
    item: Document, default: Document | None, request_: Document
) -> None:
    limits = [{"type": "Container", **item}]
    (found,) = spec_of("v1", "LimitRange", {"limits": limits})["limits"]

    assert (found.get("default"), found["defaultRequest"]) == (default, request_)


def test_other_kinds_of_limits_get_no_defaults() -> None:
    (found,) = spec_of("v1", "LimitRange", {"limits": [{"type": "Pod", "max": {"cpu": "2"}}]})[
        "limits"
    ]

    assert found == {"type": "Pod", "max": {"cpu": "2"}}


def test_a_webhook_is_asked_about_everything_that_matches_and_fails_closed() -> None:
    hook = {"name": "a", "rules": [{}], "clientConfig": {"service": {"name": "s"}}}
    group = "admissionregistration.k8s.io/v1"
    (found,) = whole(group, "MutatingWebhookConfiguration", {"webhooks": [hook]})["webhooks"]

    assert found["failurePolicy"] == "Fail"
    assert found["matchPolicy"] == "Equivalent"
    assert found["namespaceSelector"] == found["objectSelector"] == {}
    assert found["rules"][0]["scope"] == "*"
    assert found["clientConfig"]["service"]["port"] == 443
    assert (found["timeoutSeconds"], found["reinvocationPolicy"]) == (10, "Never")


def test_devices_are_asked_for_one_by_one() -> None:
    group, exactly = "resource.k8s.io/v1", {"deviceClassName": "c"}
    requests = [
        {"name": "a", "exactly": {**exactly}},
        {"name": "b", "exactly": {**exactly, "allocationMode": "All"}},
    ]
    found = spec_of(group, "ResourceClaim", {"devices": {"requests": requests}})["devices"]
    one, every = (request["exactly"] for request in found["requests"])

    assert (one["allocationMode"], one["count"]) == ("ExactCount", 1)
    assert "count" not in every


def test_queues_of_a_priority_level_have_sizes() -> None:
    queue = {"limitResponse": {"type": "Queue", "queuing": {"queues": 3}}}
    level = {"type": "Limited", "limited": queue}
    group = "flowcontrol.apiserver.k8s.io/v1"
    limited = spec_of(group, "PriorityLevelConfiguration", level)["limited"]

    assert limited["nominalConcurrencyShares"] == 30
    assert limited["limitResponse"]["queuing"] == {
        "queues": 3, "handSize": 8, "queueLengthLimit": 50,
    }  # fmt: skip
