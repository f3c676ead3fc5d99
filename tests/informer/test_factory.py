"""Informers shared by a process, what a server serves, and what is told when a reader writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from listwatch.informer import (
    APIResource,
    Client,
    ClientConfig,
    InformerOptions,
    NotSyncedError,
    ReflectorOptions,
    Scope,
    SharedIndexInformer,
    SharedInformerFactory,
    kubeconfig,
)
from listwatch.informer.discovery import find_resource, served_resources
from listwatch.informer.errors import ConnectionFailedError, ConnectionRefused
from listwatch.informer.mutations import MutationError
from listwatch.informer.resources import CONFIG_MAPS, NAMESPACES, PODS
from listwatch.informer.shared_informer import InformerStateError
from listwatch.testing.clock import FakeClock
from tests.informer.kit import Recorder, Script, page, settle, thing
from tests.servers import Server


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    token = await asyncio.to_thread(lambda: server.token)
    async with Client(ClientConfig(server.url, token=token)) as made:
        yield made


async def test_who_asks_for_the_same_gets_the_same(client: Client) -> None:
    factory = SharedInformerFactory(client)
    pods = factory.informer_for(PODS)
    discovered = APIResource("", "v1", "pods", "Pod", True, frozenset({"list"}))

    assert factory.informer_for(PODS) is pods
    assert factory.informer_for(discovered) is pods
    assert factory.informer_for(PODS, scope=Scope("blue")) is not pods
    assert factory.informer_for(PODS, scope=Scope(label_selector="a=b")) is not pods
    assert len(factory.informers()) == 3
    await factory.shutdown()


async def test_indexes_come_together_from_all_who_ask(client: Client) -> None:
    factory = SharedInformerFactory(client)
    factory.informer_for(PODS, indexers={"a": lambda _: []})
    pods = factory.informer_for(PODS, indexers={"a": lambda _: [], "b": lambda _: []})

    assert sorted(pods.indexer.indexers) == ["a", "b", "namespace"]
    await factory.shutdown()


async def test_start_starts_what_was_made_since_and_waiting_is_for_those(client: Client) -> None:
    factory, recorder = SharedInformerFactory(client), Recorder()
    namespaces = factory.informer_for(NAMESPACES)
    namespaces.add_handler(recorder)
    factory.start()
    factory.start()
    await factory.wait_for_cache_sync(within=10)
    assert "default" in namespaces.indexer
    late = factory.informer_for(CONFIG_MAPS)
    await factory.wait_for_cache_sync(within=10)  # says nothing on what was not started
    early = late.has_synced
    factory.start()
    await factory.wait_for_cache_sync(within=10)
    assert (early, late.has_synced) == (False, True)
    assert {each.name for each in factory.statistics()} == {"namespaces", "configmaps"}
    before = asyncio.all_tasks()
    await factory.shutdown()
    await factory.shutdown()

    assert len(asyncio.all_tasks()) < len(before)
    with pytest.raises(InformerStateError, match="shut down"):
        factory.start()


async def test_a_kind_that_is_not_served_is_named_when_it_does_not_sync(client: Client) -> None:
    factory = SharedInformerFactory(client)
    factory.informer_for(APIResource("no.such", "v1", "things", "Thing"))
    async with factory.running():
        with pytest.raises(NotSyncedError, match=r"things\.no\.such"):
            await factory.wait_for_cache_sync(within=0.3)


async def test_discovery_finds_what_is_served(client: Client) -> None:
    found = {str(resource): resource for resource in await served_resources(client)}
    assert found["pods"].namespaced
    assert "list" in found["pods"].verbs
    assert found["namespaces"].namespaced is False
    assert all("/" not in resource.resource for resource in found.values())
    config_map = await find_resource(client, "v1", "ConfigMap")

    assert config_map is not None
    assert config_map.path("a") == CONFIG_MAPS.path("a")
    assert await find_resource(client, "v1", "Nothing") is None
    assert await find_resource(client, "no.such/v1", "Thing") is None


def informer(
    source: Script, clock: FakeClock, *, check_mutations: bool = False
) -> SharedIndexInformer:
    chosen = InformerOptions(
        reflector=ReflectorOptions(streaming_lists=False), check_mutations=check_mutations
    )
    return SharedIndexInformer(source, options=chosen, clock=clock, random=Random(1))


async def test_a_reader_that_writes_ends_the_informer_where_that_is_looked_for() -> None:
    clock = FakeClock()
    made = informer(Script([page(1, thing("a", 1), thing("b", 1))]), clock, check_mutations=True)
    running = asyncio.create_task(made.run())
    await clock.advance(3)
    assert not running.done()
    mine = made.lister.get("a")
    mine["metadata"]["labels"] = {"mine": "true"}
    await clock.advance(2)

    with pytest.raises(MutationError, match="cached objects were changed: a") as caught:
        await running
    assert caught.value.keys == ("a",)


async def test_a_handler_added_before_the_first_step_of_a_started_informer_is_told_all() -> None:
    made, recorder = informer(Script([page(1, thing("a", 1))]), FakeClock()), Recorder()
    made.start()
    made.add_handler(recorder)
    await settle()
    await made.stop()

    assert recorder.told == [("add", "a", True)]


class PowerCutError(BaseException):
    """What nobody may catch."""


async def test_what_nobody_may_catch_ends_the_informer() -> None:
    class Source(Script):
        async def list(self, query: object) -> object:  # type: ignore[override]
            raise PowerCutError

    before = asyncio.all_tasks()
    with pytest.raises(PowerCutError):
        await informer(Source(), FakeClock()).run()

    assert asyncio.all_tasks() == before


async def test_a_kubeconfig_is_enough_for_tls_and_a_stranger_s_certificate_is_refused(
    server: Server,
) -> None:
    config = await asyncio.to_thread(kubeconfig.load, server.kubeconfig)
    assert config.server == server.secure_url
    async with Client(config) as client:
        assert (await client.get(NAMESPACES, "default"))["kind"] == "Namespace"
    stranger = ClientConfig(server.secure_url, token=config.token)
    async with Client(stranger) as client:
        with pytest.raises(ConnectionFailedError, match="CERTIFICATE_VERIFY_FAILED") as caught:
            await client.get(NAMESPACES, "default")
        assert not isinstance(caught.value, ConnectionRefused)
    blind = ClientConfig(server.secure_url, token=config.token, insecure=True)
    async with Client(blind) as client:
        assert (await client.get(NAMESPACES, "default"))["kind"] == "Namespace"
