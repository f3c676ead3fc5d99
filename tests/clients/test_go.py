"""client-go and controller-runtime, unmodified, follow 1,000 objects through whatever happens.

The first build compiles both: about three minutes on two cores, and 0.5 GB of build cache. After
that a build is a matter of seconds. The typed clients send protobuf, as all of Go does.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.clients.following import follow, program
from tests.servers import running

MODULE = Path(__file__).with_name("go")
FIRST_BUILD = 1200

pytestmark = [pytest.mark.external, pytest.mark.timeout(FIRST_BUILD + 180)]


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = program("go")
    made = tmp_path_factory.mktemp("go") / "follow"
    done = subprocess.run(
        [go, "build", "-o", str(made), "."], cwd=MODULE, capture_output=True, text=True,
        timeout=FIRST_BUILD, env={**os.environ, "GOFLAGS": "-buildvcs=false -mod=readonly"},
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return made


def test_a_shared_informer_factory_of_client_go_follows(binary: Path, tmp_path: Path) -> None:
    """Lister, index and handler equal the server after each step; the handler hears no nonsense."""
    record = follow(tmp_path, [str(binary), "factory"], "follow-factory")

    assert record.get("illegal", 0) == 0
    assert record["initial"] == 500
    assert record["added"] == 1000 + 20
    assert record["deleted"] == 200 + 20
    # Proof that it listed again: a deletion that nobody saw is told as one of an unknown state.
    assert record["tombstones"] == 20
    # Updates may be skipped while it is away, never otherwise: 1,000, 100 and 100, and the last 20.
    assert record["updated"] >= 1200 + 20


def test_a_manager_of_controller_runtime_follows(binary: Path, tmp_path: Path) -> None:
    """It leads by a Lease through it all; cached client and reconciler equal the server."""
    record = follow(tmp_path, [str(binary), "manager"], "follow-manager")

    assert record["reconciled"] >= 1000
    assert record["gone"] >= 220


@pytest.mark.parametrize("streaming", ["1", "0"])
def test_informers_of_any_size_sync_with_streaming_lists_and_without(
    binary: Path, tmp_path: Path, streaming: str
) -> None:
    """kubernetes#129408 and #140890: without the closing bookmark client-go waits for ever.

    Without streaming lists it must be told so before any 200, and falls back to list and watch.
    """
    setting = {"LISTWATCH_STREAMING_LISTS": streaming}
    with running(tmp_path, "--no-controllers", **setting) as server:
        done = subprocess.run(
            [str(binary), "sync", str(server.kubeconfig), server.secure_url],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]
        took = json.loads(done.stdout)
        assert list(took) == ["0", "1", "1000"]
        assert "bookmark" not in done.stderr  # it warns each ten seconds
        # A second on a machine that does nothing else; what this is about is never.
        assert max(took.values()) < 10_000
