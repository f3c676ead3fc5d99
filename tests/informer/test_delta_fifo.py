"""The queue that gathers what happened to each object."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from listwatch.informer.delta_fifo import DeltaFIFO
from listwatch.informer.deltas import Delta, QueueClosedError
from listwatch.informer.objects import (
    Deleted,
    InvalidObjectError,
    JSONObject,
    Tombstone,
    object_key,
    split_key,
)
from tests.informer.kit import settle, started, thing
from tests.informer.test_in_order_fifo import known, short


async def emptied(queue: DeltaFIFO) -> list[list[str]]:
    popped: list[list[str]] = []

    def take(deltas: Sequence[Delta], initial: bool) -> None:
        popped.append([short(delta) for delta in deltas])

    while len(queue):
        await queue.pop(take)
    return popped


async def test_one_pop_yields_all_that_happened_to_a_key() -> None:
    queue = DeltaFIFO()
    queue.add(thing("a"))
    queue.add(thing("b"))
    queue.update(thing("a"))
    queue.delete(thing("a"))

    assert await emptied(queue) == [["Added:a", "Updated:a", "Deleted:a"], ["Added:b"]]


async def test_a_popped_key_that_comes_again_goes_to_the_back() -> None:
    queue = DeltaFIFO()
    queue.add(thing("a"))
    queue.add(thing("b"))
    await queue.pop(lambda *_: None)
    queue.update(thing("a"))

    assert await emptied(queue) == [["Added:b"], ["Updated:a"]]


async def test_two_producers_keep_their_order_each() -> None:
    queue = DeltaFIFO()

    async def produce(prefix: str) -> None:
        for number in range(50):
            queue.add(thing(f"{prefix}{number}"))
            await asyncio.sleep(0)

    await asyncio.gather(produce("a"), produce("b"))
    flat = [text for batch in await emptied(queue) for text in batch]

    for prefix in "ab":
        own = [text for text in flat if text.startswith(f"Added:{prefix}")]
        assert own == [f"Added:{prefix}{number}" for number in range(50)]


async def test_a_delete_of_the_unknown_is_dropped_and_of_the_known_queued() -> None:
    nobody, store, stored = DeltaFIFO(), DeltaFIFO(known()), DeltaFIFO(known("x"))
    for queue in (nobody, store, stored):
        queue.delete(thing("x"))

    assert await emptied(nobody) == []
    assert await emptied(store) == []
    assert await emptied(stored) == [["Deleted:x"]]


async def test_a_delete_followed_by_a_list_keeps_both() -> None:
    queue = DeltaFIFO(known("x"))
    queue.delete(thing("x", 2))
    queue.replace([thing("x", 3)], "3")

    assert await emptied(queue) == [["Deleted:x", "Replaced:x"]]


async def test_of_two_deletions_in_a_row_the_one_that_knows_more_stays() -> None:
    first, second = DeltaFIFO(known("x")), DeltaFIFO(known("x"))
    first.delete(thing("x", 2))
    first.replace([], "3")
    second.replace([], "3")
    second.delete(thing("x", 4))

    assert await emptied(first) == [["Deleted:x"]]
    assert await emptied(second) == [["Deleted:x"]]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("A", [["Added:x", "Deleted:x!"]]),
        ("AR", [["Added:x", "Replaced:x", "Deleted:x!"]]),
        ("AD", [["Added:x", "Deleted:x"]]),
        ("RR", [["Replaced:x", "Replaced:x", "Deleted:x!"]]),
        ("E", []),
        ("AE", [["Added:x", "Deleted:x!"]]),
        ("ADA", [["Added:x", "Deleted:x", "Added:x", "Deleted:x!"]]),
    ],
)
async def test_an_empty_list_after_anything_leaves_one_tombstone_at_most(
    steps: str, expected: list[list[str]]
) -> None:
    queue = DeltaFIFO()
    for step in steps:
        match step:
            case "A":
                queue.add(thing("x"))
            case "D":
                queue.delete(thing("x"))
            case "R":
                queue.replace([thing("x")], "1")
            case "E":
                queue.replace([], "1")
    queue.replace([], "2")

    assert await emptied(queue) == expected


async def test_a_list_tells_new_items_first_then_tombstones_with_the_last_object() -> None:
    queue = DeltaFIFO(known("stored", "queued"))
    queue.update(thing("queued", 5))
    queue.replace([thing("new", 6)], "6")
    tombs: dict[str, JSONObject | None] = {}

    order: list[str] = []

    def take(deltas: Sequence[Delta], initial: bool) -> None:
        order.append(deltas[0].key)
        for delta in deltas:
            if isinstance(delta.object, Tombstone):
                tombs[delta.key] = delta.object.object

    while len(queue):
        await queue.pop(take)

    assert order == ["queued", "new", "stored"]
    versions = {key: o["metadata"]["resourceVersion"] for key, o in tombs.items() if o}
    assert versions == {"queued": "5", "stored": "1"}


async def test_a_tombstone_in_the_queue_is_unwrapped_for_the_next_one() -> None:
    queue = DeltaFIFO(known("x"))
    queue.replace([], "2")
    queue.replace([], "3")
    found: list[Delta] = []
    await queue.pop(lambda deltas, _: found.extend(deltas))

    assert [short(delta) for delta in found] == ["Deleted:x!"]
    tomb = found[0].object
    assert isinstance(tomb, Tombstone)
    assert tomb.object is not None
    assert tomb.object["metadata"]["name"] == "x"


async def test_a_resync_tells_idle_keys_only() -> None:
    queue = DeltaFIFO(known("a", "b"))
    queue.update(thing("a", 2))
    queue.resync()

    assert await emptied(queue) == [["Updated:a"], ["Sync:b"]]


async def test_objects_of_a_list_are_told_as_sync_if_old_consumers_want_it() -> None:
    seen: list[str] = []

    def transform(subject: JSONObject) -> JSONObject:
        seen.append(subject["metadata"]["name"])
        return subject

    old = DeltaFIFO(known(), replaced=False, transform=transform)
    old.replace([thing("a")], "1")

    assert await emptied(old) == [["Sync:a"]]
    assert seen == ["a"]


async def test_the_transform_runs_once_for_each_object_and_never_on_tombstones() -> None:
    seen: list[str] = []

    def transform(subject: JSONObject) -> JSONObject:
        seen.append(subject["metadata"]["name"])
        return subject

    queue = DeltaFIFO(known("gone"), transform=transform)
    queue.replace([thing("a")], "1")
    queue.add(thing("b"))
    queue.resync()

    assert seen == ["a", "b"]


@pytest.mark.parametrize(
    ("steps", "pops", "synced"),
    [
        ([], 0, False),
        (["list"], 1, False),
        (["list"], 2, True),
        (["twice"], 1, True),
        (["empty"], 0, True),
        (["add"], 0, True),
        (["delete"], 0, True),
    ],
)
async def test_when_it_has_synced(steps: list[str], pops: int, synced: bool) -> None:
    queue = DeltaFIFO(known())
    for step in steps:
        match step:
            case "list":
                queue.replace([thing("a"), thing("b")], "1")
            case "twice":
                queue.replace([thing("a"), thing("a")], "1")  # keys count, not items
            case "empty":
                queue.replace([], "1")
            case _:
                getattr(queue, step)(thing("z"))
    for _ in range(pops):
        await queue.pop(lambda *_: None)

    assert queue.has_synced is synced


async def test_deletions_of_the_first_list_count_and_are_initial() -> None:
    queue, initial = DeltaFIFO(known("gone")), []
    queue.replace([], "1")
    assert not queue.has_synced
    await queue.pop(lambda _, flag: initial.append((flag, queue.has_synced)))

    assert initial == [(True, True)]  # counted before it is processed, as upstream's


async def test_ten_blocked_pops_are_released_by_a_close() -> None:
    queue = DeltaFIFO()
    tasks = [started(queue.pop(lambda *_: None)) for _ in range(10)]
    await settle()
    queue.close()
    async with asyncio.timeout(0.5):
        results = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(result, QueueClosedError) for result in results)


def test_keys_of_objects_tombstones_and_what_was_deleted() -> None:
    queue = DeltaFIFO()
    one = thing("a", 1, "ns")

    assert queue.key_of(one) == object_key(one) == "ns/a"
    assert queue.key_of(Tombstone("other/key", one)) == "other/key"
    assert object_key(thing("cluster")) == "cluster"
    assert split_key("ns/a") == ("ns", "a")
    assert split_key("a") == ("", "a")
    with pytest.raises(ValueError, match="unexpected key format"):
        split_key("a/b/c")


@pytest.mark.parametrize(
    ("key", "namespace", "name"),
    [("ns/a", "ns", "a"), ("a", "", "a"), ("ns/a/b", "ns", "a/b"), ("", "", "")],
)
def test_what_was_deleted_has_a_key_and_a_name_even_without_an_object(
    key: str, namespace: str, name: str
) -> None:
    gone = Deleted(key, None, final_state_unknown=True)

    assert (gone.namespace, gone.name, gone.object) == (namespace, name, None)


def test_a_key_error_carries_the_object_and_its_cause() -> None:
    faults: list[JSONObject] = [
        {"metadata": {}}, {}, {"metadata": None}, {"metadata": {"name": ""}}
    ]  # fmt: skip
    for wrong in faults:
        with pytest.raises(InvalidObjectError) as caught:
            object_key(wrong)
        assert caught.value.subject is wrong
        assert caught.value.__cause__ is not None


async def test_a_list_with_a_key_that_fails_aborts_midway() -> None:
    queue = DeltaFIFO()
    with pytest.raises(InvalidObjectError):
        queue.replace([thing("a"), {}], "1")

    assert await emptied(queue) == [["Replaced:a"]]


async def test_an_update_of_a_new_key_is_queued_as_it_came() -> None:
    queue = DeltaFIFO()
    queue.update(thing("a"))
    queue.bookmark("9")

    assert await emptied(queue) == [["Updated:a"]]
