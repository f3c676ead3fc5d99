from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import (
    DEPLOYMENT,
    STATEFUL_SET,
    Document,
    pod,
    told,
)


def workload(labels: dict[str, str] | None = None, **spec: Any) -> Document:  # Any: JSON
    template = {"metadata": {"labels": labels or {"app": "x"}}, **pod()}
    return {"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template, **spec}}


REVISION = GroupVersionKind("apps", "v1", "ControllerRevision")
MISMATCH = "`selector` does not match template `labels`"


def test_an_empty_deployment() -> None:
    assert told(DEPLOYMENT, {"spec": {}}) == [
        "spec.selector: Required value",
        f"spec.template.metadata.labels: Invalid value: null: {MISMATCH}",
        "spec.template.spec.containers: Required value",
    ]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_each_kind_can_be_without_fault(kind: str) -> None:
    gvk = GroupVersionKind("apps", "v1", kind)

    assert told(gvk, workload()) == []
    assert told(gvk, workload(minReadySeconds=-1))
    assert told(gvk, workload(), workload()) == []


def test_a_selector_selects_the_template() -> None:
    [message] = told(DEPLOYMENT, workload({"app": "y"}))
    terms = [{"key": "app", "operator": "In", "values": ["x", "y"]}]
    terms += [{"key": "z", "operator": "DoesNotExist"}]

    assert message == (f'spec.template.metadata.labels: Invalid value: {{"app":"y"}}: {MISMATCH}')
    assert told(DEPLOYMENT, workload(selector={"matchExpressions": terms})) == []
    assert told(DEPLOYMENT, workload(selector={})) == [
        "spec.selector: Invalid value: {}: empty selector is invalid for deployment"
    ]


def test_a_selector_stays() -> None:
    labels = {"app": "x", "b": "c"}
    after = workload(labels, selector={"matchLabels": labels})

    assert told(DEPLOYMENT, after, workload()) == [
        'spec.selector: Invalid value: {"matchLabels":{"app":"x","b":"c"}}: field is immutable'
    ]


def test_no_fewer_than_none() -> None:
    assert told(DEPLOYMENT, workload(replicas=-1)) == [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_something_must_be_able_to_roll() -> None:
    rolling = {"maxUnavailable": 0, "maxSurge": "0%"}

    assert told(DEPLOYMENT, workload(strategy={"rollingUpdate": rolling})) == [
        (
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
            "`maxSurge` is 0"
        )
    ]
    assert told(DEPLOYMENT, workload(strategy={"type": "Recreate", "rollingUpdate": {}})) == [
        (
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy "
            "`type` is 'Recreate'"
        )
    ]


def test_containers_of_a_stateful_set_mount_its_claims() -> None:
    container = {
        "name": "c",
        "image": "x",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always",
    }
    mounting = {**container, "volumeMounts": [{"name": "data", "mountPath": "/d"}]}
    made = workload()
    made["spec"]["template"]["spec"] |= {"containers": [mounting], "hostname": "A_B"}
    [message] = told(STATEFUL_SET, made)
    where = "spec.template.spec.containers[0].volumeMounts[0].name"
    assert message == f'{where}: Not found: "data"'

    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    assert told(STATEFUL_SET, made) == []
    twice: list[Document] = [{"name": name, "emptyDir": {}} for name in ("data", "other", "other")]
    made["spec"]["template"]["spec"]["volumes"] = twice
    assert told(STATEFUL_SET, made) == [
        'spec.template.spec.volumes[2].name: Duplicate value: "other"'
    ]


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("Deployment", "ReplicaSet"), ("ReplicaSet", "ReplicaSet"),
        ("StatefulSet", "StatefulSet"), ("DaemonSet", "DaemonSet"),
    ],
)  # fmt: skip
def test_pods_that_are_kept_running_have_no_deadline(kind: str, named: str) -> None:
    made = workload()
    made["spec"]["template"]["spec"]["activeDeadlineSeconds"] = 4
    where = "spec.template.spec.activeDeadlineSeconds"
    assert told(GroupVersionKind("apps", "v1", kind), made) == [
        f"{where}: Forbidden: activeDeadlineSeconds in {named} is not Supported"
    ]


def test_of_a_stateful_set_little_may_change() -> None:
    assert told(STATEFUL_SET, workload(replicas=3), workload()) == []
    [message] = told(STATEFUL_SET, workload(serviceName="other"), workload())
    assert message.startswith("spec: Forbidden: updates to statefulset spec for fields other")


def test_a_controller_of_replicas_selects_by_equality() -> None:
    gvk = GroupVersionKind("", "v1", "ReplicationController")
    template = {"metadata": {"labels": {"app": "x"}}, **pod()}

    assert told(gvk, {"spec": {"template": template}}) == []
    assert told(gvk, {"spec": {"selector": {"app": "y"}, "template": template}}) == [
        f'spec.template.metadata.labels: Invalid value: {{"app":"x"}}: {MISMATCH}'
    ]
    assert told(gvk, {"spec": {}}) == [
        "spec.selector: Required value",
        "spec.template: Required value",
    ]


@pytest.mark.parametrize("share", ["all", "5%x", "5"])
def test_what_may_be_unavailable_is_a_number_or_a_share(share: str) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": share}}

    told_of = told(STATEFUL_SET, workload(updateStrategy=strategy))[0]

    assert told_of.startswith("spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value")


@pytest.mark.parametrize(
    ("kind", "whole"),
    [
        ("Deployment", [": invalid label selector"]),
        ("StatefulSet", [""]),
        ("DaemonSet", []),
    ],
)
def test_a_selector_that_cannot_be_read_is_told_of_as_a_whole_too(
    kind: str, whole: list[str]
) -> None:
    gvk = GroupVersionKind("apps", "v1", kind)
    [first, *others] = told(gvk, workload(selector={"matchLabels": {"?": "x"}}))

    assert first.startswith("spec.selector.matchLabels: Invalid value")
    shown = 'spec.selector: Invalid value: {"matchLabels":{"?":"x"}}'
    assert others == [f"{shown}{end}" for end in whole]


@pytest.mark.parametrize("data", [1, [], "x", False])
def test_a_revision_holds_an_object(data: Any) -> None:  # Any: JSON
    assert told(REVISION, {"revision": -1, "data": data}) == [
        "revision: Invalid value: -1: must be greater than or equal to 0",
        "data: Required value: data must be a valid JSON object",
    ]
    assert told(REVISION, {}) == ["data: Required value: data is mandatory"]
    assert told(REVISION, {"data": {}}) == []
