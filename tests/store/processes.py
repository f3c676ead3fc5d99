"""Processes that use the test database as another server or command would."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parent.parent.parent
WRITER = [sys.executable, str(ROOT / "tests" / "store" / "writer_process.py")]


def environment(folder: Path) -> dict[str, str]:
    """For such a process: on PostgreSQL the test's database, on SQLite the one in `folder`."""
    made = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "listwatch.settings",
        "PYTHONPATH": str(ROOT),
        "LISTWATCH_DATA": str(folder),
    }
    settings = connection.settings_dict
    if connection.vendor == "postgresql":
        made["LISTWATCH_DATABASE_URL"] = (
            f"postgres://{settings['USER']}@/{settings['NAME']}?host={settings['HOST']}"
        )
    return made
