"""A writer that is killed amid its groups loses no write that it has acknowledged."""

from __future__ import annotations

import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from listwatch.store import reads
from tests.store.helpers import log_is_whole
from tests.store.processes import WRITER, environment

KILLS = 20


@pytest.fixture
def database(
    store: None, tmp_path: Path
) -> Iterator[Path]:  # fmt: skip
    """The folder for the processes' data. On SQLite the test's connection is moved there."""
    if connection.vendor != "sqlite":
        yield tmp_path
        return
    name = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = tmp_path / "listwatch.sqlite3"
    call_command("migrate", verbosity=0, skip_checks=True)
    yield tmp_path
    connection.close()
    connection.settings_dict["NAME"] = name


@pytest.mark.timeout(180)
def test_every_acknowledged_write_survives_the_death_of_its_writer(database: Path) -> None:
    chance = random.Random(4)  # the same moments every time, as far as the machine allows
    groups = 0
    for round_ in range(KILLS):
        before = reads.head().current
        acknowledged = killed_after(database, str(round_), chance.randrange(1, 120))
        rows = {row.revision: row for row in reads.changes(before, 1_000_000)}

        assert acknowledged
        for name, revision, type_ in acknowledged:
            assert (name, type_) == (rows[int(revision)].name, str(rows[int(revision)].type))
        log_is_whole()
        groups += len(rows) > len(acknowledged)
    assert groups, "no kill ever met a group under way: the test looks at nothing"


def killed_after(data: Path, seed: str, lines: int) -> list[list[str]]:
    process = subprocess.Popen(
        [*WRITER, seed], env=environment(data), stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stdout is not None
    read = [next(process.stdout) for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    read += process.stdout.readlines()
    process.stdout.close()
    return [line.split() for line in read if line.endswith("\n")]
