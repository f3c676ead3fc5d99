"""The tables are what the models say, and begin with their counter."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection

from listwatch.store.fields import ByteOrderField
from listwatch.store.models import Change, Head, StoredObject

pytestmark = pytest.mark.usefixtures("store")


def test_no_migration_is_missing() -> None:
    call_command(
        "makemigrations", "listwatch_store", check_changes=True, skip_checks=True, verbosity=1
    )


def test_the_counter_is_made_with_the_tables_and_once() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM listwatch_store_head")
    for _ in range(2):
        call_command("migrate", verbosity=0, skip_checks=True)

    assert list(Head.objects.values_list("id", "current", "compacted", "swept")) == [(1, 0, 0, 0)]


def test_every_text_that_is_compared_is_in_byte_order_on_every_database() -> None:
    for model in (StoredObject, Change):
        for name in ("group", "resource", "key", "namespace", "name"):
            field = model._meta.get_field(name)
            assert isinstance(field, ByteOrderField)
            parameters = field.db_parameters(connection)
            expected = "C" if connection.vendor == "postgresql" else None

            assert parameters["collation"] == expected
