# ruff: noqa: E501 (tables are read line by line)
"""Printer columns: what JSONPath finds, and how it is written."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.schemas.cells.custom import AGE, cells_of, columns_of
from listwatch.schemas.cells.json_paths import check, find

DOCUMENT: dict[str, Any] = {
    "metadata": {"name": "a", "creationTimestamp": "2024-01-01T00:00:00Z", "labels": {"a.b/c": "x"}},
    "spec": {"n": 3, "f": 1.5, "on": True, "tags": ["x", "y", "z"], "m": {"k": [1]}, "null": None},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False"}]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.n", [3]),
        ("{.spec.n}", [3]),
        (".spec.tags[0]", ["x"]),
        (".spec.tags[-1]", ["z"]),
        (".spec.tags[5]", []),
        (".spec.tags[*]", ["x", "y", "z"]),
        (".spec.tags[0:2]", ["x", "y"]),
        (".spec.tags[0,2]", ["x", "z"]),
        (".metadata.labels.a\\.b/c", ["x"]),
        (".metadata.labels['a.b/c']", ["x"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type!='Ready')].status", ["False"]),
        (".status.conditions[?(@.none)].status", []),
        (".spec.none.deeper", []),
        ("..status", [DOCUMENT["status"], "True", "False"]),
    ],
)
def test_a_path_leads_to_what_kubectl_finds(path: str, found: list[Any]) -> None:
    assert find(path, DOCUMENT) == found


@pytest.mark.parametrize("path", [".a[", ".a[x y]", ".a b", "[?(@.a==nothing)]"])
def test_what_is_no_path_says_so(path: str) -> None:
    assert check(path)


@pytest.mark.parametrize(
    ("kind", "path", "cell"),
    [
        ("integer", ".spec.n", 3),
        ("integer", ".spec.f", 1),
        ("integer", ".spec.tags[0]", None),
        ("number", ".spec.n", 3.0),
        ("boolean", ".spec.on", True),
        ("string", ".spec.n", "3"),
        ("string", ".spec.m", '{"k":[1]}'),
        ("string", ".spec.tags", '["x","y","z"]'),
        ("string", ".spec.none", None),
        ("date", ".metadata.creationTimestamp", "60s"),
        ("date", ".metadata.name", "<invalid>"),
    ],
)
def test_a_cell_is_written_by_the_type_of_its_column(kind: str, path: str, cell: Any) -> None:
    minute_later = 1704067260.0
    printer = {"name": "C", "type": kind, "jsonPath": path}

    assert cells_of([printer], DOCUMENT, minute_later) == ["a", cell]


def test_an_empty_object_has_cells_as_well() -> None:
    assert cells_of([AGE], {"metadata": {}}, 0.0) == ["", None]


def test_a_column_describes_itself_by_its_path() -> None:
    name, column = columns_of([{"name": "C", "type": "string", "jsonPath": ".a", "priority": 1}])

    assert (name.name, name.format) == ("Name", "name")
    assert column.priority == 1
    assert column.description == "Custom resource definition column (in JSONPath format): .a"
