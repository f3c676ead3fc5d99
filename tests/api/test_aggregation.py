"""Another API server behind this one: discovered, asked in the user's name, and missed."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from listwatch.api.aggregation.discovery import merged
from listwatch.conf import Options
from listwatch.registry.api_services.documents import ask
from listwatch.runtime import Runtime
from listwatch.schemas.decoding import decode
from listwatch.schemas.kinds import builtin_resources
from tests.api.asking import Face

GROUP = "far.test"
PATH = f"/apis/{GROUP}/v1"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Remote:
    """An API server in this process, which notes what it is told."""

    def __init__(self) -> None:
        self.port = 0
        self.seen: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.asked: list[str] = []
        self.more = asyncio.Event()

    async def resources(self, _: web.Request) -> web.Response:
        entry = {
            "name": "gauges", "singularName": "gauge", "namespaced": True, "kind": "Gauge",
            "verbs": ["get", "list"], "shortNames": ["gg"],
        }  # fmt: skip
        part = {"name": "gauges/status", "namespaced": True, "kind": "Gauge", "verbs": ["get"]}
        return web.json_response({"kind": "APIResourceList", "resources": [entry, part]})

    async def openapi(self, request: web.Request) -> web.Response:
        self.asked.append(request.headers.get("If-None-Match", ""))
        if request.path.endswith("/v3"):
            url = f"/openapi/v3{PATH}?hash=1"
            return web.json_response({"paths": {PATH.strip("/"): {"serverRelativeURL": url}}})
        if self.asked[-1] == '"1"':
            return web.Response(status=304)
        operation = {"responses": {"200": {"schema": {"$ref": "#/definitions/Gauge"}}}}
        document = {
            "paths": {
                f"{PATH}/gauges": {"get": operation},
                "/apis/apps/v1/": {"get": {"description": "not its own"}},
            },
            "definitions": {
                "Gauge": {"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}},
                "A": {"type": "string"},
                "Unused": {"type": "string"},
            },
        }
        return web.json_response(document, headers={"ETag": '"1"'})

    async def gauges(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        self.bodies.append(await request.read())
        if "watch" not in request.query:
            return web.json_response({"kind": "GaugeList", "items": []}, headers={"X-Mine": "1"})
        stream = web.StreamResponse(headers={"Content-Type": "application/json"})
        await stream.prepare(request)
        await stream.write(b'{"type":"ADDED"}\n')
        await self.more.wait()
        await stream.write(b'{"type":"MODIFIED"}\n')
        return stream


@pytest.fixture
async def remote() -> AsyncIterator[Remote]:
    made = Remote()
    app = web.Application()
    app.router.add_get(PATH, made.resources)
    app.router.add_get("/openapi/v2", made.openapi)
    app.router.add_get("/openapi/v3", made.openapi)
    app.router.add_route("*", f"{PATH}/gauges", made.gauges)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listener).start()
    made.port = listener.getsockname()[1]
    yield made
    made.more.set()
    await runner.cleanup()


@pytest.fixture
async def face(store: None) -> AsyncIterator[Face]:
    for resource in builtin_resources():
        decode(resource.gvk, {"kind": resource.kind, "apiVersion": resource.api_version})
    runtime = Runtime(Options())
    await runtime.start()
    face = Face()
    face.runtime = runtime  # type: ignore[assignment]
    yield face
    await runtime.stop()


async def aggregate(face: Face, port: int, *, available: bool = True) -> None:
    """Have a server on that port answer the group, and wait until that is found out."""
    spec = {
        "type": "ExternalName", "externalName": "localhost",
        "ports": [{"port": port, "appProtocol": "http"}],
    }  # fmt: skip
    namespaced = "/api/v1/namespaces/default/services"
    made = await face.ask("POST", namespaced, {"metadata": {"name": "far"}, "spec": spec})
    assert made.status == 201, made.body
    service = {"namespace": "default", "name": "far", "port": port}
    priorities = {"groupPriorityMinimum": 100, "versionPriority": 10}
    made = await face.ask(
        "POST",
        SERVICES,
        {
            "metadata": {"name": f"v1.{GROUP}"},
            "spec": {"group": GROUP, "version": "v1", "service": service, **priorities},
        },
    )
    assert made.status == 201, made.body
    await until_told(face, "True" if available else "False")


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what other tasks do."""
    async with asyncio.timeout(20):
        while not await holds():  # noqa: ASYNC110 (other threads have to commit)
            await asyncio.sleep(0.01)


