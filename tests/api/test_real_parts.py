"""The face before real parts: runtime, registry, cache and store, and a server's sessions."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.utils import CursorWrapper

from listwatch.conf import Options
from listwatch.protocol.events import EndReason
from listwatch.runtime import Runtime
from listwatch.schemas.decoding import decode
from listwatch.schemas.kinds import builtin_resources
from tests.api.asking import TABLE, Face
from tests.servers import Server, server

__all__ = ["server"]
PATH = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def _schemas_are_read() -> None:
    for resource in builtin_resources():
        decode(resource.gvk, {"kind": resource.kind, "apiVersion": resource.api_version})


@pytest.fixture
async def face(_schemas_are_read: None, store: None) -> AsyncIterator[Face]:
    runtime = Runtime(Options())
    await runtime.start()
    face = Face()
    face.runtime = runtime  # type: ignore[assignment]
    yield face
    await runtime.stop()


async def test_a_list_from_the_cache_touches_no_database_and_no_thread(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        made = await face.ask("POST", PATH, {"metadata": {"name": f"c{number}"}})
        assert made.status == 201
    await face.ask("GET", PATH)  # the cache has caught up

    # The server's own tasks go on meanwhile; what a request starts inherits its context.
    asking: ContextVar[bool] = ContextVar("asking", default=False)
    for owner, name in (
        (CursorWrapper, "execute"),
        (face.runtime.readers, "run"),
        (threading.Thread, "start"),
        (asyncio.get_running_loop(), "run_in_executor"),
    ):
        original = getattr(owner, name)

        def guarded(*args: Any, original: Any = original, **named: Any) -> Any:
            assert not asking.get(), "this list must come from memory alone"
            return original(*args, **named)

        monkeypatch.setattr(owner, name, guarded)
    asking.set(True)

    for accept in ("application/json", TABLE, "application/yaml"):
        answer = await face.ask("GET", f"{PATH}?resourceVersion=0", headers={"accept": accept})

        assert answer.status == 200
        assert b"c2" in answer.body
    asking.set(False)


async def test_500_watches_start_no_thread_and_see_every_write(face: Face) -> None:
    await face.ask("GET", PATH)
    before = threading.active_count()
    connections = [face.open("GET", f"{PATH}?watch=1") for _ in range(500)]
    for connection in connections:
        await connection.sent.wait()

    assert threading.active_count() == before

    made = await face.ask("POST", PATH, {"metadata": {"name": "seen"}})
    revision = made.json["metadata"]["resourceVersion"]
    for connection in connections:
        await connection.until(b"seen")

    event = json.loads(connections[0].answer.body.splitlines()[-1])
    assert (event["type"], event["object"]) == ("ADDED", made.json)
    assert event["object"]["metadata"]["resourceVersion"] == revision
    assert threading.active_count() == before

    for connection in connections:
        connection.leave()
    for connection in connections:
        assert connection.task is not None
        await asyncio.wait_for(connection.task, 10)
    watchers = face.runtime.caches.cacher(_configmaps(face)).watchers()
    assert [w for w in watchers if w.end_reason is None] == []


async def test_a_server_that_stops_ends_its_watches_cleanly(face: Face) -> None:
    connection = face.open("GET", f"{PATH}?watch=1")
    await connection.sent.wait()
    face.runtime.caches.end_watches(EndReason.SERVER_STOPPING)
    assert connection.task is not None
    await asyncio.wait_for(connection.task, 5)

    assert connection.answer.complete


async def test_events_of_two_groups_are_one_object(face: Face) -> None:
    path = "/api/v1/namespaces/default/events"
    other = "/apis/events.k8s.io/v1/namespaces/default/events"
    watching = face.open("GET", f"{other}?watch=1")
    await watching.sent.wait()
    involved = {"kind": "Pod", "name": "p", "namespace": "default"}
    await face.ask("POST", path, {"metadata": {"name": "e"}, "involvedObject": involved})

    listed = (await face.ask("GET", other)).json["items"][0]
    got = (await face.ask("GET", f"{other}/e")).json
    await watching.until(b"regarding")
    event = json.loads(watching.answer.body)

    assert listed["regarding"] == got["regarding"] == event["object"]["regarding"] == involved
    assert got["apiVersion"] == event["object"]["apiVersion"] == "events.k8s.io/v1"
    watching.leave()


async def test_a_scrape_is_prometheus_text(face: Face) -> None:
    answer = await face.ask("GET", "/metrics")

    assert answer.status == 200
    assert answer.header("content-type") == ["text/plain; version=0.0.4; charset=utf-8"]
    assert b"apiserver_watch_cache_resource_version" in answer.body
    assert b'resource="configmaps"' in answer.body


def _configmaps(face: Face) -> object:
    resource = face.runtime.resources.find("", "v1", "configmaps")
    assert resource is not None
    return resource.storage


def _ask(server: Server, method: str, headers: dict[str, str], body: object = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    data = None if body is None else json.dumps(body)
    try:
        connection.request(method, PATH, data, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def test_the_session_of_a_login_link_reads_and_with_its_page_writes(server: Server) -> None:
    cookies = server.cookies()
    secret = "x" * 32
    with_page = f"{cookies}; {settings.CSRF_COOKIE_NAME}={secret}"
    made = {"metadata": {"name": "by-browser"}}

    assert _ask(server, "GET", {"Cookie": cookies}) == 200
    assert _ask(server, "POST", {"Cookie": cookies}, made) == 403
    assert _ask(server, "POST", {"Cookie": with_page, "X-CSRFToken": secret}, made) == 201
    assert _ask(server, "GET", {"Cookie": f"{settings.SESSION_COOKIE_NAME}=nonsense"}) == 403
    assert server.request("DELETE", f"{PATH}/by-browser")[0] == 200
