"""The writing transaction: swap and log in one, numbers without gaps, nothing past the log."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction

from listwatch.protocol.versions import Change, ChangeType
from listwatch.store import reads
from listwatch.store.models import Change as ChangeRow
from listwatch.store.models import Head, StoredObject
from listwatch.store.signals import changes_committed
from listwatch.store.transactions import Transaction
from listwatch.store.writes import AlreadyStored, Create, NotStored, RevisionMoved, write
from listwatch.testing.clock import FakeClock
from tests.store.helpers import PODS, body, create, delete, log_is_whole, update

pytestmark = pytest.mark.usefixtures("store")


class RefusedError(Exception):
    pass


def refuse(_: Transaction) -> None:
    raise RefusedError


def test_a_create_is_stored_and_logged_under_the_first_number(clock: FakeClock) -> None:
    change = write(create("a"), clock=clock)

    assert change == Change(
        1, PODS, "ns", "a", "uid-a", ChangeType.ADDED, body("a"), 0, clock.now()
    )
    stored = reads.get(PODS, "ns", "a")
    assert stored is not None
    assert (stored.uid, stored.revision, stored.encoded) == ("uid-a", 1, body("a"))
    assert reads.changes(0, 10) == [change]


def test_each_change_names_the_revision_before_it_and_keeps_the_uid() -> None:
    write(create("a"))
    write(update("a", 1, n=1))
    write(delete("a", 2))
    write(create("a"))

    assert [(change.previous_revision, str(change.type)) for change in reads.changes(0, 10)] == [
        (0, "ADDED"),
        (1, "MODIFIED"),
        (2, "DELETED"),
        (0, "ADDED"),
    ]
    assert {"uid-a"} == {change.uid for change in reads.changes(0, 10)}


def test_a_key_that_is_taken_is_refused_with_what_is_stored_there() -> None:
    write(create("a"))
    with pytest.raises(AlreadyStored) as refused:
        write(create("a"))

    assert refused.value.stored == reads.get(PODS, "ns", "a")


def test_an_update_of_an_old_revision_is_refused_with_the_current_one() -> None:
    write(create("a"))
    write(update("a", 1, n=1))
    for operation in (update("a", 1, n=2), delete("a", 1)):
        with pytest.raises(RevisionMoved) as refused:
            write(operation)

        assert refused.value.current == reads.get(PODS, "ns", "a")


def test_what_is_not_stored_can_be_neither_updated_nor_deleted() -> None:
    for operation in (update("a", 1), delete("a", 1)):
        with pytest.raises(NotStored):
            write(operation)


def test_a_refused_write_burns_no_number() -> None:
    write(create("a"))
    for operation in (create("a"), update("a", 7), delete("b", 1), create("c", guard=refuse)):
        with pytest.raises((AlreadyStored, RevisionMoved, NotStored, RefusedError)):
            write(operation)

    assert write(create("d")).revision == 2
    log_is_whole()


def test_a_savepoint_rolled_back_gives_its_numbers_to_the_next_write() -> None:
    with transaction.atomic():
        write(create("a"))
        with transaction.atomic():
            write(create("b"))
            write(create("c"))
            transaction.set_rollback(True)
        write(create("d"))

    assert [(c.name, c.revision) for c in reads.changes(0, 10)] == [("a", 1), ("d", 2)]
    log_is_whole()


def test_a_guard_sees_the_transaction_and_may_write_in_it() -> None:
    seen: list[object] = []

    def guard(opened: Transaction) -> None:
        seen.append(opened.get(PODS, "ns", "a"))
        seen.append(opened.count(None, "ns"))
        seen.append(opened.count(PODS, "ns"))
        seen.append(opened.count(PODS, "ns2"))
        opened.write(create("c"))

    write(create("a"))
    write(create("a", namespace="ns2"))
    change = write(create("b", guard=guard))

    assert [reads.get(PODS, "ns", "a"), 1, 1, 1] == seen
    assert {"b", "c"} == {c.name for c in reads.changes(2, 10)}
    assert change.name == "b"
    log_is_whole()


def test_the_count_of_a_namespace_holds_for_no_other_that_begins_like_it() -> None:
    write(create("a", namespace="ns2"))
    write(create("a", namespace="ns-2"))
    counts: list[int] = []

    def guard(opened: Transaction) -> None:
        counts.extend([opened.count(None, "ns"), opened.count(PODS, "ns")])

    write(create("b", namespace="other", guard=guard))

    assert counts == [0, 0]


@pytest.mark.parametrize("name", ["", "a/b", "a\0"])
def test_a_name_that_cannot_be_a_key_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no object can have the key"):
        Create(PODS, "ns", name, "uid", body())


def test_the_signal_tells_of_what_was_committed_and_of_nothing_else() -> None:
    heard: list[str] = []

    def hear(changes: list[Change], **_: object) -> None:
        heard.extend(change.name for change in changes)

    def fail(**_: object) -> None:
        raise RefusedError

    changes_committed.connect(fail)
    changes_committed.connect(hear)
    try:
        with pytest.raises(AlreadyStored):
            [write(create("a")), write(create("a"))]
        with transaction.atomic():
            write(create("b"))
            transaction.set_rollback(True)
        with transaction.atomic():
            write(create("c"))
            with transaction.atomic():
                write(create("d"))
                transaction.set_rollback(True)
            assert heard == ["a"]
    finally:
        changes_committed.disconnect(fail)
        changes_committed.disconnect(hear)

    assert heard == ["a", "c"]


def test_saving_and_deleting_models_goes_through_the_log() -> None:
    encoded = body("a")
    stored = StoredObject.objects.create(
        resource="pods", namespace="ns", name="a", uid="u", body=encoded.body, splice=encoded.splice
    )
    stale = StoredObject.objects.get(name="a")
    stored.body = body("a", n=2).body
    stored.save()
    with pytest.raises(RevisionMoved):
        stale.save()
    stored.delete()

    assert [str(c.type) for c in reads.changes(0, 10)] == ["ADDED", "MODIFIED", "DELETED"]
    assert not StoredObject.objects.exists()
    log_is_whole()


def test_deleting_a_queryset_logs_each_object_or_none() -> None:
    for name in "abc":
        write(create(name))

    assert StoredObject.objects.exclude(name="c").delete() == (
        2,
        {"listwatch_store.StoredObject": 2},
    )
    assert [c.name for c in reads.changes(3, 10)] == ["a", "b"]
    log_is_whole()


def test_what_would_write_past_the_log_names_the_call_to_use() -> None:
    write(create("a"))
    stored = StoredObject.objects.get()
    row, head = ChangeRow.objects.get(), Head.objects.get()
    calls: list[Callable[[], object]] = [
        lambda: StoredObject.objects.update(uid="x"),
        lambda: StoredObject.objects.bulk_create([]),
        lambda: StoredObject.objects.bulk_update([stored], ["uid"]),
        lambda: stored.save_base(raw=True),
        lambda: stored.save(update_fields=["uid"]),
        lambda: ChangeRow.objects.create(revision=5),
        lambda: ChangeRow.objects.all().delete(),
        lambda: ChangeRow.objects.update(uid="x"),
        row.save,
        row.delete,
        head.save,
        head.delete,
        lambda: Head.objects.update(current=3),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"listwatch\.store\.|writes the whole object|Head"):
            call()
    log_is_whole()
