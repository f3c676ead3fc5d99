"""Versions that a webhook makes out of one another, asked for in every way."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import pytest
from aiohttp import web

from listwatch.api.converting import Converting
from listwatch.protocol.objects import JSONObject
from listwatch.protocol.options import APPLY_PATCH, DeleteOptions, ListOptions
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import FieldSelector
from listwatch.registry.patch import MERGE_PATCH
from tests.registry.custom_resources.house import CustomHouse, definition, version, widget
from tests.registry.house import refused, shown

TEXT = {"type": "string"}
ONE = {"type": "object", "properties": {"host": TEXT, "port": TEXT}}
OTHER = {"type": "object", "required": ["address"], "properties": {"address": TEXT}}


class Hook:
    """A conversion webhook in this process: v1 has host and port, v2 an address."""

    def __init__(self) -> None:
        self.url = ""
        self.asked = 0
        self.spoil: Callable[[JSONObject], JSONObject] = lambda response: response

    async def handle(self, request: web.Request) -> web.Response:
        review = orjson.loads(await request.read())["request"]
        self.asked += 1
        wanted = review["desiredAPIVersion"]
        response = {
            "uid": review["uid"],
            "result": {"status": "Success"},
            "convertedObjects": [converted(each, wanted) for each in review["objects"]],
        }
        body = {"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1"}
        answer = orjson.dumps({**body, "response": self.spoil(response)})
        return web.Response(body=answer, content_type="application/json")


def converted(document: JSONObject, wanted: str) -> JSONObject:
    if document["apiVersion"] == wanted:
        return document
    spec = document.get("spec") or {}
    if wanted.endswith("v2"):
        spec = {"address": f"{spec['host']}:{spec['port']}"}
    else:
        host, _, port = spec["address"].partition(":")
        spec = {"host": host, "port": port}
    return {**document, "apiVersion": wanted, "spec": spec}


@pytest.fixture
async def hook(custom: CustomHouse) -> AsyncIterator[Hook]:
    made = Hook()
    app = web.Application()
    app.router.add_post("/convert", made.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listener).start()
    made.url = f"http://127.0.0.1:{listener.getsockname()[1]}/convert"
    conversion = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": made.url}},
    }
    await custom.define(
        definition(
            version(spec=ONE, selectableFields=[{"jsonPath": ".spec.host"}]),
            version("v2", OTHER, selectableFields=[{"jsonPath": ".spec.address"}]),
            conversion=conversion,
        )
    )
    yield made
    await custom.registry.close()
    await runner.cleanup()


async def test_what_is_written_in_one_version_is_kept_in_the_other(
    custom: CustomHouse, hook: Hook
) -> None:
    made = await custom.registry.create(
        custom.at(version="v2"), widget(version="v2", spec={"address": "a:1"})
    )
    kept = await custom.registry.get(custom.at("a"))
    asked_for = await custom.registry.get(custom.at("a", version="v2"))

    assert shown(made)["spec"] == {"address": "a:1"}
    assert kept.decode()["spec"] == {"host": "a", "port": "1"}
    assert asked_for.decode()["spec"] == {"address": "a:1"}
    assert asked_for.decode()["apiVersion"] == "w.test/v2"


async def test_a_list_is_converted_by_one_question(custom: CustomHouse, hook: Hook) -> None:
    for name in ("a", "b"):
        await custom.registry.create(custom.at(), widget(name, spec={"host": name, "port": "1"}))
    before = hook.asked
    found = await custom.registry.list(custom.at(version="v2"), ListOptions())

    assert [v.decode()["spec"]["address"] for v in found.versions] == ["a:1", "b:1"]
    assert hook.asked == before + 1


async def test_patches_and_configurations_are_of_the_version_that_is_asked(
    custom: CustomHouse, hook: Hook
) -> None:
    await custom.registry.create(custom.at(), widget(spec={"host": "a", "port": "1"}))
    there = custom.at("a", version="v2")
    patched = await custom.registry.patch(there, MERGE_PATCH, {"spec": {"address": "b:2"}})
    assert shown(patched)["spec"] == {"address": "b:2"}

    applying = custom.at("a", version="v2", field_manager="m", force=True)
    config = widget(version="v2", spec={"address": "c:3"})
    applied = await custom.registry.patch(applying, APPLY_PATCH, config)
    assert shown(applied)["spec"] == {"address": "c:3"}
    kept = await custom.registry.get(custom.at("a"))
    assert kept.decode()["spec"] == {"host": "c", "port": "3"}


async def test_an_object_must_be_right_before_it_is_converted(
    custom: CustomHouse, hook: Hook
) -> None:
    before = hook.asked
    wrong = widget(version="v2", spec={})
    error = await refused(custom.registry.create(custom.at(version="v2"), wrong))

    assert error.message == 'Widget.w.test "a" is invalid: spec.address: Required value'
    assert hook.asked == before


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda r: {**r, "result": {"status": "Failed", "message": "no"}}, "no"),
        (lambda r: {**r, "convertedObjects": []}, "returned 0 objects, expected 1"),
        (lambda r: {**r, "convertedObjects": [{}]}, "expected apiVersion w.test/v2"),
    ],
)
async def test_a_webhook_that_fails_is_503_with_its_reason(
    custom: CustomHouse, hook: Hook, spoil: Callable[[Any], Any], why: str
) -> None:
    await custom.registry.create(custom.at(), widget(spec={"host": "a", "port": "1"}))
    hook.spoil = spoil
    error = await refused(custom.registry.get(custom.at("a", version="v2")))

    assert error.code == 503
    assert error.message.startswith("conversion webhook for w.test/v2, Kind=Widget failed: ")
    assert why in error.message


async def test_nothing_of_the_metadata_but_labels_and_annotations_is_taken(
    custom: CustomHouse, hook: Hook
) -> None:
    await custom.registry.create(custom.at(), widget(spec={"host": "a", "port": "1"}))

    def renamed(response: JSONObject) -> JSONObject:
        for each in response["convertedObjects"]:
            each["metadata"] = {"name": "other", "uid": "other", "labels": {"x": "y"}}
        return response

    hook.spoil = renamed
    found = (await custom.registry.get(custom.at("a", version="v2"))).decode()["metadata"]

    assert (found["name"], found["labels"]) == ("a", {"x": "y"})


async def test_the_frames_of_a_watch_are_converted_chunk_by_chunk(
    custom: CustomHouse, hook: Hook
) -> None:
    resource = custom.at(version="v2").resource
    convert = Converting(resource, JSONRepresentation("Widget", "w.test/v2"), custom.registry)
    one = widget(metadata={"resourceVersion": "5"}, spec={"host": "a", "port": "1"})
    bookmark = {"kind": "Widget", "apiVersion": "w.test/v2", "metadata": {"resourceVersion": "6"}}
    chunk = b"".join(
        orjson.dumps({"type": kind, "object": document}) + b"\n"
        for kind, document in (("ADDED", one), ("BOOKMARK", bookmark))
    )
    added, marked = (orjson.loads(line) for line in (await convert(chunk)).splitlines())

    assert (added["type"], added["object"]["spec"]) == ("ADDED", {"address": "a:1"})
    assert added["object"]["metadata"]["resourceVersion"] == "5"
    assert marked["object"]["metadata"]["resourceVersion"] == "6"

    hook.spoil = lambda response: {**response, "convertedObjects": []}
    failed = orjson.loads(await convert(chunk))
    assert (failed["type"], failed["object"]["code"]) == ("ERROR", 503)


async def test_objects_go_whatever_the_webhook_says(custom: CustomHouse, hook: Hook) -> None:
    await custom.registry.create(custom.at(), widget(spec={"host": "a", "port": "1"}))
    hook.spoil = lambda response: {**response, "convertedObjects": []}
    deleted = await custom.registry.delete(custom.at("a", version="v2"), DeleteOptions())

    assert deleted.gone


async def test_a_field_that_only_the_webhook_makes_cannot_be_selected(
    custom: CustomHouse, hook: Hook
) -> None:
    await custom.registry.create(custom.at(), widget(spec={"host": "h", "port": "1"}))

    async def selected(text: str, of: str) -> list[str]:
        options = ListOptions(field_selector=FieldSelector.parse(text))
        found = await custom.registry.list(custom.at(version=of), options)
        return [one.name for one in found.versions]

    assert await selected("spec.host=h", "v1") == ["a"]
    assert await selected("metadata.name=a", "v2") == ["a"]
    error = await refused(selected("spec.address=h:1", "v2"))
    why = "a webhook makes it of v1, where it cannot be selected"
    assert error.code == 400
    assert error.message == f"field label not supported: spec.address: {why}"
