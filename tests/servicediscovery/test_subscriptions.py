"""What listeners are told, whatever they do themselves."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.servicediscovery import Instance, Service, ServiceInstancesChangedEvent
from listwatch.servicediscovery.subscriptions import Subscriptions
from tests.servicediscovery.conftest import Told

SHOP = Service("default", "shop")


def state(number: int) -> tuple[Instance, ...]:
    return (Instance(SHOP, f"192.0.2.{number}", 80),)


async def test_a_slow_listener_skips_states_but_never_the_last() -> None:
    """The original drops whatever loses a compare-and-set of times, the newest included."""
    subscriptions, told, free = Subscriptions(), Told(), asyncio.Event()

    async def slow(event: ServiceInstancesChangedEvent) -> None:
        told(event)
        await free.wait()

    subscriptions.add(SHOP, slow, lambda _: None)
    subscriptions.tell(SHOP, state(1))
    await told.until("192.0.2.1")
    for number in range(2, 10):
        subscriptions.tell(SHOP, state(number))
    free.set()
    await told.until("192.0.2.9")

    assert len(told.events) == 2
    await subscriptions.clear()


async def test_a_listener_that_raises_hurts_no_other_and_is_told_the_next_state(
    caplog: pytest.LogCaptureFixture,
) -> None:
    subscriptions, told, good = Subscriptions(), Told(), Told()

    def bad(event: ServiceInstancesChangedEvent) -> None:
        told(event)
        raise RuntimeError("no use")

    subscriptions.add(SHOP, bad, lambda _: None)
    subscriptions.add(SHOP, good, lambda _: None)
    for number in (1, 2):
        subscriptions.tell(SHOP, state(number))
        await told.until(f"192.0.2.{number}")
        await good.until(f"192.0.2.{number}")

    assert caplog.text.count("a listener of default/shop failed") == 2
    await subscriptions.clear()


async def test_an_equal_state_is_told_once() -> None:
    subscriptions, told = Subscriptions(), Told()
    subscriptions.add(SHOP, told, lambda _: None)
    for number in (1, 1, 2):
        subscriptions.tell(SHOP, state(number))
        await told.until(f"192.0.2.{number}")
    await asyncio.sleep(0)

    assert len(told.events) == 2
    await subscriptions.clear()


async def test_a_listener_may_remove_itself() -> None:
    subscriptions, told, emptied = Subscriptions(), Told(), list[Service]()

    def once(event: ServiceInstancesChangedEvent) -> None:
        told(event)
        subscription.remove()

    subscription = subscriptions.add(SHOP, once, emptied.append)
    subscriptions.tell(SHOP, state(1))
    await told.until("192.0.2.1")
    subscriptions.tell(SHOP, state(2))

    assert len(told.events) == 1
    assert emptied == [SHOP]
    assert not subscriptions.wants(SHOP)
    await subscriptions.clear()
