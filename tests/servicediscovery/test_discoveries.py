"""Both discoveries against a server, and what the original gets wrong."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.informer.resources import ENDPOINTS, NAMESPACES
from listwatch.servicediscovery import (
    InformerDiscovery,
    Instance,
    Service,
    ServiceDiscovery,
)
from tests.informer.proxy import EXPIRED, Fault
from tests.servicediscovery.conftest import Shop, Told, by_informer, by_watch

pytestmark = pytest.mark.timeout(120)


async def test_a_listener_is_told_the_state_and_every_change(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    told = Told()
    await shop.registrar.register(shop.at("192.0.2.1", revision="1"))
    discovery.add_listener(shop.service, told)
    await told.until("192.0.2.1")
    assert told.events[-1].instances == (shop.at("192.0.2.1", revision="1"),)

    async with shop.registrar.registered(shop.at("192.0.2.2")):
        await told.until("192.0.2.1", "192.0.2.2")
        assert await discovery.get_instances(shop.service) == told.events[-1].instances
    await told.until("192.0.2.1")
    assert discovery.statistics().listeners == 1


async def test_a_late_listener_is_told_what_is_there(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    first, second, nobody = Told(), Told(), Told()
    await shop.registrar.register(shop.at("192.0.2.1"))
    discovery.add_listener(shop.service, first)
    await first.until("192.0.2.1")
    before = len(first.events)

    discovery.add_listener(shop.service, second)
    discovery.add_listener(Service(shop.service.namespace, "nobody"), nobody)

    await second.until("192.0.2.1")
    await nobody.until()
    assert len(first.events) == before


async def test_nobody_is_told_of_dead_addresses_when_a_service_is_deleted(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    """The original takes the addresses from the object that was deleted."""
    told = Told()
    discovery.add_listener(shop.service, told)
    await shop.registrar.register(shop.at("192.0.2.1"))
    await told.until("192.0.2.1")

    await shop.client.delete(ENDPOINTS, shop.service.name, namespace=shop.service.namespace)
    await told.until()

    assert await discovery.get_instances(shop.service) == ()


async def test_services_of_one_name_in_two_namespaces_are_two(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    """The original keys its informers, watches and times by the name alone."""
    other = Service(f"{shop.service.namespace}-b", shop.service.name)
    await shop.client.create(NAMESPACES, {"metadata": {"name": other.namespace}})
    here, there = Told(), Told()
    discovery.add_listener(shop.service, here)
    discovery.add_listener(other, there)
    await shop.registrar.register(shop.at("192.0.2.1"))
    await shop.registrar.register(Instance(other, "192.0.2.2", 80))
    await here.until("192.0.2.1")
    await there.until("192.0.2.2")

    await shop.registrar.unregister(shop.at("192.0.2.1"))
    await here.until()

    assert there.hosts == ["192.0.2.2"]
    await shop.client.delete(NAMESPACES, other.namespace)


async def test_providers_that_start_at_once_are_all_told(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    told = Told()
    discovery.add_listener(shop.service, told)
    hosts = [f"192.0.2.{number}" for number in range(10, 30)]

    await asyncio.gather(*(shop.registrar.register(shop.at(host)) for host in hosts))
    await told.until(*hosts)

    for before, after in zip(told.events, told.events[1:], strict=False):
        assert before.instances != after.instances


async def test_a_subscription_that_was_removed_hears_nothing(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    gone, stays = Told(), Told()
    subscription = discovery.add_listener(shop.service, gone)
    await shop.registrar.register(shop.at("192.0.2.1"))
    await gone.until("192.0.2.1")

    subscription.remove()
    assert discovery.statistics().listeners == 0
    discovery.add_listener(shop.service, stays)
    await shop.registrar.register(shop.at("192.0.2.2"))
    await stays.until("192.0.2.1", "192.0.2.2")

    assert gone.hosts == ["192.0.2.1"]


async def test_an_address_replaced_while_the_watch_was_cut_is_learned(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    """apache/dubbo#10535: a bare watch loses endpoints after network faults."""
    told = Told()
    hosts = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
    for host in hosts:
        await shop.registrar.register(shop.at(host))
    discovery.add_listener(shop.service, told)
    await told.until(*hosts)
    await asyncio.to_thread(shop.proxy.refuse)
    await shop.registrar.unregister(shop.at("192.0.2.2"))
    await shop.registrar.register(shop.at("192.0.2.4"))
    await asyncio.to_thread(shop.proxy.accept)

    await told.until("192.0.2.1", "192.0.2.3", "192.0.2.4")


