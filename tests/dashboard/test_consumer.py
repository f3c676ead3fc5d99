from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.db import SessionStore

from dashboard import access, consumers
from dashboard.routing import SOCKET_PATH, websocket_urlpatterns
from listwatch.protocol.clock import SystemClock
from listwatch.store.readers import Readers
from tests.dashboard.browser import ADMIN, allowed
from tests.dashboard.stage import Stage


def open_socket(stage: Stage, user: Any) -> WebsocketCommunicator:
    router = URLRouter(websocket_urlpatterns)  # type: ignore[arg-type]  # channels' own type
    socket = WebsocketCommunicator(router, SOCKET_PATH)
    scope: Any = socket.scope
    scope.update({"user": user, "listwatch.runtime": stage, "client": ["127.0.0.1", 1]})
    return socket


@pytest.fixture
def running() -> Stage:
    return Stage(SystemClock())


async def frame_of(socket: WebsocketCommunicator) -> dict[str, Any]:
    frame: dict[str, Any] = orjson.loads(await socket.receive_from(timeout=5))
    await socket.send_to(text_data=orjson.dumps({"do": "ack", "frame": frame["frame"]}).decode())
    return frame


@pytest.mark.parametrize(
    "user",
    [
        None,
        SimpleNamespace(is_authenticated=False, is_active=True),
        SimpleNamespace(is_authenticated=True, is_active=False),
    ],
)
async def test_a_stranger_is_told_to_sign_in(running: Stage, user: Any) -> None:
    socket = open_socket(running, user)

    assert (await socket.connect())[0] is True
    assert (await socket.receive_output(timeout=5))["code"] == 4401


async def test_a_page_is_told_what_it_asked_for(running: Stage) -> None:
    socket = open_socket(running, ADMIN)
    await socket.connect()
    await socket.send_to(text_data='{"do":"subscribe","channel":"overview"}')
    frame = await frame_of(socket)
    while "overview" not in frame["channels"]:
        frame = await frame_of(socket)

    assert frame["channels"]["overview"]["figures"]["applied"] == "0"

    await socket.disconnect()


async def test_leaving_ends_what_was_attached(
    running: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "watching_user", allowed)
    socket = open_socket(running, ADMIN)
    await socket.connect()
    await socket.send_to(text_data='{"do":"attach","id":"a","resource":"v1/pods"}')
    frame = await frame_of(socket)
    while frame["channels"].get("a", {}).get("state") != "live":
        frame = await frame_of(socket)

    assert running.statistics().cachers["pods"].watchers == 1

    await socket.disconnect()

    assert running.statistics().cachers["pods"].watchers == 0
    assert running.statistics().cachers["pods"].ends == {"detached": 1}


@pytest.mark.parametrize("text", [" ", "{", "[]", "null", '{"do":1}', '"text"', '{"do":"ack"}'])
async def test_nonsense_is_answered_and_survived(running: Stage, text: str) -> None:
    socket = open_socket(running, ADMIN)
    await socket.connect()
    await socket.send_to(text_data=text)
    frame = await frame_of(socket)
    while "" not in frame["channels"]:
        frame = await frame_of(socket)

    assert frame["channels"][""]["status"]["code"] == 400

    await socket.disconnect()


async def test_a_message_that_is_too_long_closes_the_socket(running: Stage) -> None:
    socket = open_socket(running, ADMIN)
    await socket.connect()
    await socket.send_to(text_data="x" * 20_000)
    output = await socket.receive_output(timeout=5)
    while output["type"] != "websocket.close":
        output = await socket.receive_output(timeout=5)

    assert output["code"] == 1009


@pytest.mark.parametrize(("outcome", "code"), [(False, 4401), (OSError("the disk"), 1011)])
async def test_a_page_whose_visitor_signed_out_elsewhere_is_closed(
    running: Stage, monkeypatch: pytest.MonkeyPatch, outcome: bool | Exception, code: int
) -> None:
    signed_in = True

    async def asked(runtime: Any, session_key: str) -> bool:
        assert (runtime, session_key) == (running, "key")
        if not signed_in and isinstance(outcome, Exception):
            raise outcome
        return signed_in

    monkeypatch.setattr(consumers, "still_signed_in", asked)
    monkeypatch.setattr(consumers, "ASK_AGAIN", 0.01)
    monkeypatch.setattr(access, "watching_user", allowed)
    socket = open_socket(running, ADMIN)
    scope: Any = socket.scope
    scope["session"] = SimpleNamespace(session_key="key")
    await socket.connect()
    await socket.send_to(text_data='{"do":"attach","id":"a","resource":"v1/pods"}')
    frame = await frame_of(socket)
    while frame["channels"].get("a", {}).get("state") != "live":
        frame = await frame_of(socket)

    signed_in = False
    output = await socket.receive_output(timeout=5)
    while output["type"] != "websocket.close":
        output = await socket.receive_output(timeout=5)

    assert output["code"] == code
    assert running.statistics().cachers["pods"].watchers == 0


@pytest.mark.django_db(transaction=True)
async def test_a_session_goes_on_until_its_end_or_its_users() -> None:
    users = get_user_model().objects
    user = await users.acreate(username="ann")
    session = SessionStore()
    await session.aset("_auth_user_id", str(user.pk))
    await session.aset("_auth_user_backend", "django.contrib.auth.backends.ModelBackend")
    await session.aset("_auth_user_hash", user.get_session_auth_hash())
    await session.asave()
    key = session.session_key or ""
    readers = Readers()
    readers.start()
    runtime: Any = SimpleNamespace(readers=readers)
    try:
        assert await access.still_signed_in(runtime, key)
        await users.filter(pk=user.pk).aupdate(is_active=False)
        assert not await access.still_signed_in(runtime, key)
        await users.filter(pk=user.pk).aupdate(is_active=True)
        assert await access.still_signed_in(runtime, key)
        await session.adelete()
        assert not await access.still_signed_in(runtime, key)
    finally:
        await asyncio.to_thread(readers.stop)
