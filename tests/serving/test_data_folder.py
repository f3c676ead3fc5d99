"""The data folder: secrets that others cannot read, one server at a time."""

from __future__ import annotations

import argparse
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from listwatch.serving.data_folder import AlreadyServedError, DataFolder, new_token


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data")


def test_the_folder_and_its_secrets_are_readable_by_the_owner_alone(folder: DataFolder) -> None:
    folder.admin_token()
    folder.keep(folder.secret_key, "key")
    folder.write(folder.kubeconfig, "config", secret=True)

    assert mode(folder.path) == 0o700
    for secret in (folder.token, folder.secret_key, folder.kubeconfig):
        assert mode(secret) == 0o600


def test_a_secret_is_made_once_and_then_kept(folder: DataFolder) -> None:
    first = folder.admin_token()

    assert len(first) >= 32
    assert folder.admin_token() == first
    assert DataFolder(folder.path).admin_token() == first


def test_a_new_token_can_be_the_value_of_an_option() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--token")

    given = {parser.parse_args(["--token", new_token()]).token for _ in range(300)}
    assert len(given) == 300
    assert {len(each) for each in given} == {45}


def test_a_token_that_is_given_replaces_the_kept_one(folder: DataFolder) -> None:
    folder.admin_token()

    assert folder.admin_token("given") == "given"
    assert folder.admin_token() == "given"
    assert mode(folder.token) == 0o600


def test_a_secret_file_that_was_cut_short_counts_as_none(folder: DataFolder) -> None:
    folder.make()
    folder.token.touch(0o600)

    assert folder.admin_token() != ""
    assert mode(folder.token) == 0o600


def test_of_several_that_make_a_secret_at_once_all_get_the_same(folder: DataFolder) -> None:
    got = []
    barrier = threading.Barrier(8)

    def make(number: int) -> None:
        barrier.wait()
        got.append(folder.keep(folder.secret_key, f"made by {number}"))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(got) == 8
    assert len(set(got)) == 1
    assert [path.name for path in folder.path.iterdir()] == ["secret-key"]


def test_a_file_that_is_replaced_leaves_nothing_beside_it(folder: DataFolder) -> None:
    folder.write(folder.ca_certificate, "old", secret=False)
    folder.write(folder.ca_certificate, "new", secret=False)

    assert folder.ca_certificate.read_text() == "new"
    assert [path.name for path in folder.path.iterdir()] == ["ca.crt"]


def test_a_folder_is_held_by_one_process_and_free_once_that_is_gone(folder: DataFolder) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
                from pathlib import Path
                from listwatch.serving.data_folder import DataFolder
                with DataFolder(Path({str(folder.path)!r})).lock():
                    print("held", flush=True)
                    input()
            """),
        ],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(AlreadyServedError, match=f"process {holder.pid}.*--data"),
            folder.lock(),
        ):
            pass
    finally:
        holder.kill()
        holder.communicate()

    with folder.lock():
        pass
