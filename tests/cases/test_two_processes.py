"""Public reports on several servers of one store, one of which knows less than the other."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cases.place import Place
from tests.postgres import postgres_url
from tests.servers import Server, running

__all__ = ["postgres_url"]
pytestmark = pytest.mark.external

FAULTS = "/debug/faults"


@pytest.fixture
def two(tmp_path: Path, postgres_url: str) -> Iterator[tuple[Place, Place]]:
    """The same namespace as two servers see it; the caches of the second can be held back."""
    shared = {"LISTWATCH_DATABASE_URL": postgres_url, "LISTWATCH_TOKEN": "t" * 32}
    with ExitStack() as stack:
        made = [
            stack.enter_context(running(tmp_path / name, *arguments, **shared))
            for name, arguments in (("one", ()), ("other", ("--faults",)))
        ]
        yield Place(made[0], "default"), Place(made[1], "default")


def metric(server: Server, name: str) -> int:
    text = server.get("/metrics")[1].decode()
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    assert found, name
    return int(float(found[1]))


def lag(server: Server) -> int:
    """By how many revisions its caches are behind, as its metrics and its dashboard tell."""
    return metric(server, "listwatch_head_revision") - metric(server, "listwatch_applied_revision")


# kubernetes/kubernetes#59848, elastic/cloud-on-k8s#4956
@pytest.mark.timeout(120)
def test_whoever_comes_to_a_server_that_lags_is_not_taken_back_in_time(
    two: tuple[Place, Place],
) -> None:
    ahead, behind = two
    ahead.config_map("gone")
    ahead.config_map("stays")
    seen = int(behind.revision(behind.config_maps))  # with that, both have come this far
    held = behind.server.json("POST", FAULTS, {"spec": {"type": "stop-pump", "seconds": 60}})
    ahead.delete(f"{ahead.config_maps}/gone")
    deleted = int(ahead.revision(ahead.config_maps))
    assert deleted > seen

    # Revision 0 takes what there is: that may be old, and then says so.
    old = behind.get(f"{behind.config_maps}?resourceVersion=0")
    assert "gone" in {item["metadata"]["name"] for item in old["items"]}
    assert int(old["metadata"]["resourceVersion"]) < deleted
    # Whoever asks for no revision, or for the one it has seen elsewhere, gets it or an error.
    for query in ("", "?limit=1", f"?resourceVersion={deleted}", "/gone"):
        status, body = behind.server.get(f"{behind.config_maps}{query}")
        answered = json.loads(body)
        assert (status, answered["reason"]) == (504, "Timeout"), (query, answered)
    assert lag(behind.server) > 0
    assert lag(ahead.server) == 0

    behind.server.json("DELETE", f"{FAULTS}/{held['metadata']['name']}")
    deadline = time.monotonic() + 20
    while behind.server.get(f"{behind.config_maps}/gone")[0] != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert behind.names(behind.config_maps) == ahead.names(ahead.config_maps)
    assert lag(behind.server) == 0
