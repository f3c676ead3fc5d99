from __future__ import annotations

import asyncio
import threading
from typing import Any

import orjson
import pytest

from listwatch.api.tables import TableForm, TableRepresentation
from listwatch.api.watch import LAST_CHUNK
from listwatch.protocol.errors import StatusError
from listwatch.protocol.events import EndReason, EventType
from listwatch.testing.clock import FakeClock
from tests.api.asking import TABLE, Connection, Face, config_map

PATH = "/api/v1/namespaces/ns/configmaps"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


class Watcher:
    """Gives the chunks that a test puts in; None ends it."""

    def __init__(self, *chunks: bytes | None) -> None:
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        for chunk in chunks:
            self._chunks.put_nowait(chunk)
        self.end_reason: EndReason | None = None
        self.on_end: Any = None

    def give(self, chunk: bytes | None) -> None:
        self._chunks.put_nowait(chunk)

    async def next_chunk(self) -> bytes | None:
        return await self._chunks.get()

    def close(self, reason: EndReason) -> None:
        self.end_reason = self.end_reason or reason
        if self.on_end is not None:
            self.on_end()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def done(connection: Connection) -> None:
    assert connection.task is not None
    await asyncio.wait_for(connection.task, 5)


async def test_headers_go_out_before_the_first_event() -> None:
    face, watcher = Face(), Watcher()
    face.registry.watcher = watcher
    connection = face.open("GET", f"{PATH}?watch=1")
    await settle()

    answer = connection.answer
    assert (answer.status, answer.chunks, answer.complete) == (200, [b""], False)
    assert answer.header("content-type") == ["application/json"]
    assert answer.header("cache-control") == ["no-cache, private"]
    assert answer.header("x-accel-buffering") == ["no"]
    assert answer.header("content-length") == []

    watcher.give(b"one\n")
    await settle()
    watcher.give(b"two\n")
    watcher.give(None)
    await done(connection)

    assert (answer.chunks, answer.complete) == ([b"", b"one\n", b"two\n", b""], True)


async def test_a_client_that_leaves_is_noticed_while_nothing_happens() -> None:
    face, watcher = Face(), Watcher()
    face.registry.watcher = watcher
    connection = face.open("GET", f"{PATH}?watch=1")
    await settle()
    connection.leave()
    await done(connection)

    assert watcher.end_reason is EndReason.CLIENT_LEFT
    assert not connection.answer.complete


async def test_a_server_that_cancels_a_request_is_obeyed() -> None:
    face, watcher = Face(), Watcher()
    face.registry.watcher = watcher
    connection = face.open("GET", f"{PATH}?watch=1")
    await settle()
    assert connection.task is not None
    connection.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await connection.task
    assert watcher.end_reason is EndReason.CLIENT_LEFT


async def test_a_reader_that_reads_nothing_is_cut_when_its_watch_ends_as_too_slow() -> None:
    face, watcher = Face(), Watcher(b"one\n")
    face.registry.watcher = watcher
    connection = face.open("GET", f"{PATH}?watch=1")
    connection.blocked.set()
    await settle()
    watcher.close(EndReason.TOO_SLOW)
    await face.clock.advance(0)
    await done(connection)

    assert watcher.end_reason is EndReason.TOO_SLOW
    assert not connection.answer.complete


async def test_a_reader_may_take_what_is_under_way_when_its_watch_ends() -> None:
    face, watcher = Face(), Watcher(b"one\n")
    face.registry.watcher = watcher
    connection = face.open("GET", f"{PATH}?watch=1")
    connection.blocked.set()
    await settle()
    watcher.close(EndReason.SERVER_STOPPING)
    await face.clock.advance(LAST_CHUNK - 0.1)
    assert connection.task is not None
    assert not connection.task.done()

    await face.clock.advance(0.2)
    await done(connection)

    assert not connection.answer.complete


async def test_what_must_be_said_before_the_stream_is_a_status() -> None:
    face = Face()

    async def not_ready(*_: object) -> None:
        raise StatusError(429, "TooManyRequests", "initializing", details={"retryAfterSeconds": 1})

    face.registry.watch = not_ready  # type: ignore[assignment]
    answer = await face.ask("GET", f"{PATH}?watch=1")

    assert (answer.status, answer.header("retry-after")) == (429, ["1"])


async def test_a_watch_that_fails_is_broken_off(caplog: pytest.LogCaptureFixture) -> None:
    face, watcher = Face(), Watcher()

    async def broken() -> bytes:
        raise RuntimeError("out of order")

    watcher.next_chunk = broken  # type: ignore[method-assign]
    face.registry.watcher = watcher
    answer = await face.ask("GET", f"{PATH}?watch=1")

    assert (answer.status, answer.complete) == (200, False)
    assert "out of order" in caplog.text


