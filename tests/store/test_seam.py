"""Ordinary models over the same log: what is done to a row is done to its object, or neither."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from pytest_django.fixtures import Settings

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import decode
from listwatch.store import reads
from listwatch.store.seam import Registration, register_model
from listwatch.testing.clock import FakeClock
from tests.store.helpers import log_is_whole
from tests.store.shop.models import Book, Label, Shelf, Volume, book_object

BOOKS = GroupResource("shop.example", "books")


@pytest.fixture(autouse=True)
def books(store: None, settings: Settings, clock: FakeClock) -> Iterator[Registration[Book]]:
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.store.shop"]
    tables = [Shelf, Label, Book]
    with connection.schema_editor() as editor:
        for model in tables:
            editor.create_model(model)
    registration = register_model(Book, BOOKS, book_object, clock=clock)
    Shelf.objects.create(name="top")
    yield registration
    registration.disconnect()
    with connection.schema_editor() as editor:
        for model in reversed(tables):
            editor.delete_model(model)


def log() -> list[str]:
    log_is_whole()
    return [f"{row.type} {row.namespace}/{row.name}" for row in reads.changes(0, 100, BOOKS)]


def spec(slug: str, shelf: str = "top") -> object:
    stored = reads.get(BOOKS, shelf, slug)
    return None if stored is None else decode(stored.encoded, stored.revision)["spec"]


def book(slug: str, **fields: object) -> Book:
    made = Book(shelf=Shelf.objects.get(name="top"), slug=slug, **fields)
    made.save()
    return made


def test_saves_and_deletes_are_logged_with_the_row(clock: FakeClock) -> None:
    made = book("a")
    first = reads.get(BOOKS, "top", "a")
    assert first is not None
    clock.set(clock.now() + 100)
    made.price = 5
    made.save()
    second = reads.get(BOOKS, "top", "a")
    assert second is not None
    made.delete()

    assert log() == ["ADDED top/a", "MODIFIED top/a", "DELETED top/a"]
    assert spec("a") is None
    one, two = (decode(each.encoded, each.revision) for each in (first, second))
    assert two["spec"] == {"price": 5, "label": None}
    assert one["metadata"]["resourceVersion"] == "1"
    assert one["metadata"]["uid"] == two["metadata"]["uid"] == first.uid
    assert one["metadata"]["creationTimestamp"] == two["metadata"]["creationTimestamp"]


def test_what_the_database_has_is_logged_not_what_the_instance_says() -> None:
    made = book("a", price=1)
    made.price = F("price") + 1
    made.save()
    made.slug, made.price = "never-saved", 7
    made.save(update_fields=["price"])
    made.slug = "never-saved-either"
    made.delete()

    assert log() == ["ADDED top/a", "MODIFIED top/a", "MODIFIED top/a", "DELETED top/a"]


def test_a_save_that_changes_nothing_of_the_object_makes_no_change() -> None:
    made = book("a")
    made.save()

    assert log() == ["ADDED top/a"]
    assert reads.head().current == 1


def test_a_new_name_is_another_object() -> None:
    made = book("a")
    made.slug = "b"
    made.save()

    assert log() == ["ADDED top/a", "DELETED top/a", "ADDED top/b"]


def test_a_row_may_have_no_object() -> None:
    made = book("a", secret=True)
    assert log() == []
    made.secret = False
    made.save()
    made.secret = True
    made.save()
    made.delete()

    assert log() == ["ADDED top/a", "DELETED top/a"]


def test_update_or_create_and_get_or_create_are_logged() -> None:
    shelf = Shelf.objects.get()
    Book.objects.update_or_create(slug="a", defaults={"shelf": shelf, "price": 1})
    Book.objects.update_or_create(slug="a", defaults={"price": 2})
    Book.objects.get_or_create(slug="a", defaults={"price": 3})
    shelf.books.create(slug="b")  # type: ignore[attr-defined]  # not installed for mypy

    assert log() == ["ADDED top/a", "MODIFIED top/a", "ADDED top/b"]


def test_a_cascade_is_logged() -> None:
    book("a")
    book("b")
    Shelf.objects.get().delete()

    assert sorted(log()[2:]) == ["DELETED top/a", "DELETED top/b"]


def test_deleting_a_queryset_or_by_a_proxy_is_logged() -> None:
    for slug in "abc":
        book(slug)
    Book.objects.filter(slug__in="ab").delete()
    Volume.objects.get(slug="c").delete()

    assert sorted(log()[3:]) == ["DELETED top/a", "DELETED top/b", "DELETED top/c"]


def test_saving_by_a_proxy_is_logged() -> None:
    book("a")
    volume = Volume.objects.get()
    volume.price = 4
    volume.save()

    assert log() == ["ADDED top/a", "MODIFIED top/a"]


def test_updates_of_many_rows_are_logged_row_by_row() -> None:
    books = [book(slug, price=n) for n, slug in enumerate("abc")]
    assert Book.objects.filter(price__gt=0).update(price=F("price") + 1) == 2
    books[0].price = 9
    Book.objects.bulk_update(books[:1], ["price"])
    Shelf.objects.get().books.update(price=3)  # type: ignore[attr-defined]
    Book.objects.cheap().filter(slug="c").update(slug="d")

    assert sorted(log()[3:5]) == ["MODIFIED top/b", "MODIFIED top/c"]
    assert log()[5] == "MODIFIED top/a"
    assert sorted(log()[6:8]) == ["MODIFIED top/a", "MODIFIED top/b"]  # c had that price
    assert log()[8:] == ["DELETED top/c", "ADDED top/d"]


def test_names_that_rows_exchange_stay_objects() -> None:
    one, two = book("a", price=1), book("b", price=2)
    with transaction.atomic():
        Book.objects.filter(pk=one.pk).update(slug="x")
        Book.objects.filter(pk=two.pk).update(slug="a")
        Book.objects.filter(pk=one.pk).update(slug="b")

    assert spec("a") == {"price": 2, "label": None}
    assert spec("b") == {"price": 1, "label": None}
    log_is_whole()


def test_bulk_create_is_logged_and_refused_where_it_would_not_tell() -> None:
    shelf = Shelf.objects.get()
    Book.objects.bulk_create([Book(shelf=shelf, slug=slug) for slug in "ab"])

    assert sorted(log()) == ["ADDED top/a", "ADDED top/b"]
    with pytest.raises(Exception, match="update_or_create"):
        Book.objects.bulk_create([Book(shelf=shelf, slug="a")], ignore_conflicts=True)


def test_a_foreign_key_set_to_null_by_a_deletion_is_logged() -> None:
    label = Label.objects.create(text="new")
    book("a", label=label)
    book("b")
    assert spec("a") == {"price": 0, "label": "new"}
    label.delete()

    assert spec("a") == {"price": 0, "label": None}
    assert log() == ["ADDED top/a", "ADDED top/b", "MODIFIED top/a"]


def test_a_savepoint_rolled_back_takes_row_and_log_back() -> None:
    with transaction.atomic():
        book("a")
        with transaction.atomic():
            book("b")
            transaction.set_rollback(True)
        with pytest.raises(IntegrityError), transaction.atomic():
            book("a")
        book("c")

    assert [each.slug for each in Book.objects.order_by("slug")] == ["a", "c"]
    assert log() == ["ADDED top/a", "ADDED top/c"]
    assert reads.head().current == 2


def test_a_row_that_cannot_be_logged_is_not_saved() -> None:
    with pytest.raises(ValueError, match="no object can have the key"):
        book("a/b")

    assert not Book.objects.exists()
    assert reads.head().current == 0


def test_reconciling_repairs_what_was_done_past_django(books: Registration[Book]) -> None:
    for slug in "abc":
        book(slug)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM shop_book WHERE slug = 'a'")
        cursor.execute("UPDATE shop_book SET price = 7 WHERE slug = 'b'")

    assert books.reconcile() == 2
    assert log()[3:] == ["DELETED top/a", "MODIFIED top/b"]
    assert books.reconcile() == 0


def test_a_model_is_registered_once_and_can_be_left_alone_again(
    books: Registration[Book],
) -> None:
    with pytest.raises(ValueError, match="registered already"):
        register_model(Book, BOOKS, book_object)
    books.disconnect()
    book("a").delete()
    Book.objects.update(price=1)

    assert log() == []
