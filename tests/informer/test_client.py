"""The REST client on the wire: what it sends, and what it makes of answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from listwatch.informer import APIResource, Client, ClientConfig
from listwatch.informer.client import PATCH_TYPES
from listwatch.informer.errors import (
    ConflictError,
    ConnectionRefused,
    DecodingError,
    InternalError,
    NotFoundError,
    ServiceUnavailableError,
    StreamCutError,
    TooManyRequestsError,
    TransportError,
)
from listwatch.informer.list_watch import HTTPListerWatcher, ListQuery, WatchQuery
from listwatch.informer.resources import CONFIG_MAPS, PODS
from listwatch.protocol.options import DeleteOptions
from listwatch.testing.clock import FakeClock
from tests.servers import free_port

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Canned:
    """An HTTP server that answers each request in turn as it was told."""

    def __init__(self) -> None:
        self.answers: list[bytes | Answer] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.connections = 0
        self.port = 0
        self.serving: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def json(self, document: Any, status: int = 200, headers: str = "") -> None:
        body = json.dumps(document).encode()
        self.text(body, status, headers)

    def text(self, body: bytes, status: int = 200, headers: str = "") -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        self.answers.append(head.encode() + body)

    def chunks(self, *chunks: bytes, end: bool = True) -> None:
        async def answer(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for chunk in chunks:
                writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                await writer.drain()
                await asyncio.sleep(0.01)
            writer.write(b"0\r\n\r\n" if end else b"")
            if not end:
                writer.close()

        self.answers.append(answer)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            await self._answer_all(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, IndexError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.split(": ", 1) for line in head[1:] if line)
                body = await reader.readexactly(int(headers.get("Content-Length", 0)))
                self.requests.append((head[0].rsplit(" ", 1)[0], headers, body))
                answer = self.answers.pop(0)
                if isinstance(answer, bytes):
                    writer.write(answer)
                else:
                    await answer(writer)
                await writer.drain()


@pytest.fixture
async def canned() -> AsyncIterator[Canned]:
    made = Canned()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()
    for task in made.serving:
        task.cancel()
    await asyncio.gather(*made.serving, return_exceptions=True)


@pytest.fixture
async def client(canned: Canned) -> AsyncIterator[Client]:
    async with Client(ClientConfig(canned.url, token="secret"), clock=FakeClock()) as made:
        yield made


async def test_verbs_are_the_requests_that_a_server_expects(canned: Canned, client: Client) -> None:
    subject = {"metadata": {"name": "a", "namespace": "blue"}}
    for _ in range(9):
        canned.json({"kind": "X"})
    await client.get(PODS, "a", namespace="blue")
    await client.list(PODS, query={"labelSelector": "a in (b,c)"})
    await client.create(PODS, subject)
    await client.update_status(PODS, subject)
    await client.patch(PODS, "a", [{}], namespace="blue", kind="json")
    await client.delete(PODS, "a", namespace="blue", options=DeleteOptions(0, uid="u"))
    await client.delete_collection(CONFIG_MAPS, namespace="blue")
    await client.create(PODS, {**subject, "target": {}}, name="a", subresource="binding")
    await client.delete(PODS, "a", namespace="blue")
    lines = [line for line, _, _ in canned.requests]

    assert lines == [
        "GET /api/v1/namespaces/blue/pods/a",
        "GET /api/v1/pods?labelSelector=a+in+%28b%2Cc%29",
        "POST /api/v1/namespaces/blue/pods",
        "PUT /api/v1/namespaces/blue/pods/a/status",
        "PATCH /api/v1/namespaces/blue/pods/a",
        "DELETE /api/v1/namespaces/blue/pods/a",
        "DELETE /api/v1/namespaces/blue/configmaps",
        "POST /api/v1/namespaces/blue/pods/a/binding",
        "DELETE /api/v1/namespaces/blue/pods/a",
    ]
    _, headers, body = canned.requests[2]
    assert json.loads(body) == {"apiVersion": "v1", "kind": "Pod", **subject}
    assert headers["Authorization"] == "Bearer secret"
    assert canned.requests[4][1]["Content-Type"] == PATCH_TYPES["json"]
    delete = json.loads(canned.requests[5][2])
    assert (delete["gracePeriodSeconds"], delete["preconditions"]) == (0, {"uid": "u"})
    assert canned.requests[8][2] == b""
    assert canned.connections == 1  # kept alive


async def test_refusals_are_errors_by_class_with_what_the_status_says(
    canned: Canned, client: Client
) -> None:
    canned.json({"kind": "Status", "code": 404, "reason": "NotFound", "message": "m"}, 404)
    with pytest.raises(NotFoundError, match="404 NotFound: m"):
        await client.get(PODS, "a", namespace="b")
    canned.json({"kind": "Status", "code": 409, "reason": "Conflict"}, 409)
    with pytest.raises(ConflictError):
        await client.update(PODS, {"metadata": {"name": "a"}})
    canned.text(b"<html>bad gateway</html>", 500)
    with pytest.raises(InternalError, match="bad gateway"):
        await client.get(PODS, "a")
    canned.text(b"{{{")
    with pytest.raises(DecodingError):
        await client.get(PODS, "a")

    assert client.statistics().refusals == 3


async def test_a_server_that_asks_to_come_back_later_is_asked_again_then(
    canned: Canned,
) -> None:
    clock = FakeClock()
    async with Client(ClientConfig(canned.url), clock=clock) as client:
        for _ in range(2):
            canned.json({"kind": "Status", "code": 429}, 429, "Retry-After: 7\r\n")
        canned.json({"kind": "Pod"})
        asking = asyncio.create_task(client.create(PODS, {"metadata": {}}))
        for _ in range(100):
            await asyncio.sleep(0.01)
            await clock.advance(1)
            if asking.done():
                break
        assert (await asking)["kind"] == "Pod"

        assert client.statistics().retries == 2
        assert clock.now() - FakeClock().now() >= 14


@pytest.mark.parametrize("header", ["", "Retry-After: Wed, 21 Oct 2030 07:28:00 GMT\r\n"])
async def test_without_seconds_to_wait_a_429_is_raised_at_once(
    header: str, canned: Canned, client: Client
) -> None:
    canned.json({"kind": "Status", "code": 429}, 429, header)
    with pytest.raises(TooManyRequestsError):
        await client.get(PODS, "a")


async def test_a_503_without_seconds_is_raised_and_retries_can_be_turned_off(
    canned: Canned, client: Client
) -> None:
    canned.json({"kind": "Status", "code": 503}, 503)
    with pytest.raises(ServiceUnavailableError):
        await client.get(PODS, "a")
    canned.json({"kind": "Status", "code": 503}, 503, "Retry-After: 9\r\n")
    with pytest.raises(ServiceUnavailableError) as caught:
        await client.request("GET", "/x", retries=0)

    assert caught.value.retry_after == 9


async def test_a_write_whose_answer_was_cut_is_never_sent_twice(canned: Canned) -> None:
    async def cut(writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with Client(ClientConfig(canned.url)) as client:
        canned.answers.append(cut)
        with pytest.raises(TransportError):
            await client.create(PODS, {"metadata": {}})
        assert len(canned.requests) == 1


async def test_a_refused_connection_is_told_as_such() -> None:
    async with Client(ClientConfig(f"http://127.0.0.1:{free_port()}")) as client:
        with pytest.raises(ConnectionRefused):
            await client.request("GET", "/x", retries=0)
        with pytest.raises(ConnectionRefused):
            await client.stream("/x")

        assert client.statistics().failures == 2


async def test_lines_of_a_stream_are_whole_however_they_come(
    canned: Canned, client: Client
) -> None:
    text = "a" * 2040 + "変更😀" * 50
    line = json.dumps({"type": "ADDED", "object": {"x": text}}, ensure_ascii=False).encode()
    canned.chunks(line[:2048], line[2048:2049], line[2049:], b"\n" + line + b"\n")
    stream = await client.stream("/watch")
    found = [document async for document in stream]

    assert [document["object"]["x"] for document in found] == [text, text]
    assert client.statistics().open_streams == 0


async def test_an_incomplete_last_line_is_dropped_and_told(canned: Canned, client: Client) -> None:
    for end in (True, False):
        canned.chunks(b'{"a":1}\n{"b"', end=end)
        stream = await client.stream("/watch")
        found = []
        with pytest.raises(StreamCutError):
            found.extend([document async for document in stream])
        canned.chunks(b'{"a":1}\n{"b"', end=end)
        again = await client.stream("/watch")
        assert await again.__anext__() == {"a": 1}
        await again.close()


async def test_a_line_that_is_no_json_is_an_error_of_its_own(
    canned: Canned, client: Client
) -> None:
    for bad in (b"{oops}\n", b"[1]\n"):
        canned.chunks(bad)
        stream = await client.stream("/watch")
        with pytest.raises(DecodingError):
            await stream.__anext__()
        await stream.close()


async def test_a_stream_that_is_left_in_the_middle_is_closed_by_its_context(
    canned: Canned, client: Client
) -> None:
    canned.chunks(b'{"a":1}\n{"b":2}\n')
    async with await client.stream("/watch") as stream:
        assert await anext(aiter(stream)) == {"a": 1}
        assert client.statistics().open_streams == 1
    assert client.statistics().open_streams == 0


async def test_a_closed_stream_ends_and_closing_twice_is_fine(
    canned: Canned, client: Client
) -> None:
    canned.chunks(b'{"a":1}\n')
    stream = await client.stream("/watch")
    await stream.close()
    await stream.close()

    assert [document async for document in stream] == []


async def test_a_stream_that_the_server_ended_has_ended_for_good(
    canned: Canned, client: Client
) -> None:
    """client-go#12: read on, it gave empty events without end, and took a core for them."""
    canned.chunks(b'{"a":1}\n')
    stream = await client.stream("/watch")

    assert [document async for document in stream] == [{"a": 1}]
    for _ in range(3):
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_a_refused_stream_raises_before_any_line(canned: Canned, client: Client) -> None:
    canned.json({"kind": "Status", "code": 410, "reason": "Expired"}, 410)
    from listwatch.informer.errors import ExpiredError

    with pytest.raises(ExpiredError):
        await client.stream("/watch")


