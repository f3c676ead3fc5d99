"""Reads: as of any retained revision, in byte order, whole or refused."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from listwatch.protocol.kinds import GroupResource
from listwatch.store import reads
from listwatch.store.compaction import compact
from listwatch.store.reads import Compacted, HeadState
from listwatch.store.writes import Create, write
from listwatch.testing.clock import FakeClock
from tests.store.helpers import NODES, PODS, body, create, delete, update

pytestmark = pytest.mark.usefixtures("store")


def keys(revision: int, **kwargs: object) -> list[str]:
    rows = reads.state_at(PODS, revision, **kwargs)  # type: ignore[arg-type]
    return [f"{row.namespace}/{row.name}@{row.revision}" for row in rows]


def test_an_empty_store_is_at_revision_0() -> None:
    assert reads.head() == HeadState(0, 0)
    assert reads.get(PODS, "ns", "a") is None
    assert list(reads.objects()) == []
    assert reads.changes(0, 10) == []
    assert reads.state_at(PODS, 0) == []
    assert reads.group_resources() == set()


def test_the_state_at_each_revision_is_what_it_was_then() -> None:
    write(create("a"))
    write(create("b"))
    write(update("a", 1))
    write(delete("b", 2))
    write(create("b"))

    assert [keys(revision) for revision in range(7)] == [
        [],
        ["ns/a@1"],
        ["ns/a@1", "ns/b@2"],
        ["ns/a@3", "ns/b@2"],
        ["ns/a@3"],
        ["ns/a@3", "ns/b@5"],
        ["ns/a@3", "ns/b@5"],
    ]


def test_keys_come_in_byte_order_whatever_the_language_of_the_database() -> None:
    names = ["a", "B", "a.b", "a-b", "aa", "Z", "é", "\U0001f600", "\ufffd"]
    for name in names:
        write(create(name, namespace="a"))
        write(create(name, namespace="a-b"))

    in_order = sorted((f"{ns}/{name}" for ns in ("a", "a-b") for name in names), key=str.encode)
    assert in_order == [f"{row.namespace}/{row.name}" for row in reads.state_at(PODS, 100)]
    assert in_order == [f"{row.namespace}/{row.name}" for row in reads.objects(PODS)]


def test_pages_meet_without_gap_or_overlap() -> None:
    for n in range(7):
        write(create(f"p{n}"))
    write(create("p9"))
    read: list[str] = []
    after = ""
    while page := reads.state_at(PODS, 7, after_key=after, limit=3):
        read += [row.name for row in page]
        after = f"ns/{page[-1].name}"

    assert [f"p{n}" for n in range(7)] == read


def test_a_page_is_full_however_many_deletions_lie_in_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reads, "_BATCH", 8)
    for n in range(30):
        write(create(f"p{n:02}"))
    for n in range(1, 28):
        write(delete(f"p{n:02}", n + 1))

    assert [row.name for row in reads.state_at(PODS, 57, limit=2)] == ["p00", "p28"]
    assert [row.name for row in reads.state_at(PODS, 57, limit=9)] == ["p00", "p28", "p29"]


@pytest.mark.parametrize("prefix", ["ns", "ns/"])
def test_a_namespace_never_matches_another_that_begins_like_it(prefix: str) -> None:
    for namespace in ("ns", "ns2", "ns-2", "ns.2", "n"):
        write(create("a", namespace=namespace))

    assert keys(9, prefix=prefix) == ["ns/a@1"]
    assert keys(9, prefix=prefix, after_key="ns/a") == []
    assert keys(9, prefix=prefix, after_key="a") == ["ns/a@1"]


def test_resources_are_kept_apart() -> None:
    write(create("a"))
    write(Create(NODES, "", "a", "u", body()))
    write(Create(GroupResource("pods", ""), "", "ns", "u", body()))

    assert [row.name for row in reads.state_at(PODS, 3)] == ["a"]
    assert [(row.namespace, row.name) for row in reads.state_at(NODES, 3)] == [("", "a")]
    assert [row.revision for row in reads.changes(0, 10, NODES)] == [2]
    assert {PODS, NODES, GroupResource("pods", "")} == reads.group_resources()
    assert len(list(reads.objects())) == 3


def test_a_resource_whose_objects_are_gone_is_known_while_its_log_is() -> None:
    write(create("a"))
    write(delete("a", 1))

    assert reads.group_resources() == {PODS}
    compact(2)
    assert reads.group_resources() == set()


def test_changes_are_those_behind_a_revision_and_up_to_another() -> None:
    for n in range(6):
        write(create(f"p{n}"))

    def found(after: int, limit: int, until: int | None = None) -> list[int]:
        return [row.revision for row in reads.changes(after, limit, until=until)]

    assert found(2, 10) == [3, 4, 5, 6]
    assert found(2, 2) == [3, 4]
    assert found(2, 10, until=5) == [3, 4, 5]
    assert found(6, 10) == []
    assert [row.revision for row in reads.at_revisions([5, 2, 5, 99])] == [2, 5]
    assert reads.at_revisions([]) == []


def test_below_the_compacted_revision_everything_is_refused() -> None:
    write(create("a"))
    write(update("a", 1))
    write(update("a", 2))
    compact(2)

    assert keys(2) == ["ns/a@2"]
    assert [row.revision for row in reads.changes(2, 10)] == [3]
    refused_reads: list[Callable[[], object]] = [
        lambda: reads.state_at(PODS, 1),
        lambda: reads.changes(1, 10),
        lambda: reads.changes(0, 10, NODES),
    ]
    for read in refused_reads:
        with pytest.raises(Compacted) as refused:
            read()

        assert refused.value.oldest == 2


def test_a_compaction_amid_a_reading_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are read, and only then is it asked whether they were whole."""
    write(create("a"))
    write(update("a", 1))
    fetch = reads._fetch
    compacted: list[int] = []

    def fetch_late(query: str, parameters: object) -> object:
        if "GROUP BY key" in query:
            compacted.append(compact(2))
        return fetch(query, parameters)  # type: ignore[arg-type]

    monkeypatch.setattr(reads, "_fetch", fetch_late)
    with pytest.raises(Compacted):
        reads.state_at(PODS, 1)

    assert compacted == [1]


