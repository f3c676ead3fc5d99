"""Querysets that keep the log true: reading is free, writing goes through it or is refused.

Used by `models`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models, transaction


class WriteRefused(TypeError):  # noqa: N818 (said of the call, as TypeError is)
    """This call would write past the log; the message names the call to use."""


class ReadOnlyQuerySet(models.QuerySet[models.Model]):
    """Looks, but never writes."""

    def create(self, **kwargs: object) -> NoReturn:
        """Refused."""
        self._refuse()

    def update(self, **kwargs: object) -> NoReturn:
        """Refused."""
        self._refuse()

    def delete(self) -> NoReturn:
        """Refused."""
        self._refuse()

    def bulk_create(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused."""
        self._refuse()

    def bulk_update(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise WriteRefused(
            f"{self.model.__name__} rows are written by listwatch.store.writes.write"
            " and removed by listwatch.store.compaction.compact"
        )


class StoredObjectQuerySet(models.QuerySet[models.Model]):
    """Creates and deletes through the log, object by object; what cannot is refused."""

    def update(self, **kwargs: object) -> NoReturn:
        """Refused: one statement over many rows takes no revision for any of them."""
        raise WriteRefused(
            "update() would write past the log: call listwatch.store.writes.write(Update(...))"
            " for each object, or change and save() it"
        )

    def bulk_create(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused, as `update` is."""
        raise WriteRefused(
            "bulk_create() would write past the log: call"
            " listwatch.store.writes.write(Create(...)) for each object, or create()"
        )

    def bulk_update(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused, as `update` is."""
        raise WriteRefused(
            "bulk_update() would write past the log: call"
            " listwatch.store.writes.write(Update(...)) for each object, or change and save() it"
        )

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete object by object, each with a revision of its own, all or none."""
        with transaction.atomic(using=self.db):
            objects = list(self)
            for stored in objects:
                stored.delete()
        return len(objects), {self.model._meta.label: len(objects)} if objects else {}

    delete.alters_data = True  # type: ignore[attr-defined]  # templates may not call it


class ReadOnlyManager(models.Manager[Any]):  # Any: rows of either model
    """Querysets that only look."""

    def get_queryset(self) -> ReadOnlyQuerySet:
        """All rows."""
        return ReadOnlyQuerySet(self.model, using=self._db)


class StoredObjectManager(models.Manager[Any]):  # Any: StoredObject, which imports this
    """Querysets that write through the log."""

    def get_queryset(self) -> StoredObjectQuerySet:
        """All rows."""
        return StoredObjectQuerySet(self.model, using=self._db)