async def test_items_of_a_list_get_the_kind_that_lists_leave_out(
    canned: Canned, client: Client
) -> None:
    source = HTTPListerWatcher(
        client, PODS, namespace="blue", label_selector="a=b", field_selector="spec.nodeName="
    )
    metadata = {"resourceVersion": "7", "continue": "next"}
    canned.json(
        {
            "kind": "PodList", "apiVersion": "v1", "metadata": metadata,
            "items": [{"metadata": {"name": "a"}}],
        }
    )  # fmt: skip
    listed = await source.list(ListQuery("5", 10))
    assert listed.items == [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]
    assert (listed.resource_version, listed.continue_token) == ("7", "next")
    canned.chunks(b'{"type":"ADDED","object":{"kind":"Pod"}}\n')
    stream = await source.watch(WatchQuery("7", 300))
    assert [event.type async for event in stream] == ["ADDED"]
    lines = [line for line, _, _ in canned.requests]

    watch = "watch=1&resourceVersion=7&timeoutSeconds=300&allowWatchBookmarks=true"
    selectors = "labelSelector=a%3Db&fieldSelector=spec.nodeName%3D"
    assert lines == [
        f"GET /api/v1/namespaces/blue/pods?{selectors}&resourceVersion=5&limit=10",
        f"GET /api/v1/namespaces/blue/pods?{selectors}&{watch}",
    ]


