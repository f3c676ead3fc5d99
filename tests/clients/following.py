"""Clients in other languages follow 1,000 objects: what their programs need done meanwhile.

A program writes, updates and deletes by itself, compares its cache with the server's state after
each step, and asks on a line of its own for what it cannot do: `restart` and `relist`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.gate import Gate, gated
from tests.servers import ROOT, Server, running

Record = dict[str, int]


def program(name: str) -> str:
    """A program of a toolchain: skips where it is missing, fails where CI is set."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed")
    return found


def follow(folder: Path, command: list[str], namespace: str) -> Record:
    """Run a program against a server of its own; it gets a kubeconfig and an address."""
    with (
        running(folder / "server", "--no-controllers") as server,
        gated(server.secure_port) as gate,
    ):
        address = f"https://127.0.0.1:{gate.port}"
        with (folder / "errors").open("w+") as errors:
            process = subprocess.Popen(
                [*command, str(server.kubeconfig), address], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1,
            )  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            last = ""
            try:
                for line in process.stdout:
                    last = line.strip()
                    if last == "restart":
                        # As a stopped server does: a gate that lets connections in and then cuts
                        # them is another fault, after which client-go lists again.
                        gate.refuse()
                        assert server.stop() == 0
                        server.start()
                        gate.open()
                    elif last == "relist":
                        _change_behind_the_gate(server, gate, namespace)
                    else:
                        continue
                    process.stdin.write("done\n")
                status = process.wait(30)
            finally:
                process.kill()
                process.wait()
                process.stdin.close()
                process.stdout.close()
            errors.seek(0)
            assert status == 0, errors.read()[-4000:]
            record: Record = json.loads(last)
            return record


def _change_behind_the_gate(server: Server, gate: Gate, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    gate.shut()
    for number in range(300, 320):
        server.json("DELETE", f"{path}/object-{number:04}")
    for number in range(400, 420):
        body = json.dumps({"data": {"changed": "unseen"}}).encode()
        server.json(
            "PATCH", f"{path}/object-{number:04}", body,
            Content_Type="application/merge-patch+json",
        )  # fmt: skip
    for number in range(2000, 2020):
        name = {"name": f"object-{number:04}", "labels": {"parity": str(number % 2)}}
        server.json(
            "POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": {}}
        )
    # What they know is too old now: the server must say 410, and they must list again.
    server.stop()
    subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "compact", "--data", str(server.data)],
        check=True, capture_output=True, timeout=60, env={**os.environ, **server.environment},
    )  # fmt: skip
    server.start()
    gate.open()
