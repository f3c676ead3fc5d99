"""The queue laid open: what gathers, what is merged away, and that holding loses nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from dashboard.informers.fifo import ShownFIFO
from listwatch.informer.objects import Tombstone


def thing(name: str, revision: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": str(revision)}}


async def test_a_held_queue_gathers_deltas_under_their_keys() -> None:
    queue, popped = ShownFIFO(), []
    queue.hold(True)
    popping = asyncio.create_task(queue.pop(lambda deltas, initial: popped.append(list(deltas))))
    queue.add(thing("a", 1))
    queue.update(thing("a", 2))
    queue.add(thing("b", 3))
    queue.delete(thing("a", 4))
    queue.delete(Tombstone("a", None))
    for _ in range(5):
        await asyncio.sleep(0)

    assert popped == []
    assert [(key, [str(d.type) for d in deltas]) for key, deltas in queue.pending()] == [
        ("a", ["Added", "Updated", "Deleted"]), ("b", ["Added"]),
    ]  # fmt: skip
    assert (queue.gathered, queue.collapsed, queue.dropped) == (2, 1, 0)
    assert queue.log[0].fate.startswith("merged away")

    queue.hold(False)
    await popping

    assert [str(delta.type) for delta in popped[0]] == ["Added", "Updated", "Deleted"]


async def test_a_deletion_of_what_nobody_knows_is_dropped_and_said_so() -> None:
    queue = ShownFIFO()
    queue.delete(thing("x", 1))

    assert queue.dropped == 1
    assert queue.log[0].fate == "dropped: nobody knew it"
    assert len(queue) == 0


async def test_a_queue_that_is_held_while_it_waits_is_held_for_what_comes() -> None:
    queue, popped = ShownFIFO(), []
    popping = asyncio.create_task(queue.pop(lambda deltas, initial: popped.append(deltas)))
    await asyncio.sleep(0)
    queue.hold(True)
    queue.add(thing("a", 1))
    for _ in range(5):
        await asyncio.sleep(0)

    assert popped == []

    queue.close()
    await popping

    assert len(popped) == 1
