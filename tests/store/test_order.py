"""Revision order is commit order: a transaction held open holds back every later number."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from listwatch.store import reads
from listwatch.store.writes import write
from tests.store.helpers import create, log_is_whole

pytestmark = pytest.mark.usefixtures("store")


class Thread:
    """A function in a thread, with its connection closed and its error raised at the end."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self) -> None:
        self._thread.join(20)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._function()
        except BaseException as error:
            self._error = error
        finally:
            connection.close()


@pytest.mark.parametrize("commits", [True, False])
def test_the_next_number_is_not_seen_before_the_one_held_open(commits: bool) -> None:
    begun, go_on, second_begun = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with transaction.atomic():
            write(create("first"))
            begun.set()
            assert go_on.wait(10)
            transaction.set_rollback(not commits)

    def second() -> None:
        second_begun.set()
        write(create("second"))

    one = Thread(first)
    assert begun.wait(10)
    two = Thread(second)
    assert second_begun.wait(10)
    seen = [[row.revision for row in reads.changes(0, 10)] for _ in range(50)]

    assert seen == [[]] * 50
    assert two.running
    go_on.set()
    one.join()
    two.join()
    names = ["first", "second"] if commits else ["second"]
    assert names == [row.name for row in reads.changes(0, 10)]
    log_is_whole()


def test_a_reader_of_the_log_sees_it_grow_without_a_gap_while_many_write() -> None:
    """Transactions of several writes, some rolled back, from four threads."""
    done = threading.Event()
    seen: list[list[int]] = []

    def writer(number: int) -> Callable[[], None]:
        def run() -> None:
            for n in range(12):
                with transaction.atomic():
                    write(create(f"a{number}-{n}"))
                    with transaction.atomic():
                        write(create(f"b{number}-{n}"))
                        transaction.set_rollback(n % 3 == 0)
                    write(create(f"c{number}-{n}"))
                    if n % 4 == 0:
                        transaction.set_rollback(True)

        return run

    def reader() -> None:
        while not done.is_set():
            seen.append([row.revision for row in reads.changes(0, 1000)])

    watching = Thread(reader)
    writers = [Thread(writer(number)) for number in range(4)]
    for thread in writers:
        thread.join()
    done.set()
    watching.join()

    assert len(seen) > 3
    for revisions in seen:
        assert revisions == list(range(1, len(revisions) + 1))
    assert reads.head().current == 4 * sum(2 + (n % 3 != 0) for n in range(12) if n % 4 != 0)
    log_is_whole()
