"""Which page may open a socket: only one of this very server.

Cookies travel with a WebSocket that a foreign page opens, and for a browser every port of
`localhost` is the same site: so host and port must both be ours. What passes goes on to Channels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from listwatch.serving.application import App, Receive, Scope, Send


class SameOrigin:
    """Refuses a socket whose Origin is another host or port than it was opened to.

    A client without an Origin is no browser, and has no cookies but those it was given.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the socket on, or close it."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is not None:
            given = urlsplit(origin.decode("latin-1")).netloc.lower()
            if given != headers.get(b"host", b"").decode("latin-1").lower():
                await receive()  # websocket.connect
                await send({"type": "websocket.close", "code": 4403})
                return
        await self._app(scope, receive, send)
