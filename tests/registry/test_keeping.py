from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from listwatch.protocol.kinds import GroupResource
from listwatch.registry.keeping import Keeper
from tests.registry.house import House, configmap
from tests.registry.roles import JANE, binding, make, role, rule


@pytest.fixture
async def keeper(house: House) -> AsyncIterator[Keeper]:
    made = Keeper(house.registry, house.caches, clock=house.clock)
    for cacher in house.caches.cachers().values():
        cacher.observer = made
    made.start()
    yield made
    await made.stop()


async def until(house: House, keeper: Keeper, written: int) -> None:
    """Let time pass until it has written so much."""
    async with asyncio.timeout(10):
        while keeper.statistics().written < written:
            await house.clock.advance(0.1)
            await house.registry.catch_up()
            await asyncio.sleep(0)


async def test_a_quota_says_what_is_used(house: House, keeper: Keeper) -> None:
    spec = {"hard": {"configmaps": "5", "pods": "2"}}
    await house.create("resourcequotas", {"metadata": {"name": "q"}, "spec": spec})
    await until(house, keeper, 1)
    await house.create("configmaps", configmap("a"))
    await until(house, keeper, 2)

    status = (await house.get("resourcequotas", "q"))["status"]

    assert status == {"hard": spec["hard"], "used": {"configmaps": "1", "pods": "0"}}
    assert keeper.statistics().errors == 0


async def test_an_aggregated_role_shows_the_rules_of_its_parts(
    house: House, keeper: Keeper
) -> None:
    selector = {"matchLabels": {"part": "yes"}}
    whole = {"aggregationRule": {"clusterRoleSelectors": [selector]}}
    await make(house, "clusterroles", {"metadata": {"name": "whole"}, **whole})
    part = role("part", rule("get", "things", group="x.test"))
    part["metadata"]["labels"] = {"part": "yes"}
    await make(house, "clusterroles", part)
    await until(house, keeper, 1)

    cacher = house.caches.cacher(GroupResource("rbac.authorization.k8s.io", "clusterroles"))
    shown = cacher.get("", "whole")

    assert shown is not None
    assert shown.decode()["rules"] == part["rules"]


async def test_what_is_right_is_not_written_again(house: House, keeper: Keeper) -> None:
    await make(
        house, "clusterrolebindings", binding("b", "ClusterRole", "view", f"User/{JANE.name}")
    )
    for _ in range(5):
        await house.clock.advance(0.1)
        await house.registry.catch_up()

    assert keeper.statistics().written == 0