async def test_a_token_file_is_read_again_after_a_minute_and_after_a_401(
    canned: Canned, tmp_path: Path
) -> None:
    path, clock = tmp_path / "token", FakeClock()
    await asyncio.to_thread(path.write_text, "one\n")
    config = ClientConfig(canned.url, token_file=str(path))
    async with Client(config, clock=clock) as client:
        seen = []

        async def ask(status: int = 200) -> None:
            canned.json({"kind": "Status" if status > 200 else "X", "code": status}, status)
            with contextlib.suppress(Exception):
                await client.get(PODS, "a")
            seen.append(canned.requests[-1][1]["Authorization"].removeprefix("Bearer "))

        await ask()
        await asyncio.to_thread(path.write_text, "two\n")
        await ask()
        await clock.advance(61)
        await ask()
        await asyncio.to_thread(path.write_text, "three\n")
        await ask(401)
        await ask()

    assert seen == ["one", "one", "two", "two", "three"]


async def test_names_and_passwords_and_impersonation(canned: Canned) -> None:
    config = ClientConfig(canned.url, username="u", password="p", impersonate="other")
    async with Client(config) as client:
        canned.json({})
        await client.get(APIResource("g.io", "v1", "things", "Thing"), "a")

    _, headers, _ = canned.requests[0]
    assert headers["Authorization"] == "Basic dTpw"
    assert headers["Impersonate-User"] == "other"


async def test_clients_that_share_slots_have_no_more_requests_under_way(canned: Canned) -> None:
    under_way, most = 0, 0

    async def answer(writer: asyncio.StreamWriter) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    slots, config = asyncio.Semaphore(3), ClientConfig(canned.url)
    async with Client(config, slots=slots) as one, Client(config, slots=slots) as other:
        canned.chunks(b'{"type":"ADDED","object":{}}\n')
        stream = await one.stream("/watch")  # holds none
        canned.answers += [answer] * 20
        await asyncio.gather(*(each.get(PODS, "a") for each in [one, other] * 10))
        await stream.close()

    assert most == 3
