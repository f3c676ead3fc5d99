"""Watches over WebSocket, as fabric8 and browsers ask for them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.servers import Server

WATCH = "/api/v1/namespaces/default/configmaps?watch=true"


def opened(server: Server, path: str, **options: Any) -> ClientConnection:
    headers = {"Authorization": f"Bearer {server.token}", **options.pop("headers", {})}
    made: ClientConnection = connect(
        f"ws://127.0.0.1:{server.port}{path}", additional_headers=headers, proxy=None, **options
    )
    return made


def event(socket: ClientConnection) -> tuple[str, dict[str, Any]]:
    message = socket.recv(timeout=20)
    assert isinstance(message, str)
    document = json.loads(message)
    return document["type"], document["object"]


def test_every_event_is_a_text_message(server: Server) -> None:
    maps = "/api/v1/namespaces/default/configmaps"
    version = server.json("GET", maps)["metadata"]["resourceVersion"]
    name = "seen-by-socket"
    with opened(server, f"{WATCH}&resourceVersion={version}") as socket:
        socket.send("whatever a client says is discarded")
        server.json("POST", maps, {"metadata": {"name": name}, "data": {"a": "größe"}})
        server.json("DELETE", f"{maps}/{name}")
        first, last = event(socket), event(socket)

    assert first[0] == "ADDED"
    assert first[1]["data"] == {"a": "größe"}
    assert last[0] == "DELETED"


def test_the_socket_is_closed_when_the_watch_ends(server: Server) -> None:
    with opened(server, f"{WATCH}&resourceVersion=0&timeoutSeconds=1") as socket:
        messages = list(socket)

    assert all(json.loads(message)["type"] == "ADDED" for message in messages)
    assert socket.close_code == 1000


def test_a_refusal_is_an_error_event_that_a_browser_can_read(server: Server) -> None:
    with opened(server, f"{WATCH}&resourceVersion=cool") as socket:
        kind, status = event(socket)
    assert kind == "ERROR"
    assert status["code"] == 400

    with opened(server, WATCH, headers={"Authorization": ""}) as socket:
        assert event(socket)[1]["code"] in (401, 403)


def test_a_browser_sends_its_token_as_a_protocol(server: Server) -> None:
    token = base64.urlsafe_b64encode(server.token.encode()).decode().rstrip("=")
    offered = [f"base64url.bearer.authorization.k8s.io.{token}", "base64.binary.k8s.io"]
    with connect(
        f"ws://127.0.0.1:{server.port}{WATCH}&resourceVersion=0&timeoutSeconds=1", proxy=None,
        subprotocols=[Subprotocol(each) for each in offered],
    ) as socket:  # fmt: skip
        messages = list(socket)

    assert not any('"ERROR"' in str(message) for message in messages)
    assert socket.subprotocol == "base64.binary.k8s.io"


@pytest.mark.parametrize(
    ("path", "options"),
    [
        (WATCH, {"origin": "http://elsewhere.example"}),  # it would come with the user's cookies
        ("/api/v1/namespaces/default/configmaps", {}),  # a list is no stream
    ],
    ids=["of another page", "no watch"],
)
def test_what_may_not_be_opened_is_refused(
    server: Server, path: str, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidStatus):
        opened(server, path, **options)
