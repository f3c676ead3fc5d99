"""The group committer: one transaction for many, one answer for each, and what breaks recovers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable

import pytest
from blockbuster import BlockBuster
from django.contrib.auth.models import Permission
from django.db import connection, transaction

from listwatch.protocol.versions import Change
from listwatch.store import reads
from listwatch.store.group_commit import GroupCommitter
from listwatch.store.readers import Readers
from listwatch.store.signals import changes_committed
from listwatch.store.transactions import Transaction
from listwatch.store.writes import (
    AlreadyStored,
    NotStored,
    RevisionMoved,
    StoreUnavailable,
    write,
)
from tests.store.helpers import PODS, create, delete, log_is_whole, update

pytestmark = pytest.mark.usefixtures("store")


class RefusedError(Exception):
    pass


def refuse(_: Transaction) -> None:
    raise RefusedError


class Hold:
    """A guard that holds its transaction open until it is let go."""

    def __init__(self) -> None:
        self._begun, self._free = threading.Event(), threading.Event()

    def __call__(self, _: Transaction) -> None:
        self._begun.set()
        assert self._free.wait(10)

    async def begun(self) -> None:
        assert await asyncio.to_thread(self._begun.wait, 10)

    def let_go(self) -> None:
        self._free.set()


async def outcomes(*submitted: Awaitable[Change]) -> list[Change | BaseException]:
    return list(await asyncio.gather(*submitted, return_exceptions=True))


async def test_writes_of_one_turn_share_a_transaction_in_their_order(
    committer: GroupCommitter, readers: Readers
) -> None:
    names = [f"p{n}" for n in range(20)]
    changes = await asyncio.gather(*(committer.submit(create(name)) for name in names))

    assert names == [change.name for change in changes]
    assert list(range(1, 21)) == [change.revision for change in changes]
    statistics = committer.statistics()
    assert (statistics.groups, statistics.writes, statistics.largest_group) == (1, 20, 20)
    assert (statistics.waiting, statistics.revision) == (0, 20)
    await readers.run(log_is_whole)


async def test_a_refused_member_touches_no_other_and_burns_no_number(
    committer: GroupCommitter, readers: Readers
) -> None:
    await committer.submit(create("a"))
    answers = await outcomes(
        committer.submit(create("a")),
        committer.submit(create("b")),
        committer.submit(create("c", guard=refuse)),
        committer.submit(update("a", 9)),
        committer.submit(delete("z", 1)),
        committer.submit(create("d")),
    )

    assert [AlreadyStored, Change, RefusedError, RevisionMoved, NotStored, Change] == [
        type(answer) for answer in answers
    ]
    assert [
        (change.name, change.revision) for change in await readers.run(reads.changes, 0, 10)
    ] == [("a", 1), ("b", 2), ("d", 3)]
    statistics = committer.statistics()
    assert (statistics.groups, statistics.conflicts, statistics.refusals) == (2, 3, 1)
    await readers.run(log_is_whole)


async def test_what_the_swap_refuses_costs_the_group_nothing_and_a_refused_guard_a_rollback(
    committer: GroupCommitter, readers: Readers
) -> None:
    await outcomes(
        *(committer.submit(create(name)) for name in "aba"), committer.submit(update("b", 9))
    )
    assert committer.statistics().rollbacks == 0

    answers = await outcomes(
        committer.submit(create("c")), committer.submit(create("d", guard=refuse)),
        committer.submit(create("e")),
    )  # fmt: skip
    assert [Change, RefusedError, Change] == [type(answer) for answer in answers]
    statistics = committer.statistics()
    assert (statistics.rollbacks, statistics.groups, statistics.refusals) == (1, 2, 1)
    await readers.run(log_is_whole)


async def test_a_guard_sees_what_earlier_members_of_its_group_wrote(
    committer: GroupCommitter, readers: Readers
) -> None:
    await committer.submit(create("a"))
    seen: list[int] = []

    def guard(opened: Transaction) -> None:
        stored = opened.get(PODS, "ns", "a")
        seen.append(stored.revision if stored is not None else 0)

    await outcomes(
        committer.submit(create("b", guard=guard)), committer.submit(update("a", 1)),
        committer.submit(create("c", guard=guard)), committer.submit(delete("a", 3)),
        committer.submit(create("d", guard=guard)),
    )  # fmt: skip

    assert seen == [1, 3, 0]
    await readers.run(log_is_whole)


async def test_a_conflict_behind_a_guard_that_wrote_takes_that_back(
    committer: GroupCommitter, readers: Readers
) -> None:
    await committer.submit(create("a"))

    def guard(opened: Transaction) -> None:
        opened.write(create("inner"))

    answers = await outcomes(
        committer.submit(create("a", guard=guard)), committer.submit(create("b"))
    )

    assert [AlreadyStored, Change] == [type(answer) for answer in answers]
    assert [change.name for change in await readers.run(reads.changes, 0, 10)] == ["a", "b"]
    assert committer.statistics().rollbacks == 1
    await readers.run(log_is_whole)


async def test_what_a_refused_guard_wrote_is_taken_back(
    committer: GroupCommitter, readers: Readers
) -> None:
    heard: list[str] = []

    def guard(opened: Transaction) -> None:
        opened.write(create("inner"))
        write(create("nested"))
        transaction.on_commit(lambda: heard.append("callback"))
        raise RefusedError

    answers = await outcomes(
        committer.submit(create("a", guard=guard)), committer.submit(create("b"))
    )

    assert [RefusedError, Change] == [type(answer) for answer in answers]
    assert [change.name for change in await readers.run(reads.changes, 0, 10)] == ["b"]
    assert heard == []
    await readers.run(log_is_whole)


async def test_what_a_guard_wrote_is_part_of_the_group(
    committer: GroupCommitter, readers: Readers
) -> None:
    def guard(opened: Transaction) -> None:
        opened.write(create("inner"))
        write(create("nested"))

    await asyncio.gather(committer.submit(create("a", guard=guard)), committer.submit(create("b")))

    assert {"inner", "nested", "a", "b"} == {
        change.name for change in await readers.run(reads.changes, 0, 10)
    }
    await readers.run(log_is_whole)


async def test_a_guard_with_a_database_error_refuses_only_its_own_member(
    committer: GroupCommitter,
) -> None:
    def guard(_: Transaction) -> None:
        Permission.objects.create(name=None, content_type_id=1)  # type: ignore[misc]

    answers = await outcomes(
        committer.submit(create("a", guard=guard)), committer.submit(create("b"))
    )

    assert [type(answer).__name__ for answer in answers] == ["IntegrityError", "Change"]


async def test_no_member_is_answered_before_the_commit_not_even_a_conflict(
    committer: GroupCommitter,
) -> None:
    hold = Hold()
    early = [asyncio.ensure_future(committer.submit(create("a"))) for _ in range(2)]
    late = asyncio.ensure_future(committer.submit(create("b", guard=hold)))
    await hold.begun()

    assert not any(answer.done() for answer in [*early, late])
    assert committer.statistics().waiting == 0
    hold.let_go()
    assert [Change, AlreadyStored, Change] == [
        type(answer) for answer in await outcomes(*early, late)
    ]


async def test_what_comes_in_during_a_commit_is_the_next_group(committer: GroupCommitter) -> None:
    hold = Hold()
    first = asyncio.ensure_future(committer.submit(create("a", guard=hold)))
    await hold.begun()
    others = [asyncio.ensure_future(committer.submit(create(f"p{n}"))) for n in range(7)]
    await asyncio.sleep(0)
    more = [asyncio.ensure_future(committer.submit(create(f"q{n}"))) for n in range(3)]
    for _ in range(3):
        await asyncio.sleep(0)  # they submit, and are handed over at the end of that turn
    hold.let_go()
    await asyncio.gather(first, *others, *more)

    statistics = committer.statistics()
    assert (statistics.groups, statistics.writes, statistics.largest_group) == (2, 11, 10)


async def test_if_the_commit_fails_all_fail_and_nothing_is_written(
    committer: GroupCommitter, readers: Readers
) -> None:
    def guard(_: Transaction) -> None:
        # A deferred foreign key to nothing: found out by COMMIT.
        Permission.objects.create(name="x", codename="x", content_type_id=999_999)

    heard: list[object] = []
    changes_committed.connect(heard.append)
    answers = await outcomes(
        committer.submit(create("a")),
        committer.submit(create("b", guard=guard)),
        committer.submit(create("a")),
    )
    changes_committed.disconnect(heard.append)

    assert [StoreUnavailable] * 3 == [type(answer) for answer in answers]
    assert await readers.run(reads.head) == (0, 0)
    assert heard == []
    assert committer.statistics().failures == 3
    assert (await committer.submit(create("a"))).revision == 1
    await readers.run(log_is_whole)


async def test_a_callback_that_fails_after_the_commit_does_not_undo_the_answers(
    committer: GroupCommitter, caplog: pytest.LogCaptureFixture
) -> None:
    def guard(_: Transaction) -> None:
        transaction.on_commit(lambda: 1 / 0)

    change = await committer.submit(create("a", guard=guard))

    assert change.revision == 1
    assert "a callback failed after its commit" in caplog.text


async def test_the_thread_survives_whatever_breaks_in_it(
    committer: GroupCommitter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(committer, "_transact", broken)
        with pytest.raises(StoreUnavailable):
            await committer.submit(create("a"))

    assert (await committer.submit(create("a"))).revision == 1


async def test_the_signal_is_sent_once_a_group_and_before_the_answers(
    committer: GroupCommitter,
) -> None:
    heard: list[list[str]] = []

    def hear(changes: list[Change], **_: object) -> None:
        heard.append([f"{change.revision} {change.name}" for change in changes])

    changes_committed.connect(hear)
    try:
        await outcomes(*(committer.submit(create(name)) for name in "abac"))
        told = list(heard)
        await outcomes(committer.submit(create("a")))
    finally:
        changes_committed.disconnect(hear)

    assert told == [["1 a", "2 b", "3 c"]]
    assert heard == told


async def test_stopping_answers_what_was_taken_and_takes_no_more(store: None) -> None:
    committer = GroupCommitter()
    with pytest.raises(StoreUnavailable):
        await committer.submit(create("a"))
    committer.start()
    hold = Hold()
    taken = [asyncio.ensure_future(committer.submit(create("a", guard=hold)))]
    await hold.begun()
    taken += [asyncio.ensure_future(committer.submit(create(f"p{n}"))) for n in range(5)]
    await asyncio.sleep(0)  # submitted, perhaps not yet handed over
    stopping = asyncio.ensure_future(asyncio.to_thread(committer.stop))
    hold.let_go()
    changes = await asyncio.gather(*taken)
    await stopping

    assert list(range(1, 7)) == [change.revision for change in changes]
    with pytest.raises(StoreUnavailable):
        await committer.submit(create("z"))


async def test_a_write_submitted_in_the_very_turn_of_the_stop_is_answered(
    committer: GroupCommitter, blockbuster: BlockBuster
) -> None:
    blockbuster.deactivate()  # stop() is called in the loop, to be between two of its steps
    taken = asyncio.ensure_future(committer.submit(create("a")))
    asyncio.get_running_loop().call_soon(committer.stop)

    async with asyncio.timeout(10):
        assert (await taken).revision == 1


async def test_a_stopped_committer_can_be_started_again(committer: GroupCommitter) -> None:
    await asyncio.to_thread(committer.stop)
    committer.start()

    assert (await committer.submit(create("a"))).revision == 1


async def test_a_write_whose_caller_left_before_it_began_is_not_carried_out(
    committer: GroupCommitter, readers: Readers
) -> None:
    hold = Hold()
    first = asyncio.ensure_future(committer.submit(create("a", guard=hold)))
    await hold.begun()
    left = asyncio.ensure_future(committer.submit(create("b")))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.sleep(0)
    hold.let_go()
    await first
    await committer.submit(create("c"))

    assert [change.name for change in await readers.run(reads.changes, 0, 10)] == ["a", "c"]


async def test_a_large_crowd_is_split_into_groups(committer: GroupCommitter) -> None:
    changes = await asyncio.gather(*(committer.submit(create(f"p{n}")) for n in range(600)))

    assert list(range(1, 601)) == [change.revision for change in changes]
    assert committer.statistics().groups == 3


async def test_seconds_are_counted_by_the_clock_that_was_given(committer: GroupCommitter) -> None:
    clock = committer._clock

    def guard(_: Transaction) -> None:
        clock.set(clock.now() + 5)  # type: ignore[attr-defined]

    await committer.submit(create("a", guard=guard))

    assert committer.statistics().transaction_seconds == 5
    assert committer.statistics().commit_seconds == 0


async def test_groups_and_other_writers_take_turns(
    committer: GroupCommitter, readers: Readers
) -> None:
    def others() -> None:
        for n in range(30):
            write(create(f"other-{n}"))
        connection.close()

    thread = asyncio.to_thread(others)
    ours = (committer.submit(create(f"ours-{n}")) for n in range(60))
    await asyncio.gather(thread, *ours)

    assert (await readers.run(reads.head)).current == 90
    await readers.run(log_is_whole)
