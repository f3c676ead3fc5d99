"""A custom kind that goes and comes back while it is followed, on a live server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from listwatch.informer import (
    APIResource,
    Client,
    ClientConfig,
    FollowState,
    InformerOptions,
    ReflectorOptions,
    SharedInformerFactory,
)
from listwatch.informer.backoff import BackoffPolicy
from listwatch.informer.errors import NotFoundError
from tests.servers import Server

DEFINITIONS = APIResource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False
)
GEARS = APIResource("informed.example.com", "v1", "gears", "Gear")
DEFINITION = {
    "metadata": {"name": "gears.informed.example.com"},
    "spec": {
        "group": "informed.example.com", "scope": "Namespaced",
        "names": {"plural": "gears", "singular": "gear", "kind": "Gear"},
        "versions": [{
            "name": "v1", "served": True, "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object"}},
        }],
    },
}  # fmt: skip
QUICK = InformerOptions(reflector=ReflectorOptions(backoff=BackoffPolicy(initial=0.05, cap=0.2)))


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 -- of many kinds
            await asyncio.sleep(0.02)


async def made(client: Client, name: str) -> None:
    """Create a gear, once the kind is served."""
    async with asyncio.timeout(20):
        while True:
            try:
                await client.create(GEARS, {"metadata": {"name": name, "namespace": "default"}})
            except NotFoundError:
                await asyncio.sleep(0.02)
            else:
                return


@pytest.fixture
def config(server: Server) -> ClientConfig:
    return ClientConfig(server.url, token=server.token)


async def test_a_kind_that_goes_is_a_state_and_a_warning_and_is_followed_again_when_it_is_back(
    config: ClientConfig, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    async with Client(config) as client:
        await client.create(DEFINITIONS, DEFINITION)
        await made(client, "old")
        factory = SharedInformerFactory(client, options=QUICK)
        gears = factory.informer_for(GEARS)
        gears.add_handler(
            on_add=lambda gear, _: heard.append(f"+{gear['metadata']['name']}"),
            on_delete=lambda gone: heard.append(f"-{gone.name}"),
        )
        async with factory.running():
            await until(lambda: heard == ["+old"])
            assert gears.state is FollowState.FOLLOWING

            await client.delete(DEFINITIONS, "gears.informed.example.com")
            await until(lambda: gears.state is FollowState.NOT_SERVED)
            await until(lambda: heard == ["+old", "-old"])
            assert not gears.is_live

            await client.create(DEFINITIONS, DEFINITION)
            await made(client, "new")
            await until(lambda: heard == ["+old", "-old", "+new"])
            assert gears.indexer.keys() == ["default/new"]
            assert gears.state is FollowState.FOLLOWING
        await client.delete(DEFINITIONS, "gears.informed.example.com")

    lines = [r for r in caplog.records if r.name.startswith("listwatch.informer")]
    assert [r.getMessage() for r in lines if r.levelno >= logging.ERROR] == []
    told = [r.getMessage() for r in lines if "does not serve this kind" in r.getMessage()]
    assert len(told) == 1
