"""What depends on transactions, once more on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

FILES = ("test_concurrency.py", "test_services.py", "test_namespaces.py", "test_model.py")


@pytest.mark.external
@pytest.mark.timeout(300)
@pytest.mark.skipif(connection.vendor == "postgresql", reason="these are the tests on PostgreSQL")
def test_writes_at_the_same_time_do_the_same_on_postgresql(request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue("postgres_url")
    folder = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", *(str(folder / file) for file in FILES)],
        cwd=folder.parent.parent,
        env={**os.environ, "LISTWATCH_DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
