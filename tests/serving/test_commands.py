"""The small commands, beside a running server and without one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from listwatch import management
from tests.servers import ROOT, Server, running
from tests.wire.streams import CONFIG_MAPS, config_map


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        capture_output=True, text=True, timeout=60, check=False, cwd=cwd,
    )  # fmt: skip


def test_token_prints_the_token_and_makes_it_before_the_first_start(tmp_path: Path) -> None:
    first = run("token", "--data", str(tmp_path / "data"))
    again = run("token", f"--data={tmp_path / 'data'}")

    assert len(first.stdout.strip()) >= 32
    assert first.stdout == again.stdout


def test_kubeconfig_prints_the_file_and_may_name_another_address(server: Server) -> None:
    same = run("kubeconfig", "--data", str(server.data)).stdout
    moved = run("kubeconfig", "--data", str(server.data), "--server", "https://example:1").stdout

    assert yaml.safe_load(same) == yaml.safe_load(server.kubeconfig.read_text())
    assert yaml.safe_load(moved)["clusters"][0]["cluster"]["server"] == "https://example:1"
    assert yaml.safe_load(moved)["users"] == yaml.safe_load(same)["users"]


@pytest.mark.parametrize("command", ["kubeconfig", "login"])
def test_a_folder_that_was_never_served_is_a_sentence(command: str, tmp_path: Path) -> None:
    done = run(command, "--data", str(tmp_path / "data"))

    assert done.returncode == 1
    assert "`serve`" in done.stderr
    assert "Traceback" not in done.stderr


def test_login_prints_a_link_that_opens_the_dashboard_once(server: Server) -> None:
    link = server.login_link().removeprefix(server.url)

    status, _ = server.get(link, token="")
    assert status == 302
    status, page = server.get("/dashboard/", token="", Cookie=server.cookies())
    assert status == 200
    assert b"<html" in page


def test_compact_forgets_what_is_old_beside_a_running_server(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        made = server.json("POST", CONFIG_MAPS, config_map("old"))
        for number in range(5):
            server.json("PUT", f"{CONFIG_MAPS}/old", config_map("old", n=str(number)))
        done = run("compact", "--data", str(server.data))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("compacted to revision ")
        again = run("compact", "--data", str(server.data), "--revision", "1")
        assert (again.returncode, "already" in again.stderr) == (1, True)

        revision = made["metadata"]["resourceVersion"]
        query = f"?resourceVersion={revision}&resourceVersionMatch=Exact"
        status, _ = server.get(f"{CONFIG_MAPS}{query}")
        assert status in (200, 410)  # its ring may still know it
        assert server.json("GET", f"{CONFIG_MAPS}/old")["metadata"]["labels"] == {"n": "4"}


def test_options_of_the_whole_process_are_in_its_environment_before_settings_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "LISTWATCH_DATA", "LISTWATCH_TOKEN_AUTH_FILE", "LISTWATCH_NAMESPACE_CONTROLLER",
        "LISTWATCH_SERVICE_ACCOUNT_ADMISSION",
    ):  # fmt: skip
        monkeypatch.setenv(name, "as it was")  # and will be again
    management.set_environment(
        ["--port", "1", "--data", "here", "--token-auth-file=there", "--no-controllers"]
    )

    assert os.environ["LISTWATCH_DATA"] == "here"
    assert os.environ["LISTWATCH_TOKEN_AUTH_FILE"] == "there"
    assert os.environ["LISTWATCH_NAMESPACE_CONTROLLER"] == "no"


def test_the_system_checks_find_nothing(tmp_path: Path) -> None:
    done = run("check", "--data", str(tmp_path))
    if "--data" in done.stderr:  # Django's own command does not know the option
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "check"],
            env={**os.environ, "LISTWATCH_DATA": str(tmp_path)},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    assert (done.returncode, "no issues" in done.stdout) == (0, True), done.stderr


def test_no_model_lacks_a_migration(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "makemigrations", "--check", "--dry-run"],
        env={**os.environ, "LISTWATCH_DATA": str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
