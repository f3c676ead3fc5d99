"""The OpenAPI documents of other servers, within the one of this server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.schemas.openapi_merging import merge, part_of

ROOT = "/apis/far.test/v1"
Document = dict[str, Any]  # Any: OpenAPI


def reference(name: str) -> Document:
    return {"$ref": f"#/definitions/{name}"}


def part(definitions: Document, *, wanted: str = "A") -> Document:
    document = {"paths": {f"{ROOT}/as": {"get": reference(wanted)}}, "definitions": definitions}
    made = part_of(json.dumps(document).encode(), ROOT)
    assert made is not None
    parsed: Document = json.loads(made)
    return parsed


def test_only_the_paths_of_the_group_version_count_and_what_they_need() -> None:
    document = {
        "paths": {f"{ROOT}/": {"get": reference("A")}, f"{ROOT}beta1/": {}, "/healthz": {}},
        "definitions": {"A": {"items": reference("B")}, "B": {"items": reference("A")}, "C": {}},
    }
    made = part_of(json.dumps(document).encode(), ROOT)

    assert made is not None
    assert list(json.loads(made)["paths"]) == [f"{ROOT}/"]
    assert sorted(json.loads(made)["definitions"]) == ["A", "B"]
    assert part_of(json.dumps(document).encode(), "/apis/none.test/v1") is None


@pytest.mark.parametrize("body", [b"", b"[]", b'{"paths":{}}', b'{"paths":[],"definitions":{}}'])
def test_what_is_no_document_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        part_of(body, ROOT)


def test_a_name_that_is_taken_by_another_definition_gets_a_number() -> None:
    taken = {"A": {"type": "string"}, "A_v2": {"type": "integer"}, "B": {"type": "object"}}
    document: Document = {"paths": {}, "definitions": dict(taken)}
    merge(document, part({"A": {"type": "object", "x": reference("B")}, "B": {"type": "object"}}))

    assert document["definitions"] == {**taken, "A_v3": {"type": "object", "x": reference("B")}}
    assert document["paths"][f"{ROOT}/as"] == {"get": reference("A_v3")}


def test_no_two_definitions_of_a_part_get_one_name() -> None:
    document: Document = {"paths": {}, "definitions": {"A": {"type": "string"}}}
    own = {"A": {"x": reference("A_v2")}, "A_v2": {"type": "integer"}}
    merge(document, part(own))

    assert document["definitions"]["A"] == {"type": "string"}
    shown = sorted(json.dumps(one) for one in document["definitions"].values())
    assert len(shown) == 3
    assert json.dumps({"type": "integer"}) in shown


def test_the_same_definition_with_more_prose_is_shared() -> None:
    document: Document = {"paths": {}, "definitions": {"A": {"type": "string"}}}
    merge(document, part({"A": {"type": "string", "description": "at length"}}))

    assert document["definitions"] == {"A": {"type": "string"}}


def test_a_path_that_is_there_stays() -> None:
    document: Document = {"paths": {f"{ROOT}/as": {}}, "definitions": {}}
    merge(document, part({"A": {}}))

    assert document["paths"] == {f"{ROOT}/as": {}}
