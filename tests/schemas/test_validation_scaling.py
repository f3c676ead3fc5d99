"""Policies of jobs, metrics and behavior of autoscalers: faults in the words of the original."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.kinds import GroupVersionKind
from tests.schemas.validated import Document, pod, told

JOB = GroupVersionKind("batch", "v1", "Job")
AUTOSCALER = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
QUALIFIED = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start"


def job(**spec: Any) -> Document:
    template = {"spec": {**pod()["spec"], "restartPolicy": "Never"}}
    template["metadata"] = {"labels": {"a": "b"}}
    indexed = {"completionMode": "Indexed", "completions": 4}
    selector = {"matchLabels": {"a": "b"}}
    return {"spec": {"template": template, "selector": selector, **indexed, **spec}}


def failures(**rule: Any) -> Document:
    return job(podFailurePolicy={"rules": [{"action": "FailJob", **rule}]})


def codes(**given: Any) -> Document:
    return failures(onExitCodes={"operator": "In", "values": [1], **given})


RULE = "podFailurePolicy.rules[0]"
DONE = "successPolicy.rules[0]"


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (failures(), f"{RULE}: Invalid value: specifying one of OnExitCodes and OnPodConditions"),
        (
            failures(action="Stop", onPodConditions=[{"type": "a"}]),
            f'{RULE}.action: Unsupported value: "Stop": supported values: "Count", "FailIndex"',
        ),
        (
            failures(action="FailIndex", onPodConditions=[{"type": "a"}]),
            f'{RULE}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be ',
        ),
        (
            failures(onPodConditions=[{"type": "?"}]),
            f'{RULE}.onPodConditions[0].type: Invalid value: "?": {QUALIFIED}',
        ),
        (
            codes(operator=""),
            f'{RULE}.onExitCodes.operator: Required value: valid values: ["In" "Not',
        ),
        (
            codes(containerName="none"),
            f'{RULE}.onExitCodes.containerName: Invalid value: "none": must',
        ),
        (codes(values=[]), f"{RULE}.onExitCodes.values: Invalid value: "),
        (
            codes(values=[0]),
            f"{RULE}.onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In",
        ),
        (codes(values=[1, 1]), f"{RULE}.onExitCodes.values[1]: Duplicate value: 1"),
        (codes(values=[2, 1]), f"{RULE}.onExitCodes.values: Invalid value: [2,1]: must be ordered"),
        (job(maxFailedIndexes=1), "backoffLimitPerIndex: Required value: when maxFailedIndexes is"),
        (
            job(maxFailedIndexes=5, backoffLimitPerIndex=1),
            "maxFailedIndexes: Invalid value: 5: must be less than or equal to completions",
        ),
        (job(successPolicy={}), "successPolicy.rules: Required value: at least one rules must be"),
        (
            job(successPolicy={"rules": [{}]}),
            f"{DONE}: Required value: at least one of succeededCount",
        ),
        (
            job(successPolicy={"rules": [{"succeededIndexes": "0,2-1"}]}),
            (
                f'{DONE}.succeededIndexes: Invalid value: "0,2-1": error parsing succeededIndexes: '
                "non-increasing order, previous: 2, current: 1"
            ),
        ),
        (
            job(successPolicy={"rules": [{"succeededIndexes": "4"}]}),
            (
                f'{DONE}.succeededIndexes: Invalid value: "4": error parsing succeededIndexes: '
                'too large index: "4"'
            ),
        ),
        (
            job(successPolicy={"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 4}]}),
            f"{DONE}.succeededCount: Invalid value: 4: must be less than or equal to 3 (the numbe",
        ),
    ],
)
def test_policies_of_jobs(document: Document, fault: str) -> None:
    assert told(JOB, document)[0].startswith(f"spec.{fault}")


def test_policies_of_jobs_without_fault() -> None:
    assert told(JOB, codes(values=[1, 5], containerName="main")) == []
    assert told(JOB, job(successPolicy={"rules": [{"succeededIndexes": "0,2-3"}]})) == []


def autoscaler(**spec: Any) -> Document:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    return {"spec": {"scaleTargetRef": target, "maxReplicas": 2, **spec}}


def metric(kind: str, **source: Any) -> Document:
    return autoscaler(metrics=[{"type": kind, f"{kind[0].lower()}{kind[1:]}": source}])


def scaling(**rules: Any) -> Document:
    policy = {"type": "Pods", "value": 1, "periodSeconds": 1}
    return autoscaler(behavior={"scaleUp": {"policies": [policy], **rules}})


VALUE = {"type": "Value", "value": "1"}


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (
            metric("Pods", target=VALUE),
            "metrics[0].pods.metric.name: Required value: must specify a",
        ),
        (
            metric("Pods", metric={"name": "m"}, target=VALUE),
            "metrics[0].pods.target.averageValue: Required value: must specify a positive target",
        ),
        (
            metric("External", metric={"name": "m"}, target={"type": "Value", "value": "-1"}),
            'metrics[0].external.target.value: Invalid value: "-1": must be positive',
        ),
        (
            metric("Object", metric={"name": "m"}, target=VALUE, describedObject={"name": "a"}),
            "metrics[0].object.describedObject.kind: Required value",
        ),
        (
            metric(
                "ContainerResource",
                name="cpu",
                target={"type": "Utilization", "averageUtilization": 1},
            ),
            "metrics[0].containerResource.container: Required value: must specify a container",
        ),
        (
            metric(
                "Resource", name="cpu", target={"type": "Utilization", "averageUtilization": -1}
            ),
            "metrics[0].resource.target.averageUtilization: Invalid value: -1: must be greater th",
        ),
        (scaling(selectPolicy="All"), 'behavior.scaleUp.selectPolicy: Unsupported value: "All"'),
        (
            scaling(stabilizationWindowSeconds=3601),
            "behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than ",
        ),
        (
            scaling(policies=[{"type": "Pods", "value": 1, "periodSeconds": 1801}]),
            "behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or",
        ),
    ],
)
def test_metrics_and_behavior_of_autoscalers(document: Document, fault: str) -> None:
    assert told(AUTOSCALER, document)[0].startswith(f"spec.{fault}")
