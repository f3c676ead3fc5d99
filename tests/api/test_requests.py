from __future__ import annotations

from typing import Any

import pytest

from listwatch.protocol.errors import StatusError
from listwatch.protocol.options import DeleteOptions, ListOptions
from listwatch.registry.context import RequestContext, Written
from tests.api.asking import TABLE, Face, config_map

PATH = "/api/v1/namespaces/ns/configmaps"


@pytest.fixture
def face() -> Face:
    face = Face()
    face.registry.put(config_map("a"), 5)
    return face


async def test_a_create_hands_the_object_down_and_answers_201(face: Face) -> None:
    answer = await face.ask("POST", f"{PATH}?fieldManager=me&fieldValidation=Strict",
                            config_map("n"))  # fmt: skip

    verb, ctx, document = face.registry.asked[0]
    assert (answer.status, answer.json["metadata"]["resourceVersion"]) == (201, "7")
    assert (verb, ctx.namespace, ctx.name, ctx.user.name) == ("create", "ns", "", "admin")
    assert (ctx.field_manager, ctx.field_validation, ctx.dry_run) == ("me", "Strict", False)
    assert document["data"] == config_map("n")["data"]


async def test_the_manager_of_who_names_none_is_his_user_agent(face: Face) -> None:
    await face.ask("POST", PATH, config_map("n"), headers={"user-agent": "kubectl/v1.37 (linux)"})

    assert face.registry.asked[0][1].field_manager == "kubectl"


async def test_a_dry_run_shows_no_revision(face: Face) -> None:
    answer = await face.ask("POST", f"{PATH}?dryRun=All", config_map("n"))

    assert answer.status == 201
    assert "resourceVersion" not in answer.json["metadata"]


async def test_warnings_become_headers(face: Face) -> None:
    answer = await face.ask("POST", PATH, config_map("n"))

    assert answer.header("warning") == ['299 - "unknown field \\"spec.x\\""']


async def test_a_refusal_warns_of_the_body_as_well(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(ctx: RequestContext, _: dict[str, Any]) -> Written:
        ctx.warnings.append('unknown field "spec.x"')
        raise StatusError(422, "Invalid", "no")

    monkeypatch.setattr(face.registry, "create", refuse)
    answer = await face.ask("POST", PATH, config_map("n"))

    assert answer.status == 422
    assert answer.header("warning") == ['299 - "unknown field \\"spec.x\\""']


async def test_whoever_uses_a_deprecated_resource_is_warned(face: Face) -> None:
    status = await face.ask("GET", "/api/v1/componentstatuses")
    assert status.header("warning") == ['299 - "v1 ComponentStatus is deprecated in v1.19+"']
    path = "/api/v1/namespaces/ns/endpoints"
    answers = [await face.ask("GET", path), await face.ask("GET", f"{path}/none")]

    for answer in answers:
        assert len(answer.header("warning")) == 1
        assert "v1 Endpoints is deprecated" in answer.header("warning")[0]


async def test_keys_that_stand_twice_are_named(face: Face) -> None:
    body = b'{"metadata":{"name":"d"},"data":{"k":"1","k":"2"},"data":{"z":"3"}}'

    await face.ask("POST", PATH, body)

    _, ctx, document = face.registry.asked[0]
    assert ctx.duplicates == ("data.k", "data")
    assert document["data"] == {"k": "2", "z": "3"}


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/yaml", b"metadata:\n  name: doc\ndata:\n  k: v\n"),
        ("application/json; charset=utf-8", b'{"metadata":{"name":"doc"},"data":{"k":"v"}}'),
        ("", b'{"metadata":{"name":"doc"},"data":{"k":"v"}}'),
    ],
)
async def test_bodies_are_read_by_their_media_type(
    face: Face, content_type: str, body: bytes
) -> None:
    answer = await face.ask("POST", PATH, body, headers={"content-type": content_type})

    assert answer.status == 201
    assert face.registry.asked[0][2] == {"metadata": {"name": "doc"}, "data": {"k": "v"}}


