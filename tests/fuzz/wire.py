"""One request as bytes, sent as they are: clients that mend what they send cannot ask badly.

`test_requests` judges the answers.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
from dataclasses import dataclass, field

HANG_SECONDS = 10.0
READ_BYTES = 8 * 1024 * 1024  # of an answer; a watch has no end


@dataclass(frozen=True)
class Asked:
    """A request. Its target goes out as it is, except that blanks would end it."""

    method: str
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    body: bytes = field(repr=False)
    content_type: bytes = b""

    def __str__(self) -> str:
        kind = self.content_type.decode("latin-1")
        return f"{self.method} {self.target!r} ({kind}) {self.body[:300]!r}"

    @property
    def wants_page(self) -> bool:
        """Whether a browser asks."""
        return any(name == b"Accept" and b"text/html" in value for name, value in self.headers)

    def wire(self) -> bytes:
        lines = [
            b"%s %s HTTP/1.1" % (self.method.encode(), self.target),
            b"Host: localhost",
            b"Connection: close",
            b"Content-Length: %d" % len(self.body),
            *(b"%s: %s" % header for header in self.headers),
        ]
        if self.content_type:
            lines.append(b"Content-Type: " + self.content_type)
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


@dataclass(frozen=True)
class Answered:
    status: int
    content_type: str
    body: bytes


def ask(port: int, asked: Asked) -> Answered:
    """The answer, of a watch its head alone; `TimeoutError` if the server is silent too long."""
    with socket.create_connection(("127.0.0.1", port), timeout=HANG_SECONDS) as connection:
        # It may refuse a body before it has all of it, and must still say so.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(asked.wire())
        response = http.client.HTTPResponse(connection, method=asked.method)
        response.begin()
        kind = response.headers.get("Content-Type", "")
        endless = response.status == 200 and response.headers.get("Content-Length") is None
        body = b"" if endless else response.read(READ_BYTES)
        return Answered(response.status, kind, body)
