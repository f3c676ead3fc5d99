from __future__ import annotations

import gzip
import zlib

import orjson
import pytest
import yaml

from listwatch.protocol.continue_tokens import decode as decode_token
from listwatch.protocol.errors import StatusError
from listwatch.watchcache.requests import ListResult
from tests.api.asking import TABLE, Face, config_map

PATH = "/api/v1/namespaces/ns/configmaps"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


@pytest.fixture
def face() -> Face:
    face = Face()
    face.registry.put(config_map("a"), 5)
    face.registry.put(config_map("b"), 6)
    return face


async def test_an_object_is_its_stored_bytes_with_the_revision(face: Face) -> None:
    answer = await face.ask("GET", f"{PATH}/a")

    document = config_map("a")
    document["metadata"]["resourceVersion"] = "5"
    assert answer.status == 200
    assert document == answer.json
    assert answer.body.startswith(b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{')
    assert answer.body.endswith(b"}\n")
    assert answer.header("content-type") == ["application/json"]
    assert answer.header("cache-control") == ["no-cache, private"]
    assert [str(len(answer.body))] == answer.header("content-length")
    assert answer.header("audit-id")
    assert answer.header("vary") == []


async def test_a_list_is_joined_from_items_without_kind(face: Face) -> None:
    answer = await face.ask("GET", PATH)

    document = answer.json
    assert list(document) == ["kind", "apiVersion", "metadata", "items"]
    assert document["metadata"] == {"resourceVersion": "100"}
    assert [item["metadata"]["resourceVersion"] for item in document["items"]] == ["5", "6"]
    assert "kind" not in document["items"][0]
    assert config_map("a")["data"] == document["items"][0]["data"]


async def test_an_empty_list_has_no_items_but_not_null(face: Face) -> None:
    face.registry.result = ListResult([], 100)

    assert (await face.ask("GET", PATH)).body.endswith(b'"items":[]}\n')


async def test_a_page_carries_its_token_and_what_remains(face: Face) -> None:
    versions = list(face.registry.versions.values())
    face.registry.result = ListResult(versions, 90, "ns/b\0", 3)

    metadata = (await face.ask("GET", f"{PATH}?limit=2")).json["metadata"]

    token = decode_token(metadata["continue"])
    assert (token.revision, token.start) == (90, "b\0")
    assert metadata["remainingItemCount"] == 3


async def test_a_long_list_goes_out_in_pieces_that_join_to_the_whole(face: Face) -> None:
    for number in range(300):
        face.registry.put(config_map(f"n{number}", data={"k": "v" * 4000}), 10 + number)

    answer = await face.ask("GET", PATH)

    assert len(answer.json["items"]) == 302
    assert len(answer.chunks) > 3
    assert answer.complete
    assert answer.header("content-length") == []


async def test_long_answers_are_compressed_for_those_who_take_it(face: Face) -> None:
    for number in range(100):
        face.registry.put(config_map(f"n{number}", data={"k": "v" * 4000}), 10 + number)

    plain = await face.ask("GET", PATH)
    packed = await face.ask("GET", PATH, headers={"accept-encoding": "deflate, gzip;q=0.5"})
    short = await face.ask("GET", f"{PATH}/a", headers={"accept-encoding": "gzip"})
    refused = await face.ask("GET", PATH, headers={"accept-encoding": "gzip;q=0"})

    assert packed.header("content-encoding") == ["gzip"]
    assert packed.header("vary") == ["Accept-Encoding"]
    assert plain.body == gzip.decompress(packed.body)
    assert plain.body == zlib.decompressobj(31).decompress(packed.body)  # one member, not several
    assert short.header("content-encoding") == refused.header("content-encoding") == []


async def test_people_get_it_indented(face: Face) -> None:
    for path in (f"{PATH}/a", PATH):
        answer = await face.ask("GET", path, headers={"user-agent": "curl/8"})

        assert orjson.dumps(answer.json, option=orjson.OPT_INDENT_2) + b"\n" == answer.body


async def test_an_empty_list_is_indented_too(face: Face) -> None:
    face.registry.result = ListResult([], 100)

    answer = await face.ask("GET", f"{PATH}?pretty=true")

    assert orjson.dumps(answer.json, option=orjson.OPT_INDENT_2) + b"\n" == answer.body


async def test_yaml_has_sorted_keys_and_the_same_content(face: Face) -> None:
    headers = {"accept": "application/yaml"}
    one = await face.ask("GET", f"{PATH}/a", headers=headers)
    many = await face.ask("GET", PATH, headers=headers)
    face.registry.result = ListResult([], 100)
    none = await face.ask("GET", PATH, headers=headers)

    assert one.header("content-type") == ["application/yaml"]
    assert (await face.ask("GET", f"{PATH}/a")).json == yaml.safe_load(one.body)
    assert list(yaml.safe_load(many.body)) == ["apiVersion", "items", "kind", "metadata"]
    assert [item["metadata"]["name"] for item in yaml.safe_load(many.body)["items"]] == ["a", "b"]
    expected = (
        b'apiVersion: v1\nitems: []\nkind: ConfigMapList\nmetadata:\n  resourceVersion: "100"\n'
    )
    assert expected == none.body


async def test_a_table_of_a_list_has_columns_and_rows(face: Face) -> None:
    answer = await face.ask("GET", PATH, headers={"accept": TABLE})

    table = answer.json
    assert list(table) == ["kind", "apiVersion", "metadata", "columnDefinitions", "rows"]
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert [row["cells"][0] for row in table["rows"]] == ["a", "b"]
    row = table["rows"][0]["object"]
    assert (row["kind"], row["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert row["metadata"]["resourceVersion"] == "5"
    assert "data" not in row


async def test_a_table_of_one_object_has_its_revision(face: Face) -> None:
    table = (await face.ask("GET", f"{PATH}/a", headers={"accept": TABLE})).json

    assert table["metadata"] == {"resourceVersion": "5"}
    assert len(table["rows"]) == 1


async def test_rows_carry_what_was_asked_for(face: Face) -> None:
    whole = await face.ask("GET", f"{PATH}/a?includeObject=Object", headers={"accept": TABLE})
    nothing = await face.ask("GET", f"{PATH}/a?includeObject=None", headers={"accept": TABLE})
    wrong = await face.ask("GET", f"{PATH}/a?includeObject=Some", headers={"accept": TABLE})

    assert whole.json["rows"][0]["object"]["kind"] == "ConfigMap"
    assert nothing.json["rows"][0]["object"] is None
    assert wrong.status == 400


async def test_metadata_alone_for_one_and_for_many(face: Face) -> None:
    one = await face.ask("GET", f"{PATH}/a", headers={"accept": PARTIAL})
    many = await face.ask("GET", PATH, headers={"accept": PARTIAL_LIST})

    assert (
        one.json["kind"], one.json["metadata"]["resourceVersion"],
    ) == ("PartialObjectMetadata", "5")  # fmt: skip
    assert "data" not in one.json
    assert many.json["kind"] == "PartialObjectMetadataList"
    assert [item["kind"] for item in many.json["items"]] == ["PartialObjectMetadata"] * 2


async def test_a_list_is_no_object_and_an_object_no_list(face: Face) -> None:
    many = await face.ask("GET", PATH, headers={"accept": PARTIAL})
    one = await face.ask("GET", f"{PATH}/a", headers={"accept": PARTIAL_LIST})

    assert (many.status, one.status) == (406, 406)
    assert many.json["reason"] == "NotAcceptable"


async def test_refusals_are_plain_status_also_where_a_table_was_wanted(face: Face) -> None:
    answer = await face.ask("GET", f"{PATH}/none", headers={"accept": TABLE})

    assert answer.status == 404
    assert (answer.json["kind"], answer.json["code"]) == ("Status", 404)


async def test_refusals_come_in_yaml_where_that_was_wanted(face: Face) -> None:
    answer = await face.ask("GET", f"{PATH}/none", headers={"accept": "application/yaml"})

    assert answer.header("content-type") == ["application/yaml"]
    assert yaml.safe_load(answer.body)["code"] == 404


async def test_a_failure_of_ours_is_logged_and_not_shown(
    face: Face, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("secret")

    face.registry.get = broken  # type: ignore[assignment]
    answer = await face.ask("GET", f"{PATH}/a")

    assert (answer.status, answer.json["reason"]) == (500, "InternalError")
    assert b"secret" not in answer.body
    assert "secret" in caplog.text


async def test_what_cannot_be_written_for_its_depth_is_400(face: Face) -> None:
    async def nested(*_: object) -> None:
        deep: object = None
        for level in range(300):
            deep = [level, deep]
        orjson.dumps(deep)

    face.registry.create = nested  # type: ignore[assignment]
    answer = await face.ask("POST", PATH, config_map("a"))

    assert (answer.status, answer.json["reason"]) == (400, "BadRequest")
    assert answer.json["message"] == "the object is nested too deeply"


async def test_retry_after_stands_in_the_header_too(face: Face) -> None:
    async def busy(*_: object) -> None:
        raise StatusError(429, "TooManyRequests", "later", details={"retryAfterSeconds": 4})

    face.registry.get = busy  # type: ignore[assignment]

    assert (await face.ask("GET", f"{PATH}/a")).header("retry-after") == ["4"]