async def test_a_protobuf_body_is_read() -> None:
    face = Face()
    # A ConfigMap named n in the envelope that kubectl sends.
    type_meta = b"\x0a\x02v1\x12\x09ConfigMap"
    metadata = b"\x0a\x03\x0a\x01n"
    body = (
        b"k8s\x00\x0a" + bytes([len(type_meta)]) + type_meta + b"\x12" + bytes([len(metadata)])
        + metadata
    )  # fmt: skip

    headers = {"content-type": "application/vnd.kubernetes.protobuf"}
    answer = await face.ask("POST", PATH, body, headers=headers)

    assert answer.status == 201, answer.body
    assert face.registry.asked[0][2]["metadata"]["name"] == "n"


@pytest.mark.parametrize(
    "body", [b"", b"hello", b'{"metadata": {"name": "a"', b"[]", b'"a"', b"7", b'{"a":1} x']
)
async def test_a_body_that_is_no_object_is_400(face: Face, body: bytes) -> None:
    answer = await face.ask("POST", PATH, body)

    assert (answer.status, answer.json["reason"]) == (400, "BadRequest")
    assert face.registry.asked == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/x"])
async def test_a_body_of_another_media_type_is_415(face: Face, content_type: str) -> None:
    for method, path in (("POST", PATH), ("PUT", f"{PATH}/a"), ("DELETE", f"{PATH}/a")):
        answer = await face.ask(method, path, b"x", headers={"content-type": content_type})

        assert answer.status == 415
        assert "application/vnd.kubernetes.protobuf" in answer.json["message"]


@pytest.mark.parametrize(
    "content_type",
    ["application/json-patch+json", "application/merge-patch+json",
     "application/strategic-merge-patch+json"],
)  # fmt: skip
async def test_a_patch_goes_down_with_its_kind(face: Face, content_type: str) -> None:
    patch = [{"op": "remove", "path": "/data"}]
    headers = {"content-type": content_type}
    answer = await face.ask("PATCH", f"{PATH}/a", patch, headers=headers)

    assert answer.status == 200
    assert face.registry.asked[0][2] == (content_type, patch)


async def test_a_patch_of_no_kind_is_415_and_an_empty_one_400(face: Face) -> None:
    unknown = await face.ask("PATCH", f"{PATH}/a", {})
    headers = {"content-type": "application/merge-patch+json"}
    empty = await face.ask("PATCH", f"{PATH}/a", b"", headers=headers)

    assert (unknown.status, empty.status) == (415, 400)


async def test_force_belongs_to_another_kind_of_patch(face: Face) -> None:
    headers = {"content-type": "application/merge-patch+json"}
    answer = await face.ask("PATCH", f"{PATH}/a?force=true", {}, headers=headers)

    assert (answer.status, answer.json["details"]["causes"][0]["field"]) == (422, "force")


async def test_a_delete_is_answered_by_a_status_that_names_it(face: Face) -> None:
    answer = await face.ask("DELETE", f"{PATH}/a", headers={"accept": TABLE})

    assert answer.json == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": "u"},
    }  # fmt: skip


async def test_options_of_a_delete_come_from_the_body_or_from_the_query(face: Face) -> None:
    await face.ask("DELETE", f"{PATH}/a?gracePeriodSeconds=3")
    await face.ask("DELETE", f"{PATH}/a?gracePeriodSeconds=3",
                   {"preconditions": {"uid": "x"}, "dryRun": ["All"]})  # fmt: skip

    first, second = (options for _, _, options in face.registry.asked)
    assert first == DeleteOptions(grace_period_seconds=3)
    assert second == DeleteOptions(uid="x", dry_run=True)
    assert face.registry.asked[1][1].dry_run


async def test_a_collection_is_deleted_by_selectors(face: Face) -> None:
    answer = await face.ask("DELETE", f"{PATH}?labelSelector=a%3Db&limit=4")

    _, _, (_, selection) = face.registry.asked[0]
    assert (selection.limit, str(selection.label_selector)) == (4, "a=b")
    assert [item["metadata"]["name"] for item in answer.json["items"]] == ["a"]


