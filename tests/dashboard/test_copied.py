"""What pages offer to copy is run as it stands, against a server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.copy_as import Call, client_go, curl, kubectl, python
from listwatch.protocol.kinds import Resource
from listwatch.registry.resources import ResourceTable
from tests.servers import Server

MAPS = "/api/v1/namespaces/default/configmaps"
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.external


def config_maps() -> Resource:
    found = ResourceTable().find("", "v1", "configmaps")
    assert found is not None
    return found


CALLS = [
    Call("get", config_maps(), "default", "copied"),
    Call("list", config_maps(), "default", labels="app in (copied)"),
]


def run(server: Server, *command: str) -> str:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "KUBECONFIG": str(server.kubeconfig), "HOME": str(server.folder)}
    environment["LISTWATCH_DATA"] = str(server.data)
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=50, env=environment
    )

    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def site(server: Server) -> Server:
    server.request("DELETE", f"{MAPS}/copied")
    server.json("POST", MAPS, {"metadata": {"name": "copied", "labels": {"app": "copied"}}})
    return server


@pytest.mark.parametrize("call", CALLS, ids=["get", "list"])
def test_kubectl_curl_and_python_see_what_the_page_shows(site: Server, call: Call) -> None:
    for command in (
        ("sh", "-c", kubectl(call)),
        ("sh", "-c", curl(call, site.url)),
        (sys.executable, "-c", python(call)),
    ):
        assert "copied" in run(site, *command), command


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
def test_the_go_programs_are_laid_out_as_gofmt_does(verb: str) -> None:
    gofmt = shutil.which("gofmt") or shutil.which("gofmt", path="/usr/local/go/bin")
    if gofmt is None:
        pytest.skip("there is no gofmt here")
    program = client_go(Call(verb, config_maps(), "default", "a", labels='a="b"', since="7"))
    done = subprocess.run(
        [gofmt], input=program, capture_output=True, text=True, timeout=30, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == program
