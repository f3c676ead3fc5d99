"""A watch on a raw socket: what comes, byte for byte, and when."""

from __future__ import annotations

import json
import socket
import time
from types import TracebackType
from typing import Any, Self

from tests.servers import Server

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str, **labels: str) -> dict[str, Any]:
    """A small object to write."""
    metadata = {"name": name, "labels": labels} if labels else {"name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


class Stream:
    """One watch over HTTP/1.1. `close` is what a client does that dies."""

    def __init__(self, server: Server, path: str, *, receive_buffer: int = 0) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20)
        self.socket.connect(("127.0.0.1", server.port))
        self._buffer = b""
        self._body = b""
        self.ended = False
        self.asked_at = time.monotonic()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\n\r\n".encode()
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def headers(self) -> dict[str, str]:
        """Status (as `:status`) and headers, waiting for them."""
        while b"\r\n\r\n" not in self._buffer:
            self._receive()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return {":status": first.split(" ")[1], **{n.lower(): v for n, v in pairs}}

    def chunk(self) -> bytes:
        """The next chunk as it was framed; empty at the proper end of the response."""
        while b"\r\n" not in self._buffer:
            self._receive()
        size, _, rest = self._buffer.partition(b"\r\n")
        length = int(size, 16)
        while len(rest) < length + 2:
            self._buffer = size + b"\r\n" + rest
            self._receive()
            rest = self._buffer.partition(b"\r\n")[2]
        self._buffer = rest[length + 2 :]
        self.ended = length == 0
        return rest[:length]

    def event(self) -> dict[str, Any] | None:
        """The next frame; None once the response has ended properly."""
        while b"\n" not in self._body:
            chunk = self.chunk()
            if not chunk:
                return None
            self._body += chunk
        line, _, self._body = self._body.partition(b"\n")
        event: dict[str, Any] = json.loads(line)
        return event

    def _receive(self) -> None:
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the server closed without ending the response")
        self._buffer += data