def test_the_youngest_revision_before_a_moment_is_found(clock: FakeClock) -> None:
    times = []
    for n in range(40):
        clock.set(clock.now() + 10)
        times.append(clock.now())
        write(create(f"p{n}"), clock=clock)
    compact(5)

    for n in range(5, 40):
        assert reads.youngest_before(times[n]) == max(n, 5)
        assert reads.youngest_before(times[n] + 1) == n + 1
    assert reads.youngest_before(0) == 5


def test_the_floor_of_a_ring_is_bounded_by_time_bytes_and_compaction(clock: FakeClock) -> None:
    start = clock.now()
    for n in range(10):
        write(create(f"p{n}"), clock=clock)
        clock.set(clock.now() + 1)
    size = len(body("p0").body)

    assert reads.floor_since(start, 10**9) == 0
    assert reads.floor_since(start + 4, 10**9) == 4
    assert reads.floor_since(start, size * 3) == 7
    assert reads.floor_since(start, size * 3 - 1) == 8
    assert reads.floor_since(start, size * 10) == 0
    compact(6)
    assert reads.floor_since(start, 10**9) == 6
    assert reads.floor_since(start + 99, 10**9) == 10


def test_a_snapshot_shows_one_revision_while_others_write() -> None:
    write(create("a"))

    def other() -> None:
        write(create("b"))
        connection.close()

    with reads.snapshot() as head:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

        assert head == HeadState(1, 0)
        assert [stored.name for stored in reads.objects()] == ["a"]
        assert [change.revision for change in reads.changes(0, 10)] == [1]
    assert [stored.name for stored in reads.objects()] == ["a", "b"]


def test_a_snapshot_inside_a_transaction_is_refused() -> None:
    with transaction.atomic(), pytest.raises(RuntimeError), reads.snapshot():
        pass


def test_batches_of_objects_miss_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "_BATCH", 3)
    for n in range(7):
        write(create(f"p{n}"))

    assert [f"p{n}" for n in range(7)] == [stored.name for stored in reads.objects()]
    assert list(range(1, 8)) == [row.revision for row in reads.at_revisions(range(1, 8))]
    assert reads.floor_since(0, 10**9) == 0
