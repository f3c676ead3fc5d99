"""What a client may rely on, whichever server runs: lists, watches, and how they end."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import websockets.sync.client
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from listwatch.serving.application import SERVICE_RESTART
from tests.servers import Server, running
from tests.wire.streams import CONFIG_MAPS, Stream, config_map

PROMPT = 6.0  # seconds, on a busy machine: a server that waited for its clients would take ten


@pytest.fixture
def name(any_server: Server) -> Iterator[str]:
    """A name for an object, which is deleted at the end."""
    made = f"wire-{uuid.uuid4().hex[:8]}"
    yield made
    any_server.request("DELETE", f"{CONFIG_MAPS}/{made}")


def watchers(server: Server, cookies: str) -> int:
    status, body = server.get("/dashboard/watchers.json", token="", Cookie=cookies)
    assert status == 200
    return int(json.loads(body)["counts"]["watching"])


def eventually(said: object, seconds: float = 5.0) -> None:
    assert callable(said)
    deadline = time.monotonic() + seconds
    while not said():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_a_list_has_its_length_and_its_revision(any_server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", any_server.port)
    connection.request(
        "GET", "/api/v1/namespaces", headers={"Authorization": f"Bearer {any_server.token}"}
    )
    response = connection.getresponse()
    body = response.read()
    connection.close()

    assert response.status == 200
    assert response.headers["content-length"] == str(len(body))
    listed = json.loads(body)
    assert listed["kind"] == "NamespaceList"
    assert int(listed["metadata"]["resourceVersion"]) > 0


def test_a_watch_is_chunked_and_each_event_is_a_line_of_its_own(
    any_server: Server, name: str
) -> None:
    path = f"{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name={name}"
    with Stream(any_server, path) as stream:
        headers = stream.headers()
        assert headers[":status"] == "200"
        assert headers["transfer-encoding"] == "chunked"
        assert "content-length" not in headers
        any_server.json("POST", CONFIG_MAPS, config_map(name))
        chunk = stream.chunk()

    assert chunk.endswith(b"\n")
    event = json.loads(chunk)
    assert event["type"] == "ADDED"
    assert event["object"]["metadata"]["name"] == name


def test_headers_of_a_quiet_watch_come_within_a_tenth_of_a_second(any_server: Server) -> None:
    best = 9.0
    for _ in range(3):  # the machine may be busy with something else
        with Stream(any_server, f"{CONFIG_MAPS}?watch=1&labelSelector=nobody=has") as stream:
            stream.headers()
            best = min(best, time.monotonic() - stream.asked_at)

    assert best < 0.1


def test_a_client_that_leaves_an_idle_watch_is_noticed(any_server: Server) -> None:
    cookies = any_server.cookies()
    before = watchers(any_server, cookies)
    with Stream(any_server, f"{CONFIG_MAPS}?watch=1") as stream:
        stream.headers()
        eventually(lambda: watchers(any_server, cookies) == before + 1)

    eventually(lambda: watchers(any_server, cookies) == before)


@pytest.mark.parametrize("command", ["serve", "runserver"])
def test_a_stop_ends_all_watches_cleanly_and_at_once(command: str, tmp_path: Path) -> None:
    with running(tmp_path, command=command) as server, ExitStack() as open_:
        streams = [open_.enter_context(Stream(server, f"{CONFIG_MAPS}?watch=1")) for _ in range(20)]
        for stream in streams:
            stream.headers()
        begun = time.monotonic()
        assert server.stop() == 0
        took = time.monotonic() - begun
        for stream in streams:
            while stream.event() is not None:
                pass

        assert all(stream.ended for stream in streams)
        assert took < PROMPT
        assert "Traceback" not in server.log


def test_the_dashboards_socket_opens_for_who_is_logged_in(any_server: Server) -> None:
    address = any_server.url.replace("http", "ws") + "/dashboard/socket/"
    headers = {"Cookie": any_server.cookies()}
    with websockets.sync.client.connect(
        address, additional_headers=headers, origin=websockets.Origin(any_server.url)
    ) as socket:
        frame = json.loads(socket.recv(timeout=5))

        assert int(frame["applied"]) > 0


def test_the_dashboards_socket_refuses_pages_of_other_ports_and_hosts(any_server: Server) -> None:
    address = any_server.url.replace("http", "ws") + "/dashboard/socket/"
    headers = {"Cookie": any_server.cookies()}
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
        with pytest.raises(InvalidStatus) as refusal:
            websockets.sync.client.connect(
                address, additional_headers=headers, origin=websockets.Origin(origin)
            )

        assert refusal.value.response.status_code == 403


@pytest.mark.parametrize("command", ["serve", "runserver"])
def test_a_stop_closes_open_sockets(command: str, tmp_path: Path) -> None:
    with running(tmp_path, command=command) as server:
        address = server.url.replace("http", "ws") + "/dashboard/socket/"
        with websockets.sync.client.connect(
            address, additional_headers={"Cookie": server.cookies()},
            origin=websockets.Origin(server.url),
        ) as socket:  # fmt: skip
            socket.recv(timeout=5)
            begun = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - begun < PROMPT
            with pytest.raises(ConnectionClosedError) as end:
                list(socket)
            assert end.value.rcvd is not None
            assert end.value.rcvd.code == SERVICE_RESTART


def test_static_files_are_served_and_asked_for_again_by_their_tag(any_server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", any_server.port)
    path = "/static/dashboard/tokens.css"
    connection.request("GET", path)
    first = connection.getresponse()
    body = first.read()
    assert first.status == 200
    assert first.headers["content-type"].startswith("text/css")
    assert b"{" in body
    connection.request("GET", path, headers={"If-None-Match": first.headers["etag"]})
    again = connection.getresponse()
    assert (again.status, again.read()) == (304, b"")
    for absent in ("/static/absent.css", "/static/../manage.py", "/static/", "/static/dashboard"):
        connection.request("GET", absent)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 404
    connection.close()


def test_the_root_sends_a_browser_to_the_dashboard_and_tells_a_client_the_paths(
    any_server: Server,
) -> None:
    paths = any_server.json("GET", "/")["paths"]
    assert "/api/v1" in paths

    connection = http.client.HTTPConnection("127.0.0.1", any_server.port)
    connection.request("GET", "/", headers={"Accept": "text/html,*/*;q=0.8"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert (answer.status, answer.headers["location"]) == (302, "/dashboard/")


def test_five_hundred_watches_start_no_thread(any_server: Server) -> None:
    def threads() -> int:
        return len(list(Path(f"/proc/{any_server.pid}/task").iterdir()))

    with ExitStack() as open_:
        open_.enter_context(Stream(any_server, f"{CONFIG_MAPS}?watch=1")).headers()
        before = threads()
        streams = [
            open_.enter_context(Stream(any_server, f"{CONFIG_MAPS}?watch=1")) for _ in range(500)
        ]
        for stream in streams:
            assert stream.headers()[":status"] == "200"

        assert threads() == before
