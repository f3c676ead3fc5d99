"""The queue that keeps the order of events, atomic and not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from listwatch.informer.deltas import Delta, DeltaType, QueueClosedError
from listwatch.informer.in_order_fifo import InOrderFIFO
from listwatch.informer.indexer import Indexer
from listwatch.informer.objects import InvalidObjectError, JSONObject, Tombstone
from tests.informer.kit import settle, started, thing

T = DeltaType


def known(*names: str) -> Indexer:
    store = Indexer()
    for name in names:
        store.add(thing(name, 1))
    return store


class Popped:
    """What a queue hands out, in short form."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.initial: list[bool] = []
        self.deltas: list[Delta] = []

    def __call__(self, deltas: Sequence[Delta], initial: bool) -> None:
        self.batches.append([short(delta) for delta in deltas])
        self.initial.append(initial)
        self.deltas.extend(deltas)

    @property
    def flat(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


def short(delta: Delta) -> str:
    if delta.type is T.REPLACED_ALL:
        return f"{delta.type}:{','.join(o['metadata']['name'] for o in delta.objects)}"
    if delta.type is T.BOOKMARK:
        return f"{delta.type}:{delta.resource_version}"
    gone = "!" if isinstance(delta.object, Tombstone) else ""
    return f"{delta.type}:{delta.key}{gone}"


async def emptied(queue: InOrderFIFO, *, batches: bool = False) -> Popped:
    popped = Popped()
    while len(queue):
        await (queue.pop_batch(popped) if batches else queue.pop(popped))
    return popped


async def test_two_producers_keep_their_order_each() -> None:
    queue = InOrderFIFO()

    async def produce(prefix: str) -> None:
        for number in range(50):
            queue.add(thing(f"{prefix}{number}"))
            await asyncio.sleep(0)

    await asyncio.gather(produce("a"), produce("b"))
    flat = (await emptied(queue)).flat

    for prefix in "ab":
        own = [text for text in flat if text.startswith(f"Added:{prefix}")]
        assert own == [f"Added:{prefix}{number}" for number in range(50)]


async def test_add_update_and_delete_are_three_pops_in_order() -> None:
    queue = InOrderFIFO()
    queue.add(thing("a"))
    queue.add(thing("b"))
    queue.update(thing("a"))
    queue.delete(thing("a"))

    assert (await emptied(queue)).batches == [
        ["Added:a"],
        ["Added:b"],
        ["Updated:a"],
        ["Deleted:a"],
    ]


async def test_a_delete_of_the_unknown_is_queued_with_and_without_a_store() -> None:
    for queue in (InOrderFIFO(), InOrderFIFO(known())):
        queue.delete(thing("x"))
        assert (await emptied(queue)).flat == ["Deleted:x"]


async def test_an_atomic_list_resync_and_bookmark_are_one_delta_each_in_order() -> None:
    queue = InOrderFIFO()
    queue.add(thing("a"))
    queue.replace([thing("b"), thing("c")], "7")
    queue.resync()
    queue.bookmark("8")
    queue.update(thing("b"))
    popped = await emptied(queue, batches=True)

    assert popped.batches == [
        ["Added:a"], ["ReplacedAll:b,c"], ["SyncAll:"], ["Bookmark:8"], ["Updated:b"]
    ]  # fmt: skip
    assert popped.deltas[1].resource_version == "7"


async def test_a_bookmark_is_not_kept_where_lists_are_not_atomic() -> None:
    queue = InOrderFIFO(known())
    queue.bookmark("8")

    assert len(queue) == 0


async def test_a_list_that_is_not_atomic_tells_tombstones_first_then_items() -> None:
    queue = InOrderFIFO(known("gone", "kept"))
    queue.replace([thing("new", 5), thing("kept", 5)], "5")

    assert (await emptied(queue)).flat == ["Deleted:gone!", "Replaced:new", "Replaced:kept"]


async def test_tombstones_of_queued_and_added_again_keys_carry_the_newest_state() -> None:
    queue = InOrderFIFO(known("a", "b"))
    queue.update(thing("a", 2))  # newer in the queue than in the store
    queue.delete(thing("b", 3))  # gone already: no second tombstone
    queue.add(thing("c", 4))  # in the queue only
    queue.delete(thing("d", 4))
    queue.add(thing("d", 5))  # and back
    queue.replace([], "9")
    tombs = {
        delta.key: delta.object.object
        for delta in (await emptied(queue)).deltas
        if isinstance(delta.object, Tombstone)
    }

    versions = {k: o["metadata"]["resourceVersion"] for k, o in tombs.items() if o is not None}
    assert versions == {"a": "2", "c": "4", "d": "5"}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("A", ["Added:x", "Deleted:x!"]),
        ("AR", ["Added:x", "Replaced:x", "Deleted:x!"]),
        ("AD", ["Added:x", "Deleted:x"]),
        ("RR", ["Replaced:x", "Replaced:x", "Deleted:x!"]),
        ("E", []),
        ("ADA", ["Added:x", "Deleted:x", "Added:x", "Deleted:x!"]),
        ("AE", ["Added:x", "Deleted:x!"]),
    ],
)
async def test_an_empty_list_after_anything_leaves_one_tombstone_at_most(
    steps: str, expected: list[str]
) -> None:
    queue = InOrderFIFO(known())
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

    assert (await emptied(queue)).flat == expected


