"""An autoscaler is one object in two forms, of which neither loses anything."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.schemas.autoscaling import from_v1, to_v1

CPU = {"type": "Utilization", "averageUtilization": 70}
V2: dict[str, Any] = {
    "kind": "HorizontalPodAutoscaler",
    "apiVersion": "autoscaling/v2",
    "metadata": {"name": "a", "annotations": {"mine": "x"}},
    "spec": {
        "maxReplicas": 3,
        "metrics": [
            {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "Value"}}},
            {"type": "Resource", "resource": {"name": "cpu", "target": CPU}},
        ],
        "behavior": {"scaleUp": {"selectPolicy": "Max"}},
    },
    "status": {
        "currentReplicas": 1,
        "desiredReplicas": 2,
        "currentMetrics": [
            {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 9}}}
        ],
        "conditions": [{"type": "AbleToScale", "status": "True"}],
    },
}


def test_the_cpu_has_fields_in_v1_and_everything_else_is_noted() -> None:
    found = to_v1(V2)
    notes = found["metadata"]["annotations"]

    assert found["apiVersion"] == "autoscaling/v1"
    assert found["spec"] == {"maxReplicas": 3, "targetCPUUtilizationPercentage": 70}
    assert found["status"]["currentCPUUtilizationPercentage"] == 9
    assert json.loads(notes["autoscaling.alpha.kubernetes.io/metrics"])[0]["type"] == "Pods"
    assert "AbleToScale" in notes["autoscaling.alpha.kubernetes.io/conditions"]
    assert notes["mine"] == "x"


def test_there_and_back_nothing_is_lost() -> None:
    again = from_v1(to_v1(V2))

    assert again["spec"]["behavior"] == V2["spec"]["behavior"]
    assert sorted(m["type"] for m in again["spec"]["metrics"]) == ["Pods", "Resource"]
    assert again["status"] == V2["status"]
    assert again["metadata"] == V2["metadata"]


@pytest.mark.parametrize("note", ["", "no JSON", "{}", "[1]", "7"])
def test_a_note_that_is_none_of_ours_is_no_metric(note: str) -> None:
    notes = {"autoscaling.alpha.kubernetes.io/metrics": note}
    found = from_v1({"metadata": {"annotations": notes}, "spec": {"maxReplicas": 1}})

    assert "metrics" not in found["spec"]
    assert "annotations" not in found["metadata"]
