"""The program of docs/service-discovery.md runs as it stands; the room needs no server of ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.servers import ROOT, Server

PROGRAM = """
import sys
import listwatch.servicediscovery, listwatch.informer.three_ways
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("listwatch.")}
servers = [name for name in ("django", "rest_framework", "channels") if name in sys.modules]
print(sorted(rooms), servers)
"""


@pytest.mark.timeout(120)
def test_the_documented_program_runs_as_it_stands(server: Server) -> None:
    document = (ROOT / "docs" / "service-discovery.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", document, re.DOTALL)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "KUBECONFIG": str(server.kubeconfig), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip

    server.request("DELETE", "/api/v1/namespaces/default/endpoints/shop")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("host='192.0.2.1', port=20880") == 2  # the listener's, and the answer


def test_it_imports_informers_and_no_server() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "['informer', 'protocol', 'servicediscovery'] []"
