"""The minimal namespace controller: pods first, then the rest, then the namespace itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from listwatch.registry.namespaces import NamespaceController
from tests.registry.house import House, configmap, pod, refused


@pytest.fixture
async def controller(house: House) -> AsyncIterator[NamespaceController]:
    made = NamespaceController(house.registry, clock=house.clock)
    yield made
    await made.stop()


async def doomed(house: House, name: str = "n") -> None:
    await house.create("namespaces", {"metadata": {"name": name}})
    await house.create("configmaps", configmap("a"), namespace=name)
    await house.create("secrets", {"metadata": {"name": "s"}}, namespace=name)


async def is_gone(house: House, name: str = "n") -> bool:
    try:
        await house.get("namespaces", name)
    except Exception:
        return True
    return False


async def until_gone(house: House, name: str = "n") -> None:
    """Let time pass until the namespace has gone."""
    for _ in range(200):
        if await is_gone(house, name):
            return
        await asyncio.sleep(0.005)  # the committing thread needs real time
        await house.clock.advance(0.1)
    raise AssertionError("the namespace stays")


async def settle(house: House) -> None:
    for _ in range(10):
        await asyncio.sleep(0.005)
        await house.clock.advance(1)


async def test_a_terminating_namespace_is_emptied_and_goes(
    house: House, controller: NamespaceController
) -> None:
    controller.start()
    await doomed(house)
    await house.create("configmaps", configmap("other"))
    await house.delete("namespaces", "n")
    await until_gone(house)

    assert await house.names("configmaps", namespace="n") == []
    assert await house.names("configmaps") == ["other"]
    assert controller.statistics().finished == 1


async def test_what_was_begun_before_a_restart_is_finished_after_it(
    house: House, controller: NamespaceController
) -> None:
    await doomed(house)
    await house.delete("namespaces", "n")
    assert not await is_gone(house)
    controller.start()
    await until_gone(house)


async def test_a_namespace_that_lives_is_left_alone(
    house: House, controller: NamespaceController
) -> None:
    controller.start()
    await doomed(house)
    await settle(house)

    assert await house.names("configmaps", namespace="n") == ["a"]


async def test_nothing_else_goes_while_a_pod_is_left(
    house: House, controller: NamespaceController
) -> None:
    await doomed(house)
    await house.create("pods", pod(metadata={"finalizers": ["a.test/1"]}), namespace="n")
    await house.delete("namespaces", "n")
    controller.start()
    await settle(house)

    assert await house.names("configmaps", namespace="n") == ["a"]
    await house.patch("pods", "p", {"metadata": {"finalizers": None}}, namespace="n")
    await until_gone(house)


async def test_a_pod_has_its_grace_period_and_is_then_removed(
    house: House, controller: NamespaceController
) -> None:
    await doomed(house)
    await house.create("pods", pod(nodeName="node-x"), namespace="n")
    await house.delete("namespaces", "n")
    controller.start()
    await settle(house)

    assert await house.names("pods", namespace="n") == ["p"]
    await house.clock.advance(31)
    await until_gone(house)


async def test_a_held_object_holds_the_namespace(
    house: House, controller: NamespaceController
) -> None:
    await house.create("namespaces", {"metadata": {"name": "n"}})
    held = configmap("held", metadata={"finalizers": ["a.test/1"]})
    await house.create("configmaps", held, namespace="n")
    await house.delete("namespaces", "n")
    controller.start()
    await settle(house)

    assert await house.names("configmaps", namespace="n") == ["held"]
    await house.patch("configmaps", "held", {"metadata": {"finalizers": None}}, namespace="n")
    await until_gone(house)


async def test_the_finalizers_of_others_are_left_to_them(
    house: House, controller: NamespaceController
) -> None:
    body = {"metadata": {"name": "n"}, "spec": {"finalizers": ["a.test/1"]}}
    await house.create("namespaces", body)
    await house.delete("namespaces", "n")
    controller.start()
    for _ in range(100):
        await settle(house)
        if (await house.get("namespaces", "n"))["spec"] == {"finalizers": ["a.test/1"]}:
            break

    assert (await house.get("namespaces", "n"))["spec"] == {"finalizers": ["a.test/1"]}
    assert controller.statistics().terminating == 0


async def test_the_first_start_makes_the_namespaces_that_clients_count_on(house: House) -> None:
    before = house.revision
    await house.registry.bootstrap()

    assert await house.names("namespaces") == [
        "default", "kube-node-lease", "kube-public", "kube-system",
    ]  # fmt: skip
    assert house.revision == before


async def test_a_namespace_can_be_made_again_once_it_has_gone(
    house: House, controller: NamespaceController
) -> None:
    controller.start()
    await doomed(house)
    await house.delete("namespaces", "n")
    await until_gone(house)
    await doomed(house)

    assert await house.names("configmaps", namespace="n") == ["a"]


async def test_a_write_that_raced_the_end_is_not_left_behind(
    house: House, controller: NamespaceController
) -> None:
    controller.start()
    await house.create("namespaces", {"metadata": {"name": "n"}})
    calls = [house.create("configmaps", configmap(f"c{n}"), namespace="n") for n in range(20)]
    end = house.delete("namespaces", "n")
    await asyncio.gather(*calls[:10], end, *calls[10:], return_exceptions=True)
    await until_gone(house)

    assert await house.names("configmaps", namespace="n") == []
    error = await refused(house.create("configmaps", configmap(), namespace="n"))
    assert error.code == 404