@pytest.mark.parametrize(
    ("query", "watches"),
    [("watch", True), ("watch=", True), ("watch=no", True), ("watch=1", True),
     ("watch=0", False), ("watch=False", False), ("Watch=true", False)],
)  # fmt: skip
async def test_the_watch_parameter_is_false_only_for_0_and_false(query: str, watches: bool) -> None:
    face = Face()
    face.registry.watcher = Watcher(None)
    await face.ask("GET", f"{PATH}?{query}")

    assert face.registry.asked[0][0] == ("watch" if watches else "list")


async def test_a_watch_begins_with_the_state_unless_told_otherwise() -> None:
    face = Face()
    face.registry.watcher = Watcher(None, None, None)
    await face.ask("GET", f"{PATH}?watch=1")
    await face.ask("GET", f"{PATH}?watch=1&resourceVersion=5")
    await face.ask("GET", "/api/v1/watch/namespaces/ns/configmaps")

    options = [asked[2][0] for asked in face.registry.asked]
    assert [one.send_initial_events for one in options] == [True, None, None]
    assert all(one.watch for one in options)


async def test_the_name_of_a_deprecated_path_is_a_field_selector() -> None:
    face = Face()
    face.registry.watcher = Watcher(None, None)
    path = "/api/v1/watch/namespaces/ns/configmaps/a"
    await face.ask("GET", path)
    same = await face.ask("GET", f"{path}?fieldSelector=metadata.name%3Da")
    other = await face.ask("GET", f"{path}?fieldSelector=metadata.name%3Db")

    assert str(face.registry.asked[0][2][0].field_selector) == "metadata.name=a"
    assert (same.status, other.status) == (200, 400)


async def test_the_watcher_knows_its_client() -> None:
    face = Face()
    face.registry.watcher = Watcher(None)
    await face.ask("GET", f"{PATH}?watch=1", headers={"user-agent": "kubectl/v1.37"})

    client = face.registry.asked[0][2][2]
    assert (client.agent, client.user, client.address) == ("kubectl/v1.37", "admin", "127.0.0.1:5")


@pytest.mark.parametrize(
    ("accept", "expected"),
    [("application/json", "json"), ("*/*", "json"), (TABLE, "table"), (PARTIAL, "partial")],
)
async def test_frames_are_written_as_negotiated(accept: str, expected: str) -> None:
    face = Face()
    face.registry.watcher = Watcher(None)
    await face.ask("GET", f"{PATH}?watch=1", headers={"accept": accept})

    assert face.registry.asked[0][2][1].name == expected


@pytest.mark.parametrize("accept", ["application/yaml", "text/html", PARTIAL_LIST])
async def test_what_cannot_be_streamed_is_406(accept: str) -> None:
    answer = await Face().ask("GET", f"{PATH}?watch=1", headers={"accept": accept})

    assert answer.status == 406


def table(clock: FakeClock) -> TableRepresentation:
    face = Face()
    resource = face.runtime.resources.find("", "v1", "configmaps")
    assert resource is not None
    return TableRepresentation(TableForm(resource, clock))


def test_equal_table_watches_share_their_frames() -> None:
    assert table(FakeClock()) == table(FakeClock(5.0))
    assert hash(table(FakeClock())) == hash(table(FakeClock(5.0)))


def test_only_the_first_frame_of_a_table_watch_has_columns() -> None:
    version = Face().registry.put(config_map("a"), 5)
    frames = [
        orjson.loads(table(FakeClock()).frame(EventType.DELETED, version, 9, first=first))
        for first in (True, False)
    ]

    assert [frame["type"] for frame in frames] == ["DELETED", "DELETED"]
    first, second = (frame["object"] for frame in frames)
    assert [column["name"] for column in first["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert second["columnDefinitions"] is None
    assert first["metadata"] == {"resourceVersion": "9"}
    assert first["rows"][0]["object"]["metadata"]["resourceVersion"] == "9"


def test_a_bookmark_of_a_table_watch_is_a_row_of_nothing() -> None:
    frame = orjson.loads(table(FakeClock()).bookmark(9, initial_events_end=True))

    row = frame["object"]["rows"][0]
    assert row["cells"] == ["", 0, "<unknown>"]
    assert row["object"]["metadata"] == {
        "resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"},
    }  # fmt: skip


async def test_500_watches_start_no_thread() -> None:
    face = Face()
    face.registry.watch = _own_watcher  # type: ignore[assignment]
    await face.ask("GET", "/version")
    before = threading.active_count()
    connections = [face.open("GET", f"{PATH}?watch=1") for _ in range(500)]
    await settle()

    assert {connection.answer.status for connection in connections} == {200}
    assert threading.active_count() == before

    for connection in connections:
        connection.leave()
    for connection in connections:
        await done(connection)


async def _own_watcher(*_: object) -> Watcher:
    return Watcher()


async def test_a_list_from_the_cache_touches_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    face = Face()
    face.registry.put(config_map("a"), 5)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a thread was asked")

    monkeypatch.setattr(threading.Thread, "start", forbidden)
    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", forbidden)

    answer = await face.ask("GET", PATH)

    assert len(answer.json["items"]) == 1
