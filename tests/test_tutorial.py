"""The tutorial, as it stands: its program, its commands, and what it says comes of them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.kubectl import newest
from tests.servers import ROOT, Server

DOCUMENT = (ROOT / "docs" / "tutorial.md").read_text()
(PROGRAM,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
COMMANDS = re.findall(r"```bash\n(.*?)```", DOCUMENT, re.DOTALL)

pytestmark = pytest.mark.timeout(180)


def test_the_controller_has_60_lines() -> None:
    assert len(PROGRAM.splitlines()) <= 60


@pytest.mark.external
def test_the_controller_does_what_the_tutorial_says(server: Server, tmp_path: Path) -> None:
    kubectl = newest()
    if not kubectl.exists():
        pytest.skip("kubectl is not installed")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl").symlink_to(kubectl)
    environment = {
        **os.environ, "KUBECONFIG": str(server.kubeconfig), "HOME": str(tmp_path),
        "PATH": f"{folder}:{os.environ['PATH']}",
    }  # fmt: skip
    (tmp_path / "copier.py").write_text(PROGRAM)

    def run(commands: str) -> None:
        done = subprocess.run(
            ["bash", "-e", "-c", commands], env=environment, capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    @contextlib.contextmanager
    def controller() -> Iterator[None]:
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, str(tmp_path / "copier.py")], env=environment, stderr=log
            )
        try:
            yield
            assert process.poll() is None, (tmp_path / "log").read_text()
        finally:
            process.kill()
            process.wait()

    def hours(namespace: str) -> dict[str, Any] | None:
        status, body = server.get(f"/api/v1/namespaces/{namespace}/configmaps/hours")
        if status == 404:
            return None
        data: dict[str, Any] = json.loads(body)["data"]
        return data

    def until(namespace: str, wanted: dict[str, str] | None) -> None:
        deadline = time.monotonic() + 30
        while (found := hours(namespace)) != wanted:
            assert time.monotonic() < deadline, (found, wanted, (tmp_path / "log").read_text())
            time.sleep(0.05)

    first, changed, last = COMMANDS
    try:
        with controller():
            run(first)
            until("shop", {"monday": "9-18"})
            until("kube-system", {"monday": "9-18"})
            run(changed)
            until("shop", {"monday": "closed"})
        run("kubectl create namespace late; kubectl delete configmap hours -n kube-system")
        with controller():
            until("late", {"monday": "closed"})
            until("kube-system", {"monday": "closed"})
            run(last)
            for namespace in ("shop", "late", "kube-system"):
                until(namespace, None)
    finally:
        for path in ("namespaces/shop", "namespaces/late", "namespaces/default/configmaps/hours"):
            server.request("DELETE", f"/api/v1/{path}")
