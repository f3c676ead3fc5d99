"""Quality of service: what a pod's containers ask for, and what they are held to."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.schemas.quality import quality_of_service


def spec(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"containers": [{"resources": one} for one in resources], **more}


EQUAL = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}}


@pytest.mark.parametrize(
    ("pod", "quality"),
    [
        (spec({}), "BestEffort"),
        (spec({"limits": {"example.com/gpu": "1"}}), "BestEffort"),
        (spec({"requests": {"cpu": "0"}}), "BestEffort"),
        (spec({"requests": {"cpu": "1"}}), "Burstable"),
        (spec({"limits": {"cpu": "1"}}), "Burstable"),
        (spec(EQUAL), "Guaranteed"),
        (spec({"limits": EQUAL["limits"]}), "Guaranteed"),
        (spec(EQUAL, {}), "Burstable"),
        (spec({**EQUAL, "requests": {"cpu": "1", "memory": "1Mi"}}), "Burstable"),
        (spec(EQUAL, initContainers=[{"resources": {}}]), "Burstable"),
        (spec({}, resources=EQUAL), "Guaranteed"),
    ],
)
def test_requests_and_limits_make_the_class(pod: dict[str, Any], quality: str) -> None:
    assert quality_of_service(pod) == quality
