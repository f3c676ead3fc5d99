"""Evictions: pods go if their disruption budget allows it, and the budget counts them."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.objects import JSONObject
from tests.registry.house import House, pod, refused

LABELS = {"app": "b"}
SELECTOR = {"matchLabels": LABELS}


async def running(house: House, name: str = "p", *, ready: bool = True) -> None:
    await house.create("pods", pod(name, nodeName="n", metadata={"labels": LABELS}))
    conditions = [{"type": "Ready", "status": str(ready)}]
    await house.patch(
        "pods/status", name, {"status": {"phase": "Running", "conditions": conditions}}
    )


async def budget(house: House, name: str = "b", **status: Any) -> None:  # Any: JSON
    spec = {"minAvailable": 1, "selector": SELECTOR, **status.pop("spec", {})}
    made = {"metadata": {"name": name}, "spec": spec}
    await house.create("poddisruptionbudgets", made, group="policy")
    if status:
        await house.patch("poddisruptionbudgets/status", name, {"status": status}, group="policy")


async def status_of(house: House, name: str = "b") -> JSONObject:
    status: JSONObject = (await house.get("poddisruptionbudgets", name, group="policy"))["status"]
    return status


async def evict(house: House, name: str = "p", **body: Any) -> JSONObject:  # Any: JSON
    document = {"metadata": {"name": name}, **body}
    return await house.create("pods/eviction", document, name=name)


async def test_a_pod_without_a_budget_goes_for_its_grace_period(house: House) -> None:
    await running(house)
    answer = await evict(house, deleteOptions={"gracePeriodSeconds": 7})
    left = await house.get("pods", "p")

    assert (answer["status"], answer["code"]) == ("Success", 201)
    assert left["metadata"]["deletionGracePeriodSeconds"] == 7
    assert any(c["type"] == "DisruptionTarget" for c in left["status"]["conditions"])


async def test_a_budget_that_nobody_has_looked_at_forbids_it_for_a_while(house: House) -> None:
    await running(house)
    await budget(house)
    error = await refused(evict(house))

    assert (error.code, error.reason, error.retry_after) == (429, "TooManyRequests", 10)
    assert error.causes[0].message == (
        "The disruption budget b is still being processed by the server."
    )


async def test_an_allowed_eviction_is_taken_off_the_budget(house: House) -> None:
    await running(house)
    await budget(
        house, observedGeneration=1, disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1
    )
    await evict(house)
    status = await status_of(house)

    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == ["p"]
    assert status["conditions"][0]["reason"] == "InsufficientPods"


async def test_a_budget_that_is_used_up_forbids_it(house: House) -> None:
    await running(house)
    await budget(house, observedGeneration=1, currentHealthy=1, desiredHealthy=1)
    error = await refused(evict(house))

    assert (error.code, error.retry_after) == (429, 0)
    assert error.causes[0].message == (
        "The disruption budget b needs 1 healthy pods and has 1 currently"
    )


async def test_a_dry_run_asks_and_takes_nothing(house: House) -> None:
    await running(house)
    await budget(house, observedGeneration=1, disruptionsAllowed=1)
    await house.registry.create(
        house.ctx("pods/eviction", "p", dry_run=True), {"metadata": {"name": "p"}}
    )

    assert (await status_of(house))["disruptionsAllowed"] == 1
    assert "deletionTimestamp" not in (await house.get("pods", "p"))["metadata"]


async def test_a_pod_that_serves_nobody_yet_needs_no_leave(house: House) -> None:
    await house.create("pods", pod(metadata={"labels": LABELS}))
    await budget(house)
    await evict(house)

    assert (await refused(house.get("pods", "p"))).code == 404


@pytest.mark.parametrize(
    ("spec", "healthy", "allowed"),
    [
        ({"unhealthyPodEvictionPolicy": "AlwaysAllow"}, 0, True),
        ({}, 1, True),
        ({}, 0, False),
        ({"unhealthyPodEvictionPolicy": "IfHealthyBudget"}, 0, False),
    ],
)
async def test_a_pod_that_is_not_ready_may_go_where_enough_others_are(
    house: House, spec: JSONObject, healthy: int, *, allowed: bool
) -> None:
    await running(house, ready=False)
    await budget(house, spec=spec, observedGeneration=1, currentHealthy=healthy, desiredHealthy=1)

    if allowed:
        assert (await evict(house))["status"] == "Success"
    else:
        assert (await refused(evict(house))).code == 429


async def test_a_pod_with_two_budgets_cannot_be_evicted(house: House) -> None:
    await running(house)
    await budget(house)
    await budget(house, "c")
    error = await refused(evict(house))

    assert error.code == 400
    assert error.message.startswith("This pod has more than one PodDisruptionBudget")


async def test_the_names_must_be_the_same_and_the_pod_must_be_there(house: House) -> None:
    await running(house)
    other = house.registry.create(house.ctx("pods/eviction", "p"), {"metadata": {"name": "q"}})

    assert (await refused(other)).message == ("name in URL does not match name in Eviction object")
    assert (await refused(evict(house, "none"))).code == 404
