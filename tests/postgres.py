"""A PostgreSQL server of the tests' own: no network, no password, gone afterwards.

`postgres_url` is a fixture for any room: import it in the room's conftest. It skips where
PostgreSQL is not installed, and fails there when CI is set.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode

import pytest


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`, newest version first, or None."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    debian = Path("/usr/lib/postgresql")
    versions = sorted(debian.glob("*/bin/initdb"), key=lambda path: -float(path.parts[-3]))
    return versions[0].parent if versions else None


class Cluster:
    """A running server. Its databases are reached by `url`; `stop` and `start` try a failure."""

    def __init__(self, folder: Path, bin_: Path, settings: Sequence[str] = ()) -> None:
        self._folder = folder
        self._bin = bin_
        self._data = folder / "data"
        self._settings = (
            f"unix_socket_directories = '{folder}'",
            "listen_addresses = ''",
            "max_connections = 300",
            # Nothing here outlives its machine; processes may be killed all the same.
            "fsync = off",
            "full_page_writes = off",
            *settings,
        )

    def create(self) -> None:
        """Make the files."""
        self._run(
            "initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C.UTF-8", "--no-sync",
        )  # fmt: skip
        with (self._data / "postgresql.conf").open("a") as file:
            file.writelines(f"{setting}\n" for setting in self._settings)

    def start(self) -> None:
        """Start, and wait until it answers."""
        log = str(self._folder / "log")
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", log, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop; `immediate` is a crash, `fast` is clean."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def url(self, database: str = "postgres") -> str:
        """The address of a database, for LISTWATCH_DATABASE_URL."""
        return f"postgres://postgres@/{database}?" + urlencode({"host": str(self._folder)})

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), *arguments]
        if os.geteuid() == 0:  # which PostgreSQL refuses to be run by
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(
            command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/"
        )  # fmt: skip


@contextlib.contextmanager
def running(*settings: str) -> Iterator[Cluster]:
    """A new cluster, removed at the end; skips or fails where there is no PostgreSQL."""
    bin_ = programs()
    if bin_ is None:
        if os.environ.get("CI"):
            pytest.fail("PostgreSQL is not installed, and CI is set")
        pytest.skip("PostgreSQL is not installed")
    # Not pytest's own folder: a socket's path may have 107 bytes, and another user must enter.
    folder = Path(tempfile.mkdtemp(prefix="listwatch-pg-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, *_account())
        cluster = Cluster(folder, bin_, settings)
        cluster.create()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> tuple[int, int]:
    entry = pwd.getpwnam("postgres")
    return entry.pw_uid, entry.pw_gid


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of an empty database that lasts for the session."""
    with running() as cluster:
        yield cluster.url()
