"""The check that anybody can run against any server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.servers import ROOT, Server, free_port, running


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "listwatch.informer.check", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip


@pytest.mark.timeout(240)
def test_every_scenario_passes_on_our_own_server(server: Server) -> None:
    done = check("--url", server.url, "--token", server.token, "--json", "--seed", "11")
    document: Any = json.loads(done.stdout)
    verdicts = {each["title"]: each["verdict"] for each in document["scenarios"]}

    assert len(verdicts) >= 14
    failed = [each for each in document["scenarios"] if each["verdict"] == "failed"]
    assert failed == []
    assert done.returncode == 0
    names = [o["metadata"] for o in server.json("GET", "/api/v1/namespaces")["items"]]
    left = [m for m in names if m["name"].startswith("listwatch-check")]
    assert all("deletionTimestamp" in m for m in left)


def test_a_kubeconfig_is_enough_and_lines_are_for_people(server: Server) -> None:
    done = check("--kubeconfig", str(server.kubeconfig), "--only", "a list has")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ok ")
    assert "1 scenarios, 0 failed" in done.stdout


def test_a_server_without_streaming_lists_is_skipped_there_and_passes_elsewhere(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    with running(folder, LISTWATCH_STREAMING_LISTS="0") as plain:
        arguments = ("--url", plain.url, "--token", plain.token, "--only")
        assert "skipped" in check(*arguments, "a streaming list").stdout
        assert check(*arguments, "follows two hundred").returncode == 0


def test_what_is_wrong_is_said_and_no_scenario_is_no_success(server: Server) -> None:
    nobody = check("--url", f"http://127.0.0.1:{free_port()}")
    assert nobody.returncode == 2
    assert "Cannot connect" in nobody.stderr
    stranger = check("--url", server.url, "--token", "wrong")
    assert stranger.returncode == 2
    assert "401" in stranger.stderr
    nothing = check("--url", server.url, "--token", server.token, "--only", "no such title")

    assert nothing.returncode == 1
