"""Deltas into the store and into notifications: what upstream's controller does."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from listwatch.informer.delta_consumer import DeltaConsumer
from listwatch.informer.delta_fifo import DeltaFIFO
from listwatch.informer.deltas import Delta, DeltaType
from listwatch.informer.in_order_fifo import InOrderFIFO
from listwatch.informer.indexer import Indexer
from listwatch.informer.notifications import Added, Notification, Removed, Updated, coalesced
from listwatch.informer.objects import Deleted, JSONObject, Tombstone, object_key
from tests.informer.kit import thing

T = DeltaType


class House:
    """A store, a consumer, and what was told, with the state of the store at that time."""

    def __init__(self) -> None:
        self.store = Indexer()
        self.told: list[tuple[Any, ...]] = []
        self.notifications: list[Notification] = []
        self.consumer = DeltaConsumer(self.store, self.tell)

    def tell(self, notification: Notification, sync: bool, tick: bool) -> None:
        self.notifications.append(notification)
        stored = self.store.get_by_key(notification.key)
        match notification:
            case Added(key, subject, initial):
                assert stored is subject
                self.told.append(("add", key, initial))
            case Updated(key, _, new):
                assert stored is new
                self.told.append(("sync" if sync else "update", key))
            case Removed(key, gone):
                assert stored is None
                self.told.append(("delete", key, gone.final_state_unknown))

    def take(self) -> list[tuple[Any, ...]]:
        told, self.told = self.told, []
        return told


def delta(kind: DeltaType, name: str, version: int = 1) -> Delta:
    return Delta(kind, name, thing(name, version))


def test_the_store_decides_on_add_or_update_never_the_type_of_the_delta() -> None:
    house = House()
    house.consumer.process([delta(T.UPDATED, "a")], False)
    house.consumer.process([delta(T.ADDED, "a", 2)], False)
    house.consumer.process([delta(T.REPLACED, "a", 3)], False)
    house.consumer.process([delta(T.DELETED, "a", 4)], False)

    assert house.take() == [
        ("add", "a", False), ("update", "a"), ("update", "a"), ("delete", "a", False)
    ]  # fmt: skip


def test_a_delete_of_what_was_never_told_is_not_told_either() -> None:
    house = House()
    house.consumer.process([delta(T.DELETED, "a")], False)

    assert house.take() == []


def test_equal_versions_are_a_sync() -> None:
    house = House()
    house.consumer.process([delta(T.ADDED, "a", 1)], True)
    house.consumer.process([delta(T.REPLACED, "a", 1)], False)

    assert house.take() == [("add", "a", True), ("sync", "a")]


def test_a_whole_list_tells_deletes_then_updates_and_adds_in_its_order() -> None:
    house = House()
    house.consumer.process([delta(T.ADDED, "old"), delta(T.ADDED, "kept")], False)
    house.take()
    listed = (thing("z", 5), thing("kept", 5), thing("a", 5))
    house.consumer.process([Delta(T.REPLACED_ALL, objects=listed, resource_version="9")], False)

    assert house.take() == [
        ("delete", "old", True), ("add", "z", False), ("update", "kept"), ("add", "a", False)
    ]  # fmt: skip
    assert house.store.resource_version == "9"


def test_a_resync_tells_everything_and_a_bookmark_moves_the_version() -> None:
    house = House()
    house.consumer.process([delta(T.ADDED, "a"), delta(T.ADDED, "b")], False)
    house.take()
    house.consumer.process([Delta(T.SYNC_ALL)], False)
    house.consumer.process([Delta(T.BOOKMARK, resource_version="77")], False)

    assert house.take() == [("sync", "a"), ("sync", "b")]
    assert house.store.resource_version == "77"


@pytest.mark.parametrize("atomic", [True, False])
async def test_lists_end_in_the_same_state_and_calls_whether_atomic_or_not(atomic: bool) -> None:
    house = House()
    queue = InOrderFIFO() if atomic else InOrderFIFO(house.store)

    async def empty() -> None:
        while len(queue):
            await queue.pop_batch(house.consumer.process_batch)

    queue.replace([thing("a", 1), thing("b", 2)], "2")
    await empty()
    queue.update(thing("a", 3))
    await empty()
    queue.replace([thing("b", 2), thing("c", 4), thing("a", 5)], "5")
    await empty()
    queue.replace([], "6")
    await empty()

    assert house.told == [
        ("add", "a", True), ("add", "b", True), ("update", "a"),
        ("sync", "b"), ("add", "c", False), ("update", "a"),
        *house.told[6:],
    ]  # fmt: skip
    assert sorted(house.told[6:]) == [("delete", name, True) for name in "abc"]
    assert house.store.keys() == []


def test_missed_events_are_an_update_an_add_and_a_delete_after_a_relist() -> None:
    house = House()
    first = (thing("changed", 1), thing("same", 1), thing("gone", 1))
    house.consumer.process([Delta(T.REPLACED_ALL, objects=first, resource_version="1")], True)
    house.take()
    second = (thing("changed", 5), thing("same", 1), thing("new", 6))
    house.consumer.process([Delta(T.REPLACED_ALL, objects=second, resource_version="6")], False)

    assert house.take() == [
        ("delete", "gone", True), ("update", "changed"), ("sync", "same"), ("add", "new", False)
    ]  # fmt: skip


def test_what_is_listed_twice_is_told_once_and_the_last_counts() -> None:
    house = House()
    listed = (thing("a", 1), thing("a", 2))
    house.consumer.process([Delta(T.REPLACED_ALL, objects=listed, resource_version="2")], True)

    assert house.take() == [("add", "a", True)]
    assert house.store.get_by_key("a") == thing("a", 2)


def test_a_batch_is_one_write_told_after_it_and_only_where_it_succeeded() -> None:
    house = House()
    house.store.add(thing("b", 1))
    broken = Delta(T.ADDED, "x", {"metadata": {}})
    house.consumer.process_batch(
        [delta(T.ADDED, "a"), broken, delta(T.UPDATED, "b", 2), delta(T.ADDED, "c")], False
    )
    assert house.take() == [("add", "a", False), ("update", "b"), ("add", "c", False)]

    house.consumer.process_batch([broken, Delta(T.ADDED, "y", {"metadata": {}})], False)
    assert house.take() == []


def test_a_delta_that_cannot_be_stored_ends_its_item_and_nothing_else() -> None:
    house = House()
    house.consumer.process([Delta(T.ADDED, "x", {"metadata": {}}), delta(T.ADDED, "b")], False)
    house.consumer.process([delta(T.ADDED, "c")], False)

    assert house.take() == [("add", "c", False)]


def test_what_is_told_of_a_deletion_has_key_and_last_state() -> None:
    house = House()
    house.consumer.process([Delta(T.ADDED, "ns/a", thing("a", 1, "ns"))], False)
    house.consumer.process(
        [Delta(T.DELETED, "ns/a", Tombstone("ns/a", thing("a", 1, "ns")))], False
    )
    last = house.notifications[-1]

    assert isinstance(last, Removed)
    assert last.gone == Deleted("ns/a", thing("a", 1, "ns"), final_state_unknown=True)
    assert (last.gone.namespace, last.gone.name) == ("ns", "a")


@pytest.mark.parametrize("queue_name", ["in_order", "atomic", "delta"])
@pytest.mark.parametrize("seed", range(5))
async def test_hammered_store_and_events_agree(queue_name: str, seed: int) -> None:
    random, house = Random(seed), House()
    queue: InOrderFIFO | DeltaFIFO
    if queue_name == "delta":
        queue = DeltaFIFO(house.store)
    else:
        queue = InOrderFIFO(None if queue_name == "atomic" else house.store)
    truth: dict[str, JSONObject] = {}
    for version in range(1, 400):
        name = random.choice("abcdef")
        match random.randrange(6):
            case 0 if name in truth:
                queue.delete(thing(name, version))
                del truth[name]
            case 1:
                queue.replace(list(truth.values()), str(version))
            case _:
                known, truth[name] = name in truth, thing(name, version)
                (queue.update if known else queue.add)(truth[name])
        while len(queue) and random.random() < 0.6:
            if isinstance(queue, InOrderFIFO):
                await queue.pop_batch(house.consumer.process_batch)
            else:
                await queue.pop(house.consumer.process)
    while len(queue):
        await queue.pop(house.consumer.process)

    assert {object_key(subject): subject for subject in house.store.list()} == truth
    alive: dict[str, JSONObject] = {}
    for notification in house.notifications:
        match notification:
            case Added(key, subject, _):
                assert key not in alive
                alive[key] = subject
            case Updated(key, old, new):
                assert alive[key] is old
                alive[key] = new
            case Removed(key, _):
                del alive[key]
    assert alive == truth


def test_two_notifications_of_an_object_become_one_where_nothing_is_lost() -> None:
    one, two, three = thing("a", 1), thing("a", 2), thing("a", 3)
    gone = Removed("a", Deleted("a", three))

    assert coalesced(Added("a", one, True), Updated("a", one, two)) == [Added("a", two, True)]
    assert coalesced(Updated("a", one, two), Updated("a", two, three)) == [Updated("a", one, three)]
    assert coalesced(Added("a", one, False), gone) == []
    assert coalesced(Added("a", one, True), gone) == [Added("a", one, True), gone]
    assert coalesced(Updated("a", one, two), gone) == [gone]
    assert coalesced(gone, Added("a", one, False)) == [gone, Added("a", one, False)]
