"""The leases of nodes: renewed while the Node is there, and not made for one that is not."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from listwatch.controllers.kubelet.nodes import HEARTBEAT_SECONDS, StandInNodes
from listwatch.controllers.options import ControllerOptions
from listwatch.informer import APIResource
from listwatch.informer.client import Client
from listwatch.informer.errors import AlreadyExistsError, NotFoundError
from listwatch.informer.resources import LEASES, NODES
from listwatch.testing.clock import FakeClock
from tests.informer.kit import ended, started


class Objects:
    """Nodes and leases as a server keeps them, and what was asked to change them."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Any] = {}
        self.writes: list[tuple[str, str, str]] = []
        self._uids = 0

    async def get(self, resource: APIResource, name: str, *, namespace: str = "") -> Any:
        if (resource.kind, name) not in self.kept:
            raise NotFoundError(404, "NotFound", f"{name} not found")
        return copy.deepcopy(self.kept[resource.kind, name])

    async def create(self, resource: APIResource, subject: Any) -> Any:
        name = subject["metadata"]["name"]
        self.writes.append(("create", resource.kind, name))
        if (resource.kind, name) in self.kept:
            raise AlreadyExistsError(409, "AlreadyExists", f"{name} exists")
        self._uids += 1
        made = copy.deepcopy(subject)
        made["metadata"]["uid"] = f"uid-{self._uids}"
        self.kept[resource.kind, name] = made
        return copy.deepcopy(made)

    async def update(self, resource: APIResource, subject: Any) -> Any:
        name = subject["metadata"]["name"]
        self.writes.append(("update", resource.kind, name))
        await self.get(resource, name)
        self.kept[resource.kind, name] = copy.deepcopy(subject)
        return copy.deepcopy(subject)

    def delete_node(self, name: str) -> None:
        """Delete a Node, and what the garbage collector then finds."""
        del self.kept[NODES.kind, name]
        self.kept.pop((LEASES.kind, name), None)

    def owner(self, name: str) -> str | None:
        """The uid of the owner of a lease; None if there is no lease."""
        lease = self.kept.get((LEASES.kind, name))
        return None if lease is None else str(lease["metadata"]["ownerReferences"][0]["uid"])

    def uid(self, name: str) -> str:
        return str(self.kept[NODES.kind, name]["metadata"]["uid"])


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def objects() -> Objects:
    return Objects()


@pytest.fixture
async def nodes(objects: Objects, clock: FakeClock) -> AsyncIterator[StandInNodes]:
    """Two nodes, registered, whose hearts beat."""
    made = StandInNodes(cast("Client", objects), ControllerOptions(nodes=2), clock)
    await made.register()
    beating = started(made.keep_alive())
    await clock.advance(0)
    yield made
    await ended(beating)


async def test_leases_belong_to_their_nodes_and_are_renewed(
    nodes: StandInNodes, objects: Objects, clock: FakeClock
) -> None:
    names = list(nodes.by_name)
    before = {name: objects.kept[LEASES.kind, name]["spec"]["renewTime"] for name in names}
    await clock.advance(HEARTBEAT_SECONDS)

    assert len(names) == 2
    assert [objects.owner(name) for name in names] == [objects.uid(name) for name in names]
    for name in names:
        assert objects.kept[LEASES.kind, name]["spec"]["renewTime"] > before[name]
    assert nodes.heartbeats == 4


async def test_a_node_that_was_deleted_gets_no_lease_again(
    nodes: StandInNodes, objects: Objects, clock: FakeClock
) -> None:
    gone, other = nodes.by_name
    objects.delete_node(gone)
    await clock.advance(HEARTBEAT_SECONDS)  # here its kubelet finds out
    objects.writes.clear()
    beats = nodes.heartbeats
    await clock.advance(5 * HEARTBEAT_SECONDS)

    assert objects.writes == [("update", LEASES.kind, other)] * 5
    assert objects.owner(gone) is None
    assert nodes.heartbeats == beats + 5


async def test_a_node_that_was_made_anew_owns_its_lease(
    nodes: StandInNodes, objects: Objects, clock: FakeClock
) -> None:
    name, _ = nodes.by_name
    old = objects.uid(name)
    objects.delete_node(name)
    await clock.advance(2 * HEARTBEAT_SECONDS)
    await objects.create(NODES, {"metadata": {"name": name}})
    await clock.advance(HEARTBEAT_SECONDS)

    assert objects.owner(name) == objects.uid(name) != old


async def test_a_lease_that_was_left_is_given_to_the_node_of_now(
    objects: Objects, clock: FakeClock
) -> None:
    made = StandInNodes(cast("Client", objects), ControllerOptions(nodes=1), clock)
    [name] = made.by_name
    left = {"metadata": {"name": name, "ownerReferences": [{"uid": "of old"}]}, "spec": {}}
    await objects.create(LEASES, left)
    await made.register()
    beating = started(made.keep_alive())
    await clock.advance(0)
    await ended(beating)

    assert objects.owner(name) == objects.uid(name)