async def test_a_delete_followed_by_a_list_keeps_both() -> None:
    queue = InOrderFIFO(known("x"))
    queue.delete(thing("x", 2))
    queue.replace([thing("x", 3)], "3")

    assert (await emptied(queue)).flat == ["Deleted:x", "Replaced:x"]


async def test_a_resync_passes_over_keys_with_pending_deltas_where_it_is_not_atomic() -> None:
    queue = InOrderFIFO(known("a", "b"))
    queue.update(thing("a", 2))
    queue.resync()

    assert (await emptied(queue)).flat == ["Updated:a", "Sync:b"]


@pytest.mark.parametrize(
    ("steps", "pops", "synced"),
    [
        ([], 0, False),
        (["list"], 0, False),
        (["list"], 1, False),
        (["list"], 2, True),
        (["empty"], 0, True),
        (["list", "add"], 2, True),
        (["add"], 0, True),
        (["update"], 0, True),
        (["delete"], 0, True),
        (["add", "list"], 0, True),
    ],
)
async def test_when_it_has_synced(steps: list[str], pops: int, synced: bool) -> None:
    queue = InOrderFIFO(known())
    for step in steps:
        match step:
            case "list":
                queue.replace([thing("a"), thing("b")], "1")
            case "empty":
                queue.replace([], "1")
            case _:
                getattr(queue, step)(thing("z"))
    for _ in range(pops):
        await queue.pop(lambda *_: None)

    assert queue.has_synced is synced


async def test_it_has_synced_only_when_all_deletions_are_popped_and_stays_so() -> None:
    queue = InOrderFIFO(known("gone"))
    queue.replace([thing("a")], "1")
    states = []
    for _ in range(2):
        await queue.pop(lambda *_: None)
        states.append(queue.has_synced)
    queue.replace([thing("b"), thing("c")], "2")

    assert [*states, queue.has_synced] == [False, True, True]


async def test_the_first_list_is_marked_as_initial_and_counts_after_it_is_processed() -> None:
    queue, seen = InOrderFIFO(), []
    queue.replace([thing("a")], "1")
    queue.add(thing("b"))
    await queue.pop(lambda _, initial: seen.append((initial, queue.has_synced)))
    await queue.pop(lambda _, initial: seen.append((initial, queue.has_synced)))

    assert seen == [(True, False), (False, True)]


async def test_what_is_listed_twice_counts_twice() -> None:
    queue = InOrderFIFO(known())
    queue.replace([thing("a"), thing("a")], "1")
    await queue.pop(lambda *_: None)

    assert not queue.has_synced