async def until_told(face: Face, status: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while True:
            answer = (await face.ask("GET", f"{SERVICES}/v1.{GROUP}")).json
            conditions = answer["status"].get("conditions") or []
            if [one["status"] for one in conditions] == [status]:
                found: dict[str, Any] = conditions[0]
                return found
            await asyncio.sleep(0.01)


async def test_a_request_is_answered_there_in_the_name_of_who_asks(
    face: Face, remote: Remote
) -> None:
    await aggregate(face, remote.port)
    answer = await face.ask(
        "POST", f"{PATH}/gauges?dryRun=All", b'{"a":1}',
        headers={"x-remote-user": "forged", "cookie": "c", "x-kept": "yes"},
    )  # fmt: skip
    request = remote.seen[-1]

    assert (answer.status, answer.json["kind"]) == (200, "GaugeList")
    assert answer.header("x-mine") == ["1"]
    assert (request.query_string, remote.bodies[-1]) == ("dryRun=All", b'{"a":1}')
    assert request.headers.getall("X-Remote-User") == ["admin"]
    assert "system:masters" in request.headers.getall("X-Remote-Group")
    assert request.headers["x-kept"] == "yes"
    for secret in ("Authorization", "Cookie"):
        assert secret not in request.headers


async def test_a_watch_comes_as_it_is_written(face: Face, remote: Remote) -> None:
    await aggregate(face, remote.port)
    connection = face.open("GET", f"{PATH}/gauges?watch=true")
    await connection.until(b"ADDED")
    assert not connection.answer.complete
    remote.more.set()
    await connection.until(b"MODIFIED")
    assert connection.task is not None
    await connection.task

    assert connection.answer.complete


async def test_a_client_that_leaves_is_left_there_too(face: Face, remote: Remote) -> None:
    await aggregate(face, remote.port)
    connection = face.open("GET", f"{PATH}/gauges?watch=true")
    await connection.until(b"ADDED")
    connection.leave()
    assert connection.task is not None
    await connection.task

    assert face.runtime.aggregator.streams == set()


async def test_a_server_that_stops_ends_what_passes_through(face: Face, remote: Remote) -> None:
    await aggregate(face, remote.port)
    connection = face.open("GET", f"{PATH}/gauges?watch=true")
    await connection.until(b"ADDED")
    face.runtime.end_streams()
    assert connection.task is not None
    await connection.task

    assert connection.answer.complete


async def test_who_may_not_ask_is_refused_here(face: Face, remote: Remote) -> None:
    await aggregate(face, remote.port)
    answer = await face.ask("GET", f"{PATH}/gauges", token="L")

    assert answer.status == 403
    assert remote.seen == []


async def test_its_resources_are_discovered_with_all_others(face: Face, remote: Remote) -> None:
    await aggregate(face, remote.port)
    groups = (await face.ask("GET", "/apis")).json["groups"]
    group = (await face.ask("GET", f"/apis/{GROUP}")).json
    document = (await face.ask("GET", "/apis", headers={"accept": AGGREGATED})).json
    [far] = [item for item in document["items"] if item["metadata"]["name"] == GROUP]
    [version] = far["versions"]

    assert GROUP in [one["name"] for one in groups]
    assert group["preferredVersion"]["groupVersion"] == f"{GROUP}/v1"
    assert version["freshness"] == "Current"
    [gauges] = version["resources"]
    assert (gauges["resource"], gauges["scope"], gauges["shortNames"]) == (
        "gauges", "Namespaced", ["gg"],
    )  # fmt: skip
    assert [sub["subresource"] for sub in gauges["subresources"]] == ["status"]


async def test_its_schemas_are_among_all_others_and_stay_when_it_is_down(
    face: Face, remote: Remote
) -> None:
    before = await face.ask("GET", "/openapi/v2")
    await aggregate(face, remote.port)
    await until(lambda: holds(face, "/openapi/v2", f"{PATH}/gauges"))
    await face.ask(
        "PATCH", "/api/v1/namespaces/default/services/far", {"spec": {"externalName": "none.test"}},
        headers={"content-type": "application/merge-patch+json"},
    )  # fmt: skip
    answer = await face.ask("GET", "/openapi/v2")
    index = json.loads((await face.ask("GET", "/openapi/v3")).body)

    assert answer.header("etag") != before.header("etag")
    assert answer.json["definitions"]["Gauge"]["type"] == "object"
    assert answer.json["definitions"]["A"] == {"type": "string"}
    assert "Unused" not in answer.json["definitions"]
    assert answer.json["paths"]["/apis/apps/v1/deployments"]
    assert "/apis/apps/v1/" not in answer.json["paths"]
    url = index["paths"][PATH.strip("/")]["serverRelativeURL"]
    assert url == f"/openapi/v3{PATH}?hash=1"

    await face.ask("DELETE", f"{SERVICES}/v1.{GROUP}")
    assert (await face.ask("GET", "/openapi/v2")).header("etag") == before.header("etag")


async def test_a_document_that_is_known_is_not_asked_for_again(face: Face, remote: Remote) -> None:
    await aggregate(face, remote.port)
    await until(lambda: holds(face, "/openapi/v2", f"{PATH}/gauges"))
    aggregator = face.runtime.aggregator
    [there] = aggregator.remotes.all()
    known = aggregator.remotes.documents(there)

    assert await ask(aggregator.connections, there, known) == known
    assert remote.asked.count('"1"') == 1


async def holds(face: Face, path: str, inner: str) -> bool:
    return inner in (await face.ask("GET", path)).json["paths"]


async def test_one_that_is_down_is_503_and_says_so(face: Face) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    await aggregate(face, port, available=False)
    condition = await until_told(face, "False")
    answer = await face.ask("GET", f"{PATH}/gauges")
    document = (await face.ask("GET", "/apis", headers={"accept": AGGREGATED})).json
    [far] = [item for item in document["items"] if item["metadata"]["name"] == GROUP]

    assert condition["reason"] == "FailedDiscoveryCheck"
    assert (answer.status, answer.json["message"]) == (503, "service unavailable")
    assert far["versions"][0]["freshness"] == "Stale"


async def test_a_service_that_is_not_there_is_named(face: Face) -> None:
    spec = {
        "group": GROUP, "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
        "service": {"namespace": "default", "name": "none"},
    }  # fmt: skip
    await face.ask("POST", SERVICES, {"metadata": {"name": f"v1.{GROUP}"}, "spec": spec})
    condition = await until_told(face, "False")

    assert condition["reason"] == "ServiceNotFound"


async def test_a_server_that_is_gone_is_forgotten(face: Face, remote: Remote) -> None:
    await aggregate(face, remote.port)
    await face.ask("DELETE", f"{SERVICES}/v1.{GROUP}")

    assert (await face.ask("GET", f"/apis/{GROUP}")).status == 404
    assert (await face.ask("GET", f"{PATH}/gauges")).status == 404


async def test_what_is_served_here_has_services_that_come_back(face: Face) -> None:
    async def there() -> bool:
        return (await face.ask("GET", f"{SERVICES}/v1.apps")).status == 200

    await until(there)
    before = (await face.ask("GET", f"{SERVICES}/v1.apps")).json
    await face.ask("DELETE", f"{SERVICES}/v1.apps")
    await until(there)
    after = (await face.ask("GET", f"{SERVICES}/v1.apps")).json

    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"] == {
        "group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15,
    }  # fmt: skip
    assert [one["reason"] for one in after["status"]["conditions"]] == ["Local"]


@pytest.mark.parametrize(
    ("name", "spec", "field"),
    [
        ("v1.other", {}, "metadata.name"),
        ("v1.far.test", {"versionPriority": 0}, "spec.versionPriority"),
        ("v1.far.test", {"groupPriorityMinimum": 20001}, "spec.groupPriorityMinimum"),
        ("v1.far.test", {"service": {"name": "x"}}, "spec.service.namespace"),
        ("v1.far.test", {"insecureSkipTLSVerify": True}, "spec.insecureSkipTLSVerify"),
    ],
)
async def test_a_wrong_service_is_refused(
    face: Face, name: str, spec: dict[str, Any], field: str
) -> None:
    right = {"group": GROUP, "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}
    answer = await face.ask("POST", SERVICES, {"metadata": {"name": name}, "spec": right | spec})

    assert answer.status == 422
    assert field in [cause["field"] for cause in answer.json["details"]["causes"]]


def test_a_part_without_its_resource_is_left_out() -> None:
    assert merged([{"name": "a/status"}]) == []
