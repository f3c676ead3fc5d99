"""Many watches on one HTTP/2 connection, as every process written in Go opens them."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest

from tests.servers import Server, running
from tests.wire.streams import CONFIG_MAPS, config_map

WATCHES = 250
GOAWAY = 7  # the type of the frame
WINDOW = 16 * 1024  # of one stream: what the server may send it unasked
WRITES = 80  # of 2 KiB: twice what the unread stream's window and the server's buffer hold


class Connection:
    """One HTTP/2 connection whose streams are credited one by one, or not."""

    def __init__(self, server: Server) -> None:
        context = ssl.create_default_context(cafile=str(server.ca))
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection(("127.0.0.1", server.secure_port), timeout=20)
        self.socket = context.wrap_socket(raw, server_hostname="localhost")
        assert self.socket.selected_alpn_protocol() == "h2"
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: WINDOW})
        # The window of the whole connection is no limit here: only that of each stream is.
        self.h2.increment_flow_control_window(1 << 30)
        self.server = server
        self.pending = b""
        self.unread: set[int] = set()
        self.bytes: dict[int, int] = {}
        self.read_events = 0  # of all streams that are read
        self.statuses: dict[int, str] = {}
        self.ended: set[int] = set()
        self.reset: set[int] = set()
        self.flush()

    def flush(self) -> None:
        self.socket.sendall(self.h2.data_to_send())

    def watch(self, path: str, *, read: bool = True) -> int:
        stream = int(self.h2.get_next_available_stream_id())
        self.h2.send_headers(
            stream,
            [
                (":method", "GET"),
                (":scheme", "https"),
                (":authority", f"localhost:{self.server.secure_port}"),
                (":path", path),
                ("authorization", f"Bearer {self.server.token}"),
            ],
            end_stream=True,
        )
        self.bytes[stream] = 0
        if not read:
            self.unread.add(stream)
        self.flush()
        return stream

    def until(self, done: object, seconds: float = 20.0) -> None:
        """Receive until this says so."""
        assert callable(done)
        deadline = time.monotonic() + seconds
        while not done():
            left = deadline - time.monotonic()
            assert left > 0, "it did not happen"
            self.socket.settimeout(left)
            data = self.socket.recv(1 << 18)
            assert data, "the server closed the connection"
            self.pending += data
            for frame in self.frames():
                for event in self.h2.receive_data(frame):
                    self.take(event)
            self.flush()

    def frames(self) -> Iterator[bytes]:
        """Whole frames of what was received, but for the server's goodbye.

        After that the library refuses everything, though open streams still go on to their end.
        """
        while len(self.pending) >= (size := 9 + int.from_bytes(self.pending[:3], "big")):
            frame, self.pending = self.pending[:size], self.pending[size:]
            if frame[3] != GOAWAY:
                yield frame

    def take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.ResponseReceived():
                headers = {str(name): str(value) for name, value in event.headers}
                self.statuses[event.stream_id] = headers[":status"]
            case h2.events.DataReceived():
                self.bytes[event.stream_id] += len(event.data)
                if event.stream_id in self.unread:
                    return
                self.read_events += event.data.count(b"\n")
                if event.flow_controlled_length:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                self.ended.add(event.stream_id)
            case h2.events.StreamReset():
                self.reset.add(event.stream_id)


@contextmanager
def connected(server: Server) -> Iterator[Connection]:
    connection = Connection(server)
    try:
        yield connection
    finally:
        connection.socket.close()


def test_of_250_watches_on_one_connection_one_unread_delays_no_other(server: Server) -> None:
    path = f"{CONFIG_MAPS}?watch=1&labelSelector=http2=yes&resourceVersion="
    revision = server.json("GET", CONFIG_MAPS)["metadata"]["resourceVersion"]
    with connected(server) as connection:
        stuck = connection.watch(path + revision, read=False)
        for _ in range(WATCHES - 1):
            connection.watch(path + revision)
        connection.until(lambda: len(connection.statuses) == WATCHES)
        assert set(connection.statuses.values()) == {"200"}

        server.json("POST", CONFIG_MAPS, config_map("h2", http2="yes"))
        took = []
        for number in range(WRITES):
            body = {**config_map("h2", http2="yes"), "data": {"fill": "x" * 2000, "n": str(number)}}
            begun = time.monotonic()
            server.json("PUT", f"{CONFIG_MAPS}/h2", body)
            wanted = (number + 2) * (WATCHES - 1)
            connection.until(lambda wanted=wanted: connection.read_events >= wanted)
            took.append(time.monotonic() - begun)

        assert connection.bytes[stuck] <= WINDOW
        assert sorted(took)[WRITES // 2] < 0.5
    server.request("DELETE", f"{CONFIG_MAPS}/h2")


def test_a_stop_ends_the_streams_of_a_connection_one_by_one(tmp_path: Path) -> None:
    with running(tmp_path) as server, connected(server) as connection:
        streams = [connection.watch(f"{CONFIG_MAPS}?watch=1") for _ in range(50)]
        connection.until(lambda: len(connection.statuses) == 50)
        assert server.process is not None
        server.process.terminate()
        connection.until(lambda: connection.ended == set(streams), 5)

        assert connection.reset == set()
        assert server.process.wait(5) == 0


@pytest.mark.parametrize("accept", ["h2", "http/1.1"])
def test_the_secure_port_takes_the_version_that_the_client_asks_for(
    server: Server, accept: str
) -> None:
    context = ssl.create_default_context(cafile=str(server.ca))
    context.set_alpn_protocols([accept])
    with (
        socket.create_connection(("127.0.0.1", server.secure_port), timeout=5) as raw,
        context.wrap_socket(raw, server_hostname="localhost") as secured,
    ):
        assert secured.selected_alpn_protocol() == accept
