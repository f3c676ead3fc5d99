"""The store as a Django app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class StoreConfig(AppConfig):
    """Label `listwatch_store`: its tables begin with that."""

    name = "listwatch.store"
    label = "listwatch_store"
    verbose_name = "Store"

    def ready(self) -> None:
        """Have the counter made with the tables."""
        post_migrate.connect(_make_head, sender=self, dispatch_uid="listwatch.store.head")


def _make_head(using: str, **_: Any) -> None:  # Any: a signal's arguments
    # Not a migration: `flush` empties the tables too, and sends this signal.
    from django.db import connections

    from listwatch.store.rows import HEAD

    connection = connections[using]
    if HEAD in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {HEAD} (id, current, compacted, swept) VALUES (1, 0, 0, 0)"  # noqa: S608
                " ON CONFLICT (id) DO NOTHING"
            )
