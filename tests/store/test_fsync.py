"""Durability as the kernel sees it: a group is synced at least once, and writes share a sync."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from tests.store.processes import ROOT, environment

COUNTING = """
import asyncio, django
django.setup()
from django.core.management import call_command
from listwatch.store.group_commit import GroupCommitter
from tests.store.helpers import create

call_command("migrate", verbosity=0, skip_checks=True)

async def main():
    committer = GroupCommitter()
    committer.start()
    await committer.submit(create("first"))  # makes the write-ahead log
    print("BEGIN", flush=True)
    await asyncio.gather(*(committer.submit(create(f"lone{n}")) for n in range(1)))
    for group in range(25):
        await asyncio.gather(*(committer.submit(create(f"p{group}-{n}")) for n in range(8)))
    print("END", flush=True)
    statistics = committer.statistics()
    await asyncio.to_thread(committer.stop)
    print(statistics.groups - 1, statistics.writes - 1, flush=True)

asyncio.run(main())
"""


@pytest.mark.external
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL syncs in its own process")
def test_each_group_is_synced_and_its_writes_share_that(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        if os.environ.get("CI"):
            pytest.fail("strace is not installed, and CI is set")
        pytest.skip("strace is not installed")
    trace = tmp_path / "trace"
    run = subprocess.run(
        ["strace", "-f", "-e", "trace=fsync,fdatasync,write", "-s", "16", "-o", str(trace),
         sys.executable, "-c", COUNTING],
        env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    groups, writes = map(int, run.stdout.split()[-2:])
    between = trace.read_text().partition("BEGIN")[2].partition("END")[0]
    syncs = len(re.findall(r"\bf(?:data)?sync\(", between))

    assert (groups, writes) == (26, 201)
    assert groups <= syncs < writes
