"""Many writers are waited for a little, since together they are quicker; a lone one never is."""

from __future__ import annotations

import asyncio
import time

import pytest

from listwatch.protocol.versions import Change
from listwatch.store import group_commit
from listwatch.store.company import SLICES, Company
from listwatch.store.group_commit import GroupCommitter
from tests.store.helpers import create


def test_those_who_were_answered_just_now_are_awaited_until_most_have_come() -> None:
    company = Company()
    company.note(members=5, waiting=3, now=100.0)

    assert [company.is_awaited(waiting, 100.001) for waiting in (1, 5, 6, 8)] == [
        True, True, False, False,
    ]  # fmt: skip


def test_nobody_is_awaited_for_long() -> None:
    company = Company()
    company.note(members=8, waiting=0, now=100.0)

    assert company.is_awaited(1, 100.005)
    assert not company.is_awaited(1, 100.02)


@pytest.mark.parametrize(("members", "waiting"), [(1, 0), (1, 1), (2, 1)])
def test_few_writers_gain_nothing_by_waiting(members: int, waiting: int) -> None:
    company = Company()
    assert not company.is_awaited(0, 100.0)
    company.note(members, waiting, now=100.0)

    assert not company.is_awaited(0, 100.0)


@pytest.mark.usefixtures("store")
async def test_writers_who_come_back_while_they_are_awaited_share_a_transaction(
    committer: GroupCommitter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.gather(*(committer.submit(create(f"a{n}")) for n in range(4)))
    loop = asyncio.get_running_loop()
    late: list[asyncio.Future[list[Change]]] = []

    def come(_: float) -> None:  # in the committer's thread, instead of its sleep
        if late:
            return

        async def submit() -> list[Change]:
            return await asyncio.gather(*(committer.submit(create(f"c{n}")) for n in range(3)))

        late.append(
            asyncio.wrap_future(asyncio.run_coroutine_threadsafe(submit(), loop), loop=loop)
        )
        until = time.monotonic() + 5
        while committer.statistics().waiting < 4 and time.monotonic() < until:
            time.sleep(0.001)
        # Handed over at the end of their turn of the loop.
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(5)

    monkeypatch.setattr(group_commit, "sleep", come)
    before = committer.statistics().groups
    await committer.submit(create("b"))
    await late[0]

    assert committer.statistics().groups == before + 1
    assert committer.statistics().largest_group == 4


@pytest.mark.usefixtures("store")
async def test_who_waits_in_vain_waits_for_a_few_slices(
    committer: GroupCommitter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.gather(*(committer.submit(create(f"a{n}")) for n in range(4)))
    slept: list[float] = []
    monkeypatch.setattr(group_commit, "sleep", slept.append)
    for n in range(3):
        await committer.submit(create(f"b{n}"))

    assert len(slept) <= SLICES  # for the first of them; by then it is known that they are gone


@pytest.mark.usefixtures("store")
async def test_a_lone_writer_is_not_kept_waiting(
    committer: GroupCommitter, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(group_commit, "sleep", slept.append)
    for n in range(20):
        await committer.submit(create(f"a{n}"))

    assert slept == []
