"""Compaction: states from the compacted revision on read as before, older ones are refused."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from listwatch.conf import Options
from listwatch.protocol.versions import Change
from listwatch.store import reads, sweeping
from listwatch.store.compaction import Compactor, compact
from listwatch.store.heartbeat import HEARTBEATS, beat
from listwatch.store.models import Change as ChangeRow
from listwatch.store.models import Head
from listwatch.store.readers import Readers
from listwatch.store.writes import write
from listwatch.testing.clock import FakeClock
from tests.store.helpers import PODS, create, delete, emptied, log_is_whole, update

pytestmark = pytest.mark.usefixtures("store")


def revisions() -> list[int]:
    return list(ChangeRow.objects.order_by("revision").values_list("revision", flat=True))


def write_any(name: str, *, remove: bool) -> None:
    stored = reads.get(PODS, "ns", name)
    if stored is None:
        write(create(name))
    elif remove:
        write(delete(name, stored.revision))
    else:
        write(update(name, stored.revision, n=stored.revision))


def test_only_what_a_newer_change_replaced_goes() -> None:
    write(create("a"))  # 1, replaced by 2
    write(update("a", 1))  # 2, what a was at 4
    write(create("b"))  # 3, deleted by 4
    write(delete("b", 3))  # 4, a deletion
    write(update("a", 2))  # 5, above
    write(create("c"))  # 6

    assert compact(4) == 3
    assert revisions() == [2, 5, 6]
    assert reads.head() == (6, 4)


def test_compacting_again_or_lower_changes_nothing() -> None:
    write(create("a"))
    write(update("a", 1))
    write(update("a", 2))

    assert compact(2) == 1
    assert compact(2) == 0
    assert compact(1) == 0
    assert reads.head() == (3, 2)
    assert compact(3) == 1
    assert revisions() == [3]


def test_a_revision_yet_to_come_cannot_be_compacted() -> None:
    write(create("a"))
    with pytest.raises(ValueError, match="no such revision yet"):
        compact(2)

    assert reads.head() == (1, 0)


def test_it_goes_in_batches_and_a_process_that_dies_amid_them_loses_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweeping, "BATCH", 4)
    write(create("a"))
    for revision in range(1, 11):
        write(update("a", revision))
    sweeping.move(11)
    first = sweeping.sweep()

    assert first == (3, False)
    assert revisions() == list(range(4, 12))
    assert Head.objects.get().swept == 4
    # Another process, later, with a higher target:
    write(update("a", 11))
    pauses: list[float] = []
    assert compact(12, pause=pauses.append) == 8
    assert pauses == [sweeping.PAUSE] * 2
    assert revisions() == [12]
    assert sweeping.sweep() == (0, True)


@given(
    steps=st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=30),
    cuts=st.lists(st.integers(0, 30), min_size=1, max_size=3),
    batch=st.integers(1, 6),
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # fmt: skip
def test_every_retained_state_is_the_same_before_and_after(
    steps: list[tuple[str, bool]], cuts: list[int], batch: int
) -> None:
    emptied()
    for name, remove in steps:
        write_any(name, remove=remove)
    head = reads.head().current
    states = {revision: reads.state_at(PODS, revision) for revision in range(head + 1)}
    log = reads.changes(0, 1000)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sweeping, "BATCH", batch)
        for cut in cuts:
            compact(min(cut, head), pause=lambda _: None)
    oldest = min(max(cuts), head)

    for revision in range(head + 1):
        if revision < oldest:
            with pytest.raises(reads.Compacted):
                reads.state_at(PODS, revision)
        else:
            assert reads.state_at(PODS, revision) == states[revision]
    assert reads.changes(oldest, 1000) == log[oldest:]
    assert set(revisions()) == needed(log, oldest)
    log_is_whole()


def needed(log: list[Change], oldest: int) -> set[int]:
    """By the words of the rule, not by its implementation."""
    return {
        change.revision
        for change in log
        if change.revision > oldest
        or (
            str(change.type) != "DELETED"
            and not any(
                change.name == newer.name and change.revision < newer.revision <= oldest
                for newer in log
            )
        )
    }


def test_a_heartbeat_moves_the_head_by_a_change_like_any_other(clock: FakeClock) -> None:
    write(create("a"))
    beat(clock)
    beat(clock)

    assert [change.group_resource for change in reads.changes(1, 10)] == [HEARTBEATS] * 2
    assert reads.head().current == 3
    log_is_whole()


def test_two_processes_that_beat_at_once_both_go_on(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "get", lambda *_: None)  # neither has seen the other's
    beat(clock)
    beat(clock)

    assert reads.head().current == 1


OPTIONS = Options(compaction_age=600, compaction_interval=60, compaction_bytes=10**9)


async def test_an_idle_servers_token_expires_within_the_age(
    readers: Readers, clock: FakeClock
) -> None:
    """Wherever between two looks the list was made, and however long the server has been idle."""
    for offset in (1.0, 30.0, 59.0):
        compactor = Compactor(readers, OPTIONS, clock=clock)
        await readers.run(write, create(f"p{offset}"), clock=clock)
        await compactor.look()
        await clock.advance(offset)
        await readers.run(write, create(f"q{offset}"), clock=clock)
        listed, pinned = clock.now(), (await readers.run(reads.head)).current
        await clock.advance(compactor.period - offset)
        while (await readers.run(reads.head)).compacted <= pinned:
            # Kept for at least half of the age.
            assert clock.now() - listed <= OPTIONS.compaction_age
            await compactor.look()
            await clock.advance(compactor.period)
        gone = clock.now() - compactor.period - listed

        assert OPTIONS.compaction_age / 2 <= gone <= OPTIONS.compaction_age


async def test_a_busy_server_writes_no_heartbeats(readers: Readers, clock: FakeClock) -> None:
    compactor = Compactor(readers, OPTIONS, clock=clock)
    for n in range(20):
        await readers.run(write, create(f"p{n}"), clock=clock)
        await compactor.look()
        await clock.advance(compactor.period)

    assert compactor.statistics().heartbeats == 0
    # The last look was 19 minutes in, and keeps what is no older than seven: p12 and later.
    assert compactor.statistics().compacted == 12


async def test_history_is_bounded_by_bytes(readers: Readers, clock: FakeClock) -> None:
    await readers.run(write, create("a"), clock=clock)
    size = 0
    for revision in range(1, 3000):
        change = await readers.run(write, update("a", revision), clock=clock)
        size += len(change.encoded.body)
    options = Options(compaction_bytes=size // 2, compaction_age=10**9)
    compactor = Compactor(readers, options)  # by the real clock: it pauses between batches
    await compactor.look()
    statistics = compactor.statistics()

    assert statistics.compacted == 1999  # a multiple of the portion
    assert statistics.history_bytes <= size // 2
    assert (statistics.runs, statistics.rows) == (1, 1998)
    assert statistics.transactions >= 4
    rows = await readers.run(reads.changes, 1999, 5000)
    assert statistics.history_bytes == sum(len(row.encoded.body) for row in rows)


async def test_a_restarted_compactor_finishes_what_another_began(
    readers: Readers, clock: FakeClock
) -> None:
    await readers.run(write, create("a"), clock=clock)
    await readers.run(write, update("a", 1), clock=clock)
    await readers.run(sweeping.move, 2)
    compactor = Compactor(readers, OPTIONS, clock=clock)
    await compactor.look()

    assert await readers.run(revisions) == [2]
    assert compactor.statistics().rows == 1


async def test_the_task_looks_every_period_and_outlives_a_failure(
    readers: Readers, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    compactor = Compactor(readers, OPTIONS, clock=clock)

    async def look() -> None:
        looks.append(clock.now())
        if len(looks) == 2:
            raise OSError("disk full")

    monkeypatch.setattr(compactor, "look", look)
    start = clock.now()
    compactor.start()
    await clock.advance(compactor.period * 3)
    await compactor.stop()
    await clock.advance(compactor.period * 3)

    assert [at - start for at in looks] == [0, 60, 120, 180]
    assert compactor.statistics().errors == 1
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "compactor"]