async def test_a_list_takes_its_options_from_the_query(face: Face) -> None:
    await face.ask("GET", f"{PATH}?resourceVersion=7&resourceVersionMatch=Exact&limit=3")

    options: ListOptions = face.registry.asked[0][2]
    assert (options.resource_version, options.resource_version_match) == ("7", "Exact")
    assert options.limit == 3


async def test_a_body_beyond_the_limit_is_413_and_is_not_kept(face: Face) -> None:
    face = Face(body_limit=1000)
    said = await face.ask("POST", PATH, b"x", headers={"content-length": "1001"})
    waited = {"content-length": "1001", "expect": "100-continue"}
    waiting = await face.ask("POST", PATH, b"", headers=waited)
    long = await face.ask("POST", PATH, b"", headers={"content-length": str(10**9)})
    found = await face.ask("POST", PATH, b"x" * 1001)

    for answer in (said, waiting, long, found):
        assert (answer.status, answer.json["reason"]) == (413, "RequestEntityTooLarge")
        assert answer.json["message"] == "Request entity too large: limit is 1000"


async def test_a_timeout_that_cannot_be_read_is_400(face: Face) -> None:
    answer = await face.ask("GET", f"{PATH}/a?timeout=soon")

    assert answer.status == 400
    assert "in the request URL - time: invalid duration" in answer.json["message"]


async def test_a_request_that_takes_too_long_is_504(face: Face) -> None:
    import asyncio

    async def slow(*_: object) -> None:
        await asyncio.Event().wait()

    face.registry.get = slow  # type: ignore[assignment]
    answer = await face.ask("GET", f"{PATH}/a?timeout=10ms")

    assert (answer.status, answer.json["reason"]) == (504, "Timeout")


async def test_too_many_at_once_are_refused_and_counted_down_again(face: Face) -> None:
    import asyncio

    going = asyncio.Event()

    async def slow(*_: object) -> object:
        await going.wait()
        return face.registry.versions["ns", "a"]

    face.registry.get = slow  # type: ignore[assignment]
    in_flight = face.handler.services(face.runtime).in_flight  # type: ignore[arg-type]
    in_flight._bounds[True] = 2
    waiting = [face.open("GET", f"{PATH}/a") for _ in range(2)]
    await asyncio.sleep(0)
    refused = await face.ask("GET", f"{PATH}/a")
    going.set()
    for connection in waiting:
        assert connection.task is not None
        await connection.task

    assert (refused.status, refused.header("retry-after")) == (429, ["1"])
    assert [connection.answer.status for connection in waiting] == [200, 200]
    assert (in_flight.statistics().reading, in_flight.statistics().refused) == (0, 1)


async def test_a_query_that_is_not_ascii_is_read_all_the_same(face: Face) -> None:
    connection = face.open("GET", f"{PATH}?limit=1&x=\xe9")
    assert connection.task is not None
    await connection.task

    assert connection.answer.status == 200


async def test_what_is_no_yaml_cannot_be_applied(face: Face) -> None:
    headers = {"content-type": "application/apply-patch+yaml"}
    answer = await face.ask("PATCH", f"{PATH}/a?fieldManager=m", b"{", headers=headers)

    assert answer.status == 400
    assert answer.json["message"].startswith("error decoding YAML: ")


async def test_cbor_cannot_be_applied(face: Face) -> None:
    headers = {"content-type": "application/apply-patch+cbor"}
    answer = await face.ask("PATCH", f"{PATH}/a?fieldManager=m", b"\xa0", headers=headers)

    assert answer.status == 415
    assert "application/apply-patch+yaml" in answer.json["message"]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("part", ["exec", "attach", "portforward", "proxy"])
async def test_a_stream_is_answered_for_without_a_body(face: Face, method: str, part: str) -> None:
    answer = await face.ask(method, f"/api/v1/namespaces/ns/pods/none/{part}?command=ls")

    assert (answer.status, answer.json["reason"]) == (404, "NotFound")
