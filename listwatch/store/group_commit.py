"""Group commit: writes that come together share one transaction, and one fsync.

The registry submits, `transactions` carries each write out, and `signals` tells of the group. The
answers go back to the registry.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import sleep
from typing import NamedTuple

from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from listwatch.protocol.clock import Clock, SystemClock
from listwatch.protocol.versions import Change
from listwatch.store.company import SLICE, SLICES, Company
from listwatch.store.locked_log import locked_log
from listwatch.store.members import Members, TryAgainCarefully
from listwatch.store.operations import Operation, StoreUnavailable, WriteConflict
from listwatch.store.signals import announce, notify

logger = logging.getLogger(__name__)

MAXIMUM_GROUP = 256  # members: bounds how long the log stays locked, and what one failure takes


@dataclass(frozen=True, slots=True)
class CommitStatistics:
    """What the committer has done so far."""

    groups: int = 0  # transactions that were committed
    writes: int = 0  # changes in them
    conflicts: int = 0  # members refused because the store was not as they expected
    refusals: int = 0  # members refused by their guard
    failures: int = 0  # members that were lost with their whole group
    largest_group: int = 0  # members in one transaction, at most
    waiting: int = 0  # members that are not in a transaction yet
    reconnections: int = 0  # connections that broke and were replaced
    rollbacks: int = 0  # groups that were carried out again, with savepoints
    transaction_seconds: float = 0.0  # inside transactions, their commits included
    commit_seconds: float = 0.0  # of these, in COMMIT
    revision: int = 0  # the newest revision that was committed here


class _Member(NamedTuple):
    operation: Operation
    answer: asyncio.Future[Change]


class _ConnectionLostError(Exception):
    """The connection broke before COMMIT: nothing was written, and all can be done again."""


_FROM_DATABASE = (DatabaseError, InterfaceError, TryAgainCarefully)


@dataclass(slots=True)
class _Counts:
    groups: int = 0
    writes: int = 0
    conflicts: int = 0
    refusals: int = 0
    failures: int = 0
    largest_group: int = 0
    reconnections: int = 0
    rollbacks: int = 0
    transaction_seconds: float = 0.0
    commit_seconds: float = 0.0
    revision: int = 0
    taken: int = 0  # members that have been put into a transaction


class GroupCommitter:
    """Carries out operations in a thread and on a connection of its own, many in one transaction.

    Promises: what one member is refused for touches no other, if need be by carrying the group out
    again; every member, refused ones included, is answered after COMMIT, since a refusal may rest
    on what an earlier member of the same group wrote; if COMMIT fails, all fail with
    StoreUnavailable.
    Members are carried out in the order in which they were submitted. A lone write waits for
    nobody: a group is what came in while the one before was being committed, and among many
    writers those who come within a few milliseconds after it (`company`). A connection that
    breaks before COMMIT is replaced, and the group is carried out again.

    `start` and `submit` belong to one event loop; `stop` is for another thread, since it waits.
    """

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock: Clock = clock or SystemClock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # over the next three, held for no more than moving a list
        self._gathered: list[_Member] = []
        self._submitted = 0
        self._closed = True
        self._queue: queue.SimpleQueue[list[_Member] | None] = queue.SimpleQueue()
        self._counts = _Counts()

    def start(self) -> None:
        """Begin to take writes, in the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="group commit", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no more writes, answer those that were taken, and wait for the thread's end.

        Not to be called in the event loop.
        """
        with self._lock:
            self._closed = True
        self._hand_over()
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join()

    async def submit(self, operation: Operation) -> Change:
        """Carry out one operation; returns when it is durable.

        Raises AlreadyStored, NotStored, RevisionMoved, what the guard raised, or StoreUnavailable.
        If the caller is cancelled, the write may be carried out or not.
        """
        loop = self._loop
        with self._lock:
            if self._closed or loop is None:
                raise StoreUnavailable("the store takes no writes: it is not running")
            answer: asyncio.Future[Change] = loop.create_future()
            self._gathered.append(_Member(operation, answer))
            self._submitted += 1
            first = len(self._gathered) == 1
        if first:
            # At the end of this turn of the loop: all who submit in it are handed over together.
            loop.call_soon(self._hand_over)
        return await answer

    def statistics(self) -> CommitStatistics:
        """What has been done so far."""
        counts = self._counts
        return CommitStatistics(
            groups=counts.groups,
            writes=counts.writes,
            conflicts=counts.conflicts,
            refusals=counts.refusals,
            failures=counts.failures,
            largest_group=counts.largest_group,
            waiting=self._submitted - counts.taken,
            reconnections=counts.reconnections,
            rollbacks=counts.rollbacks,
            transaction_seconds=counts.transaction_seconds,
            commit_seconds=counts.commit_seconds,
            revision=counts.revision,
        )

    def _hand_over(self) -> None:
        with self._lock:
            members, self._gathered = self._gathered, []
        if members:
            self._queue.put(members)

    # From here on: in the thread.

    def _run(self) -> None:
        try:
            waiting: deque[_Member] = deque()
            company = Company()
            open_ = True
            while open_ or waiting:
                open_ = self._gather(waiting, wait=open_ and not waiting) and open_
                for _ in range(SLICES):
                    if not (open_ and company.is_awaited(len(waiting), self._clock.monotonic())):
                        break
                    sleep(SLICE)  # of this thread alone
                    open_ = self._gather(waiting, wait=False)
                members = [waiting.popleft() for _ in range(min(len(waiting), MAXIMUM_GROUP))]
                self._counts.taken += len(members)
                # Nobody waits for these any more, and nothing was begun.
                members = [member for member in members if not member.answer.cancelled()]
                if members:
                    self._carry_out(members)
                    open_ = self._gather(waiting, wait=False) and open_
                    company.note(len(members), len(waiting), self._clock.monotonic())
        finally:
            connections[DEFAULT_DB_ALIAS].close()

    def _gather(self, waiting: deque[_Member], *, wait: bool) -> bool:
        """Take what has been handed over; False if that was the last."""
        while True:
            try:
                members = self._queue.get(block=wait)
            except queue.Empty:
                return True
            if members is None:
                return False
            waiting.extend(members)
            wait = False

    def _carry_out(self, members: Sequence[_Member]) -> None:
        counts = self._counts
        begun = self._clock.monotonic()
        outcomes: Sequence[Change | Exception]
        try:
            outcomes = self._transact_again(members)
        except BaseException as error:  # noqa: BLE001 (handed to those who wait; the thread lives on)
            outcomes = [_unavailable(error) for _ in members]
            logger.error("a group of %d writes failed: %s", len(members), outcomes[0])
            counts.failures += len(members)
            _discard(connections[DEFAULT_DB_ALIAS])
        else:
            self._count(outcomes)
        counts.transaction_seconds += self._clock.monotonic() - begun
        counts.largest_group = max(counts.largest_group, len(members))
        # If the loop is closed, nobody waits any more.
        with suppress(RuntimeError):
            members[0].answer.get_loop().call_soon_threadsafe(_answer, members, outcomes)

    def _count(self, outcomes: Sequence[Change | Exception]) -> None:
        counts = self._counts
        for outcome in outcomes:
            if isinstance(outcome, Change):
                counts.writes += 1
                counts.revision = outcome.revision
            elif isinstance(outcome, WriteConflict):
                counts.conflicts += 1
            else:
                counts.refusals += 1
        counts.groups += 1

    def _transact_again(self, members: Sequence[_Member]) -> Sequence[Change | Exception]:
        operations = [member.operation for member in members]
        try:
            return self._transact(operations)
        except _ConnectionLostError as lost:
            logger.warning("the database connection broke; connecting again: %s", lost.__cause__)
            self._counts.reconnections += 1
            _discard(connections[DEFAULT_DB_ALIAS])
        except TryAgainCarefully:
            self._counts.rollbacks += 1
        return self._transact(operations, carefully=True)

    def _transact(
        self, operations: Sequence[Operation], *, carefully: bool = False
    ) -> Sequence[Change | Exception]:
        """One transaction; raises if it was not committed."""
        connection = connections[DEFAULT_DB_ALIAS]
        outcomes: list[Change | Exception] = []
        changes: list[Change] = []
        begun = committed = 0.0
        raw = None

        def on_commit() -> None:
            nonlocal committed
            committed = self._clock.monotonic()
            self._counts.commit_seconds += committed - begun
            announce(changes)

        try:
            connection.ensure_connection()
            raw = connection.connection
            with transaction.atomic(durable=True), connection.cursor() as cursor:
                # Before any callback of a guard's: what that does cannot undo the commit.
                transaction.on_commit(on_commit, robust=True)
                with connection.wrap_database_errors, locked_log(cursor, len(operations)) as log:
                    members = Members(cursor, log, self._clock.now())
                    run = members.carefully if carefully else members.tried
                    outcomes.extend(run(operations))
                    changes.extend(members.changes)
                if changes:
                    notify(cursor, changes[-1].revision)
                begun = self._clock.monotonic()
        except Exception as error:
            if committed:
                logger.exception("a callback failed after its commit")
                return outcomes
            # Leaving the block may have made a new connection of a broken one.
            broken = connection.connection is not raw or not connection.is_usable()
            if not begun and broken and isinstance(error, _FROM_DATABASE):
                raise _ConnectionLostError from error
            raise
        return outcomes


def _answer(members: Sequence[_Member], outcomes: Sequence[Change | Exception]) -> None:
    for member, outcome in zip(members, outcomes, strict=True):
        if member.answer.done():
            continue
        if isinstance(outcome, Exception):
            member.answer.set_exception(outcome)
        else:
            member.answer.set_result(outcome)


def _unavailable(error: BaseException) -> StoreUnavailable:
    cause = error.__cause__ if isinstance(error, _ConnectionLostError) else error
    unavailable = StoreUnavailable(f"the write could not be committed: {cause}")
    unavailable.__cause__ = cause
    return unavailable


def _discard(connection: BaseDatabaseWrapper) -> None:
    try:
        connection.close()
    except Exception:  # noqa: BLE001 (it is broken: that is why it goes)
        connection.connection = None
