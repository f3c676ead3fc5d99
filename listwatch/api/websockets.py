"""A watch over WebSocket: the same request and the same frames, a message for each event.

fabric8 watches so unless it is told otherwise, and browsers can. Stands before `handler`, which
answers as ever: its stream is cut into messages here. Whatever the client says is discarded.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]  # Any: ASGI's own
Message = MutableMapping[str, Any]  # Any: ASGI's own
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[..., Awaitable[None]]

NORMAL, FAILED = 1000, 1011
# A browser cannot send headers: https://github.com/kubernetes/kubernetes/pull/47740
TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io."  # noqa: S105 -- a prefix, no token
# Those of the handshake, and those that would let the answer be something else than JSON lines.
_HANDSHAKE = frozenset({b"connection", b"upgrade", b"accept-encoding", b"content-length"})


class WatchSockets:
    """An ASGI application for the sockets of Kubernetes paths. Only watches are served.

    What `handler` refuses is said as an ERROR event on a socket that was opened for it, with the
    Status as its object: no client can read the answer to a failed handshake.
    """

    def __init__(self, handler: App) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket until its watch or its client ends."""
        await receive()  # websocket.connect
        if not _is_watch(scope):
            await send({"type": "websocket.close", "code": NORMAL})
            return
        token, protocol = _protocols(scope.get("subprotocols") or ())
        socket = _Socket(receive, send, protocol)
        await self._handler(_as_request(scope, token), socket.receive, socket.send)
        await socket.close()


class _Socket:
    """Looks like a response to the handler, and like a socket to the server."""

    def __init__(self, receive: Receive, send: Send, protocol: str | None) -> None:
        self._receive = receive
        self._send = send
        self._protocol = protocol
        self._asked = False
        self._refused = False
        self._left = False
        self._complete = False
        self._rest = bytearray()

    async def receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (await self._receive())["type"] != "websocket.disconnect":
            pass
        self._left = True
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._refused = message["status"] != 200
            await self._send({"type": "websocket.accept", "subprotocol": self._protocol})
            return
        self._rest += message.get("body", b"")
        self._complete = not message.get("more_body", False)
        if self._refused:
            if self._complete:
                await self._event(b'{"type":"ERROR","object":' + self._rest.strip() + b"}")
            return
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        for line in lines:
            await self._event(line)

    async def close(self) -> None:
        if not self._left:
            code = NORMAL if self._complete else FAILED
            await self._send({"type": "websocket.close", "code": code})

    async def _event(self, line: bytes | bytearray) -> None:
        await self._send({"type": "websocket.send", "text": line.decode()})


def _is_watch(scope: Scope) -> bool:
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("watch", [""])[-1]
    return asked.lower() in ("1", "true") or "watch" in scope["path"].split("/")[3:5]


def _protocols(offered: Iterable[str]) -> tuple[str, str | None]:
    """The token that stands among them, and the one to choose."""
    token, chosen = "", None
    for protocol in offered:
        if protocol.startswith(TOKEN_PROTOCOL):
            text = protocol.removeprefix(TOKEN_PROTOCOL)
            try:
                token = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("latin-1")
            except binascii.Error:
                token = ""
        elif chosen is None:
            chosen = protocol
    return token, chosen


def _as_request(scope: Mapping[str, Any], token: str) -> Scope:
    headers = [
        (name, value)
        for name, value in scope["headers"]
        if name not in _HANDSHAKE and not name.startswith(b"sec-websocket-")
    ]
    if token and not any(name == b"authorization" for name, _ in headers):
        headers.append((b"authorization", f"Bearer {token}".encode("latin-1")))
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    return {
        **{name: value for name, value in scope.items() if name != "subprotocols"},
        "type": "http", "method": "GET", "scheme": scheme, "headers": headers,
    }  # fmt: skip
