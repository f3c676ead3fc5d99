"""Histories of objects that upstream's field manager (apimachinery 0.36.2) was led through.

They were recorded from that library, with random configurations and updates by three managers.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from listwatch.patches.server_side_apply import ConflictsError
from listwatch.protocol.errors import StatusError
from listwatch.protocol.kinds import GroupVersionKind
from tests.patches.histories import History, timeless, written

_FILE = Path(__file__).parent / "data" / "field-managers-1.36.json.gz"
_HISTORIES: list[dict[str, Any]] = orjson.loads(gzip.decompress(_FILE.read_bytes()))


@pytest.mark.parametrize("kind", ["Service", "Deployment", "Foo"])
def test_managers_and_objects_become_what_they_become_upstream(kind: str) -> None:
    """`Foo` is no kind that anybody knows: its type is deduced from its objects."""
    histories = [history for history in _HISTORIES if history["kind"][2] == kind]
    steps = [step for history in histories for step in _lead(history)]

    assert len(steps) > 200
    assert any("error" in step for step in steps)


def _lead(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    history = History(GroupVersionKind(*recorded["kind"]))
    for step in recorded["steps"]:
        refusal: StatusError | None = None
        try:
            if step["op"] == "apply":
                history.apply(step["object"], step["manager"], force=step["force"])
            else:
                history.update(step["object"], step["manager"])
        except StatusError as error:
            refusal = error
        live = dict(history.live)
        if live.get("metadata") == {}:
            del live["metadata"]
        expected = timeless(step["managers"])

        assert live == step["live"]
        assert history.owners() == expected
        assert _sets(history.owners()) == _sets(expected), "keys stand in upstream's order"
        assert bool(refusal) == ("error" in step)
        if isinstance(refusal, ConflictsError):
            # Upstream's managers come in no order, and so do the lines.
            assert sorted(refusal.message.split("\n")) == sorted(step["error"].split("\n"))
    return list(recorded["steps"])


def _sets(entries: list[dict[str, Any]]) -> list[str]:
    return [written(entry["fieldsV1"]) for entry in entries]
