"""The pump applies every change once, in revision order, whatever the doorbells do."""

from __future__ import annotations

import asyncio

from listwatch.protocol.events import EndReason
from listwatch.protocol.representations import JSONRepresentation
from listwatch.store import sweeping
from listwatch.store.signals import changes_committed
from listwatch.watchcache.requests import WatchRequest
from tests.changefeed.conftest import CONFIGMAPS, Feed, made_feed


async def test_a_start_finds_what_was_there_and_remembers_its_history(feed: Feed) -> None:
    first = await feed.create("a", colour="red")
    await feed.create("b")
    second = await feed.update("a", first.revision, colour="blue")

    await feed.pump.start()

    assert feed.names == {"a": 3, "b": 2}
    cacher = feed.caches.cacher(CONFIGMAPS)
    version = cacher.get("blue", "a")
    assert version is not None
    assert (version.revision, version.labels) == (second.revision, {"colour": "blue"})
    assert version.previous is not None
    assert version.previous.labels == {"colour": "red"}
    assert feed.pump.applied == 3


async def test_committed_changes_are_applied_as_the_signal_brings_them(feed: Feed) -> None:
    await feed.pump.start()

    created = await feed.create("a")
    await feed.reached(created.revision)

    assert feed.names == {"a": 1}
    assert feed.pump.statistics().direct == 1
    assert feed.pump.statistics().from_log == 0


async def test_a_signal_that_never_comes_costs_nothing_but_time(feed: Feed) -> None:
    await feed.pump.start()
    receivers, changes_committed.receivers = changes_committed.receivers, []
    changes_committed.sender_receivers_cache.clear()
    try:
        created = await feed.create("a")
    finally:
        changes_committed.receivers = receivers
        changes_committed.sender_receivers_cache.clear()
    assert feed.names == {}

    feed.pump.ring()
    await feed.reached(created.revision)

    assert feed.names == {"a": 1}
    assert feed.pump.statistics().from_log == 1


async def test_signals_out_of_order_and_twice_are_put_right_from_the_log(feed: Feed) -> None:
    await feed.pump.start()
    feed.pump.hold(True)
    changes = [await feed.create(name) for name in "abcd"]
    feed.pump.hold(False)
    feed.pump.offer(changes[2:])
    feed.pump.offer(changes[:2])
    feed.pump.offer(changes[:1])
    await feed.reached(4)

    assert feed.names == {"a": 1, "b": 2, "c": 3, "d": 4}
    statistics = feed.pump.statistics()
    assert statistics.gaps >= 1
    assert statistics.received == 4


async def test_a_held_pump_applies_nothing_until_it_is_let_go(feed: Feed) -> None:
    await feed.pump.start()
    feed.pump.hold(True)
    created = await feed.create("a")
    feed.pump.ring()
    await asyncio.sleep(0.05)
    assert feed.pump.applied == 0
    assert feed.pump.statistics().stopped

    feed.pump.hold(False)
    await feed.reached(created.revision)

    assert feed.names == {"a": 1}


async def test_a_pump_that_stood_still_past_a_compaction_reads_anew_and_ends_its_watches(
    feed: Feed,
) -> None:
    first = await feed.create("a")
    await feed.pump.start()
    watcher = await feed.caches.cacher(CONFIGMAPS).watch(
        WatchRequest(representation=JSONRepresentation("ConfigMap", "v1"))
    )
    feed.pump.hold(True)
    second = await feed.update("a", first.revision, colour="red")
    third = await feed.update("a", second.revision, colour="blue")
    await feed.create("b")
    await feed.readers.run(sweeping.move, third.revision)
    while not (await feed.readers.run(sweeping.sweep)).done:
        pass

    feed.pump.hold(False)
    await feed.reached(4)

    assert feed.names == {"a": 3, "b": 4}
    assert feed.pump.statistics().refills == 1
    assert watcher.statistics().end_reason is EndReason.HISTORY_LOST


async def test_what_another_process_writes_is_found_by_looking(feed: Feed) -> None:
    await feed.pump.start()
    other = made_feed()
    other.committer.start()
    feed.pump._signal.disconnect()  # another process' signals do not reach this one
    try:
        created = await other.create("a")
        await feed.reached(created.revision)
    finally:
        await asyncio.to_thread(other.committer.stop)

    assert feed.names == {"a": 1}
    assert feed.pump.statistics().timer_wakes >= 1
