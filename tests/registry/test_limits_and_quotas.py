from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import JSONObject
from tests.registry.house import House, configmap, pod, refused


async def quota(house: House, hard: dict[str, str], **spec: Any) -> None:
    await house.create(
        "resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}
    )
    await house.registry.catch_up()


async def limit(house: House, **item: Any) -> None:
    spec = {"limits": [{"type": "Container", **item}]}
    await house.create("limitranges", {"metadata": {"name": "l"}, "spec": spec})
    await house.registry.catch_up()


def asking(name: str, **requests: str) -> JSONObject:
    """A pod that asks for this much."""
    resources = {"requests": requests}
    return pod(name, containers=[{"name": "main", "image": "i", "resources": resources}])


async def test_a_quota_is_filled_and_not_exceeded(house: House) -> None:
    await quota(house, {"configmaps": "2"})
    await house.create("configmaps", configmap("a"))
    await house.create("configmaps", configmap("b"))

    error = await refused(house.create("configmaps", configmap("c")))

    assert error.code == 403
    assert error.message == (
        'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, '
        "used: configmaps=2, limited: configmaps=2"
    )
    await house.delete("configmaps", "a")
    await house.create("configmaps", configmap("c"))


@pytest.mark.parametrize(
    ("resource", "hard"), [("configmaps", {"configmaps": "3"}), ("pods", {"requests.cpu": "3"})]
)
async def test_of_many_creates_at_once_no_more_succeed_than_the_quota_has(
    house: House, resource: str, hard: dict[str, str]
) -> None:
    await quota(house, hard)

    async def one(number: int) -> bool:
        made = asking(f"n{number}", cpu="1") if resource == "pods" else configmap(f"n{number}")
        try:
            await house.create(resource, made)
        except StatusError as error:
            return "exceeded quota: q" not in error.message
        return True

    done = await asyncio.gather(*(one(number) for number in range(20)))

    assert sum(done) == 3
    assert len(await house.names(resource)) == 3


async def test_what_pods_ask_for_is_added_up(house: House) -> None:
    await quota(house, {"requests.cpu": "1", "pods": "5"})
    await house.create("pods", asking("a", cpu="600m"))

    error = await refused(house.create("pods", asking("b", cpu="500m")))
    silent = await refused(house.create("pods", pod("c")))

    assert error.message.endswith(
        "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, "
        "limited: requests.cpu=1"
    )
    assert silent.message == (
        'pods "c" is forbidden: failed quota: q: must specify requests.cpu for: main'
    )
    await house.create("pods", asking("b", cpu="400m"))


async def test_a_pod_that_has_ended_uses_nothing(house: House) -> None:
    await quota(house, {"pods": "1"})
    made = await house.create("pods", pod("a"))
    made["status"] = {"phase": "Succeeded"}
    await house.put("pods/status", made)

    await house.create("pods", pod("b"))

    assert (await refused(house.create("pods", pod("c")))).code == 403


async def test_a_scope_takes_only_its_pods(house: House) -> None:
    await quota(house, {"pods": "1"}, scopes=["BestEffort"])
    await house.create("pods", pod("a"))

    await house.create("pods", asking("b", cpu="1"))

    assert (await refused(house.create("pods", pod("c")))).code == 403


async def test_any_kind_can_be_counted(house: House) -> None:
    await quota(house, {"count/leases.coordination.k8s.io": "0"})

    error = await refused(house.create("leases", {"metadata": {"name": "l"}}))

    assert "requested: count/leases.coordination.k8s.io=1" in error.message


async def test_an_update_may_not_use_more_than_there_is(house: House) -> None:
    await quota(house, {"services.nodeports": "0"})
    spec = {"ports": [{"port": 80}]}
    made = await house.create("services", {"metadata": {"name": "s"}, "spec": spec})
    made["spec"]["type"] = "NodePort"

    error = await refused(house.put("services", made))

    assert error.message.startswith('services "s" is forbidden: exceeded quota: q, requested:')


async def test_a_dry_run_is_refused_as_well(house: House) -> None:
    await quota(house, {"configmaps": "0"})

    error = await refused(house.create("configmaps", configmap("a"), dry_run=True))

    assert "exceeded quota" in error.message


async def test_containers_get_what_the_limit_range_says(house: House) -> None:
    await limit(house, default={"cpu": "1"}, defaultRequest={"cpu": "100m"})

    made = await house.create("pods", pod("a"))

    resources = made["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}}
    assert made["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": (
            "LimitRanger plugin set: cpu request for container main; cpu limit for container main"
        )
    }


@pytest.mark.parametrize(
    ("item", "resources", "why"),
    [
        ({"min": {"cpu": "100m"}}, {"requests": {"cpu": "50m"}, "limits": {"cpu": "1"}},
         "minimum cpu usage per Container is 100m, but request is 50m"),
        ({"max": {"memory": "1Gi"}}, {"limits": {"memory": "2Gi"}},
         ("[maximum memory usage per Container is 1Gi, but limit is 2Gi]")),
        ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
         "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"),
    ],
)  # fmt: skip
async def test_too_little_and_too_much_is_refused(
    house: House, item: JSONObject, resources: JSONObject, why: str
) -> None:
    await limit(house, **item)
    container = {"name": "main", "image": "i", "resources": resources}

    error = await refused(house.create("pods", pod("a", containers=[container])))

    assert error.message == f'pods "a" is forbidden: {why.strip("[]")}'