async def test_the_transform_runs_once_for_each_object_and_never_on_tombstones() -> None:
    seen: list[str] = []

    def transform(subject: JSONObject) -> JSONObject:
        seen.append(subject["metadata"]["name"])
        return {**subject, "seen": True}

    queue = InOrderFIFO(known("gone"), transform=transform)
    queue.replace([thing("a")], "1")
    queue.add(thing("b"))
    queue.delete(thing("b"))
    queue.delete(Tombstone("c", None))
    queue.resync()
    popped = await emptied(queue)

    assert seen == ["a", "b", "b"]
    assert all(
        isinstance(d.object, Tombstone) or d.object is None or d.object.get("seen")
        for d in popped.deltas
        if d.type is not T.SYNC
    )


async def test_a_transform_or_key_that_fails_stores_nothing_of_that_call() -> None:
    def fail(_: JSONObject) -> JSONObject:
        raise ValueError("no")

    queue = InOrderFIFO(transform=fail)
    with pytest.raises(ValueError, match="no"):
        queue.add(thing("a"))
    plain = InOrderFIFO()
    with pytest.raises(InvalidObjectError):
        plain.replace([thing("a"), {"no": "metadata"}], "1")

    assert len(queue) == len(plain) == 0


async def test_ten_blocked_pops_are_released_by_a_close() -> None:
    queue = InOrderFIFO()
    tasks = [started(queue.pop(lambda *_: None)) for _ in range(10)]
    await settle()
    queue.close()
    async with asyncio.timeout(0.5):
        results = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(result, QueueClosedError) for result in results)


async def test_what_is_queued_is_still_popped_after_a_close() -> None:
    queue = InOrderFIFO()
    queue.add(thing("a"))
    queue.close()
    popped = Popped()
    await queue.pop(popped)
    with pytest.raises(QueueClosedError):
        await queue.pop(popped)

    assert popped.flat == ["Added:a"]


async def batches_of(names: str, **options: Any) -> list[list[str]]:
    queue = InOrderFIFO(**options)
    for name in names:
        queue.add(thing(name))
    popped = await emptied(queue, batches=True)
    return [[text.removeprefix("Added:") for text in batch] for batch in popped.batches]


async def test_batches_end_before_a_key_comes_again_and_at_their_limit() -> None:
    assert await batches_of("abc") == [["a", "b", "c"]]
    assert await batches_of("abcc") == [["a", "b", "c"], ["c"]]
    assert await batches_of("abac") == [["a", "b"], ["a", "c"]]
    assert await batches_of("abcde", batch=2) == [["a", "b"], ["c", "d"], ["e"]]


async def test_a_batch_ends_with_the_first_list() -> None:
    queue = InOrderFIFO(known())
    queue.replace([thing("a"), thing("b")], "1")
    queue.add(thing("c"))
    popped = await emptied(queue, batches=True)

    assert popped.batches == [["Replaced:a", "Replaced:b"], ["Added:c"]]
    assert popped.initial == [True, False]


async def test_a_delta_whose_object_lost_its_key_ends_a_batch_and_blocks_nothing() -> None:
    def strip(subject: JSONObject) -> JSONObject:
        return {} if subject["metadata"]["name"] == "b" else subject

    assert await batches_of("abcd", transform=strip) == [["a", "b"], ["c", "d"]]


async def test_a_reader_waits_while_the_queue_is_long() -> None:
    queue = InOrderFIFO(soft_limit=2)
    queue.add(thing("a"))
    await asyncio.wait_for(queue.room(), 1)
    queue.add(thing("b"))
    waiting = started(queue.room())
    await settle()
    assert not waiting.done()
    await queue.pop(lambda *_: None)
    await asyncio.wait_for(waiting, 1)

    assert queue.statistics().peak == 2
    assert queue.statistics().popped == 1
