"""What asks the database in its own words, once more on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection


@pytest.mark.external
@pytest.mark.timeout(180)
@pytest.mark.skipif(connection.vendor == "postgresql", reason="these are the tests on PostgreSQL")
def test_the_lists_do_the_same_on_postgresql(request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue("postgres_url")
    folder = Path(__file__).parent
    chosen = "filtered or counts or deleted or history or quicker or stale"
    run = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", "-k", chosen,
            str(folder / "test_lists.py"), str(folder / "test_forms.py"),
        ],
        cwd=folder.parent.parent,
        env={**os.environ, "LISTWATCH_DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip

    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