async def test_a_version_that_is_too_old_ends_in_a_list(
    discovery: ServiceDiscovery, shop: Shop
) -> None:
    """The original ignores how its watch ended: no update ever comes again."""
    told = Told()
    await shop.registrar.register(shop.at("192.0.2.1"))
    discovery.add_listener(shop.service, told)
    await told.until("192.0.2.1")

    shop.proxy.faults.append(Fault(on="watch", frames=({"type": "ERROR", "object": EXPIRED},)))
    await asyncio.to_thread(shop.proxy.cut)
    await shop.registrar.register(shop.at("192.0.2.2"))

    await told.until("192.0.2.1", "192.0.2.2")
    assert not shop.proxy.faults  # it was said, and heard


async def test_a_server_that_never_begins_a_watch_is_left(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("listwatch.servicediscovery.by_watch.IDLE_SECONDS", 0.5)
    told = Told()
    shop.proxy.faults.append(Fault(on="watch", delay=3600))
    async with by_watch(shop.consumer) as discovery:
        discovery.add_listener(shop.service, told)
        await told.until()
        await shop.registrar.register(shop.at("192.0.2.1"))

        await told.until("192.0.2.1")

    assert not shop.proxy.faults  # it was met


async def test_an_informer_answers_from_memory_and_asks_only_for_what_it_lacks(shop: Shop) -> None:
    await shop.registrar.register(shop.at("192.0.2.1"))
    discovery = by_informer(shop.consumer)
    # Not started: the store has nothing.
    assert [each.host for each in await discovery.get_instances(shop.service)] == ["192.0.2.1"]
    assert discovery.statistics().asked_reads == 1

    async with discovery:
        await discovery.wait_synced()
        before = shop.consumer.statistics()
        for _ in range(100):
            assert len(await discovery.get_instances(shop.service)) == 1
        assert shop.consumer.statistics() == before
        assert await discovery.get_instances(Service(shop.service.namespace, "none")) == ()

    statistics = discovery.statistics()
    assert (statistics.cached_reads, statistics.asked_reads) == (100, 2)


async def test_a_change_costs_an_informer_nothing_and_a_bare_watch_a_list(shop: Shop) -> None:
    told = [Told(), Told()]
    async with by_informer(shop.consumer) as informer, by_watch(shop.consumer) as watch:
        informer.add_listener(shop.service, told[0])
        watch.add_listener(shop.service, told[1])
        for each in told:
            await each.until()
        lists = informer.statistics().lists, watch.statistics().lists
        for number in range(1, 6):
            await shop.registrar.register(shop.at(f"192.0.2.{number}"))
        for each in told:
            await each.until(*(f"192.0.2.{number}" for number in range(1, 6)))

        # The list after one event may have told of the next change already: that one is to come.
        async with asyncio.timeout(10):
            while watch.statistics().lists < lists[1] + 5:  # noqa: ASYNC110 (a count has no event)
                await asyncio.sleep(0.01)
        assert informer.statistics().lists == lists[0]


async def test_an_informer_of_one_namespace_refuses_listeners_of_another(shop: Shop) -> None:
    discovery = InformerDiscovery(shop.consumer, namespace="elsewhere")

    with pytest.raises(ValueError, match="elsewhere"):
        discovery.add_listener(shop.service, Told())


async def test_a_listener_added_before_the_start_is_told_after_it(shop: Shop) -> None:
    await shop.registrar.register(shop.at("192.0.2.1"))
    for discovery in (by_informer(shop.consumer), by_watch(shop.consumer)):
        told = Told()
        discovery.add_listener(shop.service, told)
        async with discovery:
            await told.until("192.0.2.1")
