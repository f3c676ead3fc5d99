"""A text column that is compared byte by byte on every database.

Lists are answered in byte order of the key, as etcd's are. SQLite compares so by itself;
PostgreSQL would sort by the rules of a language. Used by `models`.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class ByteOrderField(models.TextField):  # type: ignore[type-arg]  # generic in the stubs alone
    """Text whose order is that of its UTF-8 bytes."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:  # Any: as Django has it
        """The column's type, with the collation that this database calls byte order."""
        parameters: dict[str, Any] = dict(super().db_parameters(connection))
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters
