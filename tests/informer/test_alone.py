"""The informer stack needs nothing of the server: not Django, not our own parts."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.servers import ROOT, Server

PROGRAM = """
import sys
import listwatch.informer, listwatch.informer.sync, listwatch.informer.check.__main__
import listwatch.informer.leader_election, listwatch.informer.discovery
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("listwatch.")}
servers = [name for name in ("django", "rest_framework", "channels") if name in sys.modules]
print(sorted(rooms), servers)
"""


def test_it_imports_the_protocol_and_no_server() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "['informer', 'protocol'] []"


@pytest.mark.timeout(120)
def test_the_documented_programs_run_as_they_stand(server: Server) -> None:
    document = (ROOT / "docs" / "informer.md").read_text()
    first, second, third = re.findall(r"```python\n(.*?)```", document, re.DOTALL)[:3]
    ending = """
import contextlib

async def soon() -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(main(), 3)

asyncio.run(soon())
"""
    for program in (first + ending, second):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT, capture_output=True, text=True, check=False,
            env={"PATH": "", "KUBECONFIG": str(server.kubeconfig)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    compile(third, "docs", "exec", flags=0x2000)  # top-level await
