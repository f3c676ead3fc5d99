"""The database before the first request: there, migrated, and safe on disk.

What it holds is the store's; here it is only brought to the form that this version expects.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def is_sqlite() -> bool:
    """Whether the database is a file that one process serves."""
    return connection.vendor == "sqlite"


def migrate() -> None:
    """Apply what is missing; nothing is missing after a normal stop, and that is found out fast.

    A new SQLite file is filled without waiting for the disk at each of its sixty commits, and
    brought to disk once, before anyone is told that something is stored.
    """
    new = _new_file()
    if new is not None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=OFF")
    elif not _is_behind():
        return
    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    if new is not None:
        connection.close()  # the next connection is a careful one again, and the log is written in
        for path in (new, new.parent):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _new_file() -> Path | None:
    if not is_sqlite():
        return None
    path = Path(str(connection.settings_dict["NAME"]))
    return None if path.exists() else path


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
