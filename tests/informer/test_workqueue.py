"""Work queues: what is handed out, when, and to whom."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import Counter

import pytest

from listwatch.informer.workqueue import (
    BucketLimiter,
    DelayingQueue,
    ExponentialLimiter,
    FastSlowLimiter,
    MaxOfLimiter,
    MaxWaitLimiter,
    RateLimitingQueue,
    ShutDownError,
    WorkQueue,
    default_limiter,
    item_limiter,
    parallelize,
)
from listwatch.testing.clock import FakeClock
from tests.informer.kit import ended, settle, started


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.mark.parametrize("drain", [True, False])
async def test_many_producers_and_consumers_lose_nothing(drain: bool) -> None:
    queue: WorkQueue[str] = WorkQueue()
    seen: Counter[str] = Counter()

    async def produce(number: int) -> None:
        for turn in range(20):
            queue.add(f"{number}-{turn}")
            await asyncio.sleep(0)

    async def consume() -> None:
        while True:
            try:
                item = await queue.get()
            except ShutDownError:
                return
            assert item != "late"
            await asyncio.sleep(0)
            seen[item] += 1
            queue.done(item)

    consumers = [started(consume()) for _ in range(10)]
    await asyncio.gather(*(produce(number) for number in range(50)))
    if drain:
        await queue.shut_down_with_drain()
    else:
        queue.shut_down()
    queue.add("late")
    await asyncio.gather(*consumers)

    assert len(seen) == 1000
    assert set(seen.values()) == {1}


async def test_an_item_that_waits_is_not_added_again() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.add("b")
    queue.add("a")

    assert len(queue) == 2
    assert [await queue.get(), await queue.get()] == ["a", "b"]
    assert queue.statistics().adds == 2


async def test_an_item_added_while_a_worker_has_it_runs_once_more_at_the_tail() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.add("a")
    queue.add("b")
    second = started(queue.get())
    await settle()
    assert second.result() == "b"  # a second worker does not get what the first has
    third = started(queue.get())
    await settle()
    assert not third.done()
    queue.done("a")

    assert await third == "a"
    assert len(queue) == 0


async def test_a_worker_that_was_cancelled_takes_nothing_with_it() -> None:
    queue: WorkQueue[str] = WorkQueue()
    first, second = started(queue.get()), started(queue.get())
    await settle()
    queue.add("a")
    first.cancel()
    await settle()

    assert second.result() == "a"


async def test_a_drain_waits_for_what_workers_have_and_for_what_waits() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.add("b")
    await queue.get()
    draining = started(queue.shut_down_with_drain())
    await settle()
    queue.done("a")
    await settle()
    assert not draining.done()  # b still waits
    assert await queue.get() == "b"
    queue.done("b")
    await settle()

    assert draining.done()


async def test_a_plain_shut_down_does_not_wait_and_ends_a_drain() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    draining = started(queue.shut_down_with_drain())
    await settle()
    queue.shut_down()
    await settle()

    assert draining.done()


async def test_a_drain_hands_out_again_what_was_added_meanwhile() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add("a")
    draining = started(queue.shut_down_with_drain())
    other = started(queue.get())
    await settle()
    queue.done("a")
    await settle()
    assert other.result() == "a"
    queue.done("a")
    await settle()

    assert draining.done()
    with pytest.raises(ShutDownError):
        await queue.get()


async def test_done_of_what_no_worker_has_does_nothing() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.done("a")
    queue.done("never")

    assert len(queue) == 1
    assert await queue.get() == "a"


async def test_finished_items_are_not_kept_alive() -> None:
    class Item:
        pass

    queue: RateLimitingQueue[Item] = RateLimitingQueue()
    item = Item()
    ghost = weakref.ref(item)
    queue.add(item)
    got = await queue.get()
    queue.forget(got)
    queue.done(got)
    del item, got
    gc.collect()

    assert ghost() is None


async def test_nothing_is_handed_out_before_it_is_due_and_then_in_order(clock: FakeClock) -> None:
    queue: DelayingQueue[str] = DelayingQueue(clock=clock)
    for item, seconds in (("c", 3.0), ("a", 1.0), ("b", 2.0), ("b2", 2.0), ("now", 0.0)):
        queue.add_after(item, seconds)
    assert await queue.get() == "now"
    await clock.advance(0.9)
    assert len(queue) == 0
    await clock.advance(2.5)

    assert [await queue.get() for _ in range(4)] == ["a", "b", "b2", "c"]


async def test_the_earliest_of_several_times_counts(clock: FakeClock) -> None:
    queue: DelayingQueue[str] = DelayingQueue(clock=clock)
    queue.add_after("a", 10)
    queue.add_after("a", 1)
    queue.add_after("a", 5)
    assert queue.statistics().delayed == 1
    await clock.advance(1)
    assert await queue.get() == "a"
    queue.done("a")
    await clock.advance(60)

    assert len(queue) == 0


async def test_an_earlier_item_shifts_the_others_and_loses_none(clock: FakeClock) -> None:
    queue: DelayingQueue[int] = DelayingQueue(clock=clock)
    for number in range(50, 0, -1):
        queue.add_after(number, number)
        queue.add_after(100 + number, number)
    found = []
    for _ in range(50):
        await clock.advance(1)
        while len(queue):
            found.append(await queue.get())

    assert found == [item for number in range(1, 51) for item in (number, 100 + number)]


async def test_a_shut_down_forgets_what_is_not_due(clock: FakeClock) -> None:
    queue: DelayingQueue[str] = DelayingQueue(clock=clock)
    queue.add_after("a", 5)
    await asyncio.wait_for(queue.shut_down_with_drain(), 1)
    queue.add_after("b", 0)
    await clock.advance(10)

    with pytest.raises(ShutDownError):
        await queue.get()


def test_exponential_delays_of_each_item_until_it_is_forgotten() -> None:
    limiter = ExponentialLimiter(0.001, 1000)

    assert [limiter.when("a") for _ in range(5)] == [0.001, 0.002, 0.004, 0.008, 0.016]
    assert limiter.num_requeues("a") == 5
    assert limiter.when("b") == 0.001
    limiter.forget("a")
    assert limiter.num_requeues("a") == 0
    assert limiter.when("a") == 0.001


def test_delays_do_not_overflow_however_often_something_fails() -> None:
    limiter = ExponentialLimiter(0.001, 1000)
    for _ in range(5000):
        last = limiter.when("a")

    assert last == 1000
    assert item_limiter().when("x") == 0.001


def test_fast_then_slow() -> None:
    limiter = FastSlowLimiter(0.005, 10, 3)

    assert [limiter.when("a") for _ in range(5)] == [0.005, 0.005, 0.005, 10, 10]
    assert limiter.num_requeues("a") == 5
    limiter.forget("a")
    assert limiter.when("a") == 0.005


def test_a_bucket_is_shared_and_fills_again(clock: FakeClock) -> None:
    limiter = BucketLimiter(10, 2, clock=clock)

    assert [limiter.when(x) for x in "abcd"] == pytest.approx([0, 0, 0.1, 0.2])
    clock.set(clock.now() + 10)
    assert limiter.when("e") == 0
    assert limiter.num_requeues("a") == 0


def test_the_longest_of_several_and_a_limit_on_any(clock: FakeClock) -> None:
    both = MaxOfLimiter(ExponentialLimiter(0.005, 1000), FastSlowLimiter(1, 3, 1))

    assert [both.when("a"), both.when("a")] == [1, 3]
    assert both.num_requeues("a") == 2
    both.forget("a")
    assert both.num_requeues("a") == 0
    limited = MaxWaitLimiter(both, 2)
    assert [limited.when("a"), limited.when("a")] == [1, 2]
    assert limited.num_requeues("a") == 2
    limited.forget("a")
    assert default_limiter(clock).when("a") == 0.005


async def test_counts_and_times_are_exact(clock: FakeClock) -> None:
    queue: RateLimitingQueue[str] = RateLimitingQueue("q", clock=clock)
    queue.add("a")
    queue.add("a")
    clock.set(clock.now() + 3)
    queue.add("b")
    assert queue.statistics().depth == 2
    await queue.get()
    clock.set(clock.now() + 5)
    await queue.get()
    clock.set(clock.now() + 1)
    now = queue.statistics()
    assert (now.depth, now.adds, now.gets, now.processing) == (0, 2, 2, 2)
    assert (now.queue_latency_sum, now.queue_latency_max) == (8, 5)
    assert (now.unfinished_work_seconds, now.longest_running_processor_seconds) == (7, 6)
    queue.done("a")
    queue.done("b")
    queue.add_rate_limited("a")

    last = queue.statistics()
    assert (last.work_duration_sum, last.work_duration_max) == (7, 6)
    assert (last.unfinished_work_seconds, last.retries, last.delayed) == (0, 1, 1)


async def test_a_worker_brings_back_what_failed_and_forgets_what_succeeded(
    clock: FakeClock,
) -> None:
    queue: RateLimitingQueue[str] = RateLimitingQueue("q", clock=clock)
    tries: Counter[str] = Counter()

    async def reconcile(item: str) -> None:
        tries[item] += 1
        if item == "bad" and tries[item] < 4:
            raise RuntimeError("not yet")

    worker = started(queue.work(reconcile))
    queue.add("good")
    queue.add("bad")
    await settle()
    assert queue.num_requeues("bad") == 1
    await clock.advance(1)

    assert tries == {"good": 1, "bad": 4}
    assert queue.num_requeues("bad") == 0
    queue.shut_down()
    await asyncio.wait_for(worker, 1)


async def test_a_worker_that_is_cancelled_marks_its_item_as_done() -> None:
    queue: RateLimitingQueue[str] = RateLimitingQueue("q")

    async def reconcile(_: str) -> None:
        await asyncio.Event().wait()

    worker = started(queue.work(reconcile))
    queue.add("a")
    await settle()
    assert queue.statistics().processing == 1
    await ended(worker)

    assert queue.statistics().processing == 0


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("pieces", [0, 1, 10, 50])
async def test_every_piece_is_done_once_by_few_workers(pieces: int, chunk: int) -> None:
    done: Counter[int] = Counter()
    at_once = most = 0

    async def work(piece: int) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        done[piece] += 1

    await parallelize(3, pieces, work, chunk=chunk)

    assert done == Counter(range(pieces))
    assert most <= 3


async def test_the_first_failure_ends_all_pieces() -> None:
    ran = []

    async def work(piece: int) -> None:
        ran.append(piece)
        await asyncio.sleep(0)
        if piece == 2:
            raise RuntimeError("piece 2")

    with pytest.raises(RuntimeError, match="piece 2"):
        await parallelize(2, 100, work)
    assert len(ran) < 10
