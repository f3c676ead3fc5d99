"""fabric8, unmodified: a SharedIndexInformer follows 1,000 objects through whatever happens.

The first build fetches Maven's plugins and the client, about 40 MB, in a minute or two; after that
it takes some seconds.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.clients.following import follow, program

PROJECT = Path(__file__).with_name("java")
FIRST_BUILD = 1200

pytestmark = [pytest.mark.external, pytest.mark.timeout(FIRST_BUILD + 180)]


@pytest.fixture(scope="module")
def classpath() -> str:
    """The built classes, and all that they need."""
    program("java")
    maven = program("mvn")
    done = subprocess.run(
        [maven, "-q", "-B", "compile"], cwd=PROJECT, capture_output=True, text=True,
        timeout=FIRST_BUILD, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    return f"{PROJECT}/target/classes:{PROJECT}/target/dependency/*"


def test_a_shared_index_informer_of_fabric8_follows(classpath: str, tmp_path: Path) -> None:
    """Store, index and handler equal the server after each step; the handler hears no nonsense."""
    command = ["java", "-Xmx256m", "-Dfile.encoding=UTF-8", "-cp", classpath, "listwatch.Follow"]

    record = follow(tmp_path, command, "follow-fabric8")

    assert record["illegal"] == 0
    assert record["added"] == 1000 + 20
    assert record["deleted"] == 200 + 20
    assert record["tombstones"] == 20  # it listed again
    assert record["updated"] >= 1200 + 20
