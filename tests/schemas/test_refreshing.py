from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from listwatch.schemas import facts, refreshing
from listwatch.schemas.kinds import builtin_resources
from tests.schemas.fake_server import FakeServer, fake_server


@pytest.fixture
def server() -> Any:  # Any: a generator of one server
    with fake_server() as server:
        yield server


def test_what_is_read_is_what_the_server_is_made_of(server: FakeServer) -> None:
    """The fake server serves the recorded facts, so reading it gives them again."""
    read = refreshing.read(refreshing.Server(server.url, "secret"))
    recorded = {
        (row["group"], row["version"], row["resource"]): row for row in facts.resource_facts()
    }

    assert read.version == "1.36"
    assert len(read.resources) == len(builtin_resources())
    for row in read.resources:
        expected = dict(recorded[row["group"], row["version"], row["resource"]])
        served = {part["subresource"] for part in row["subresources"]}
        parts = [part for part in expected["subresources"] if part["subresource"] in served]
        for part in parts:
            if not part["kind"]["version"]:  # a server may say what it need not
                kind = part["kind"]
                part["kind"] = {**kind, "group": row["group"], "version": row["version"]}
        assert row == {**expected, "subresources": parts}
    assert read.schemas["io.k8s.api.core.v1.Pod"] == facts.schema("io.k8s.api.core.v1.Pod")
    assert server.authorizations == {"Bearer secret"}


def test_prose_is_not_kept() -> None:
    schema = {
        "description": "Prose.",
        "type": "object",
        "properties": {
            "description": {
                "description": "Prose.",
                "type": "string",
                "default": {"description": 1},
            }
        },
        "x-kubernetes-group-version-kind": [
            {"group": "", "version": "v1", "kind": "DeleteOptions"},
            {"group": "apps", "version": "v1", "kind": "DeleteOptions"},
        ],
    }

    assert refreshing.plain(schema) == {
        "type": "object",
        "properties": {"description": {"type": "string", "default": {"description": 1}}},
        "x-kubernetes-group-version-kind": [
            {"group": "", "version": "v1", "kind": "DeleteOptions"}
        ],
    }


def test_files_of_other_versions_are_replaced(tmp_path: Path) -> None:
    for name in ("resources-1.36.json", "schemas-1.36.json.gz", "protobuf-1.36.json.gz"):
        tmp_path.joinpath(name).touch()
    given = refreshing.Facts("1.37", [{"resource": "pods"}], {"io.k8s.a": {"type": "object"}})

    assert [path.name for path in refreshing.write(given, tmp_path)] == [
        "resources-1.37.json",
        "schemas-1.37.json.gz",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "protobuf-1.36.json.gz",
        "resources-1.37.json",
        "schemas-1.37.json.gz",
    ]
    text = gzip.decompress(tmp_path.joinpath("schemas-1.37.json.gz").read_bytes())
    assert json.loads(text) == given.schemas
    assert json.loads(tmp_path.joinpath("resources-1.37.json").read_text()) == given.resources


def test_the_command_writes_where_it_is_told_to(
    server: FakeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("refresh_schemas", server.url, output=tmp_path)

    assert f"{len(builtin_resources())} resources and" in capsys.readouterr().out
    assert tmp_path.joinpath("resources-1.36.json").exists()


def test_a_server_that_is_none_is_told_by_its_address(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="ftp://x is no http or https address"):
        call_command("refresh_schemas", "ftp://x", output=tmp_path)
    with pytest.raises(CommandError, match=r"http://127\.0\.0\.1:1/version: "):
        call_command("refresh_schemas", "http://127.0.0.1:1", output=tmp_path)


def test_the_newest_of_several_files_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1.9", "1.36", "1.100"):
        tmp_path.joinpath(f"resources-{version}.json").write_text(f'[{{"version": "{version}"}}]')
    monkeypatch.setattr(facts, "DATA", tmp_path)

    assert facts.resource_facts() == [{"version": "1.100"}]
