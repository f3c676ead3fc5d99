"""The one WebSocket of a page: JSON in, JSON out, and nothing that runs when it is closed.

Messages go to the page's `Session`, whose frames are sent here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from typing import Any, cast

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer

from dashboard.access import may_see, still_signed_in
from dashboard.session import Frame, Session, cancelled

logger = logging.getLogger(__name__)

SIGNED_OUT = 4401  # the browser shows "signed out" and does not come again
UNSUPPORTED = 1003
TOO_BIG = 1009
FAILED = 1011
LONGEST_MESSAGE = 16 * 1024
ASK_AGAIN = 5.0  # seconds between two looks whether the session goes on


def own_url(scope: Mapping[str, Any]) -> str:  # Any: ASGI's values
    """How this server reaches itself: the port that the browser came to."""
    host, port = scope.get("server") or ("127.0.0.1", 8000)
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (asks whether it is)
    host = f"[{host}]" if ":" in host else host
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    return f"{scheme}://{host}:{port}"


class DashboardConsumer(AsyncWebsocketConsumer):
    """Accepts whoever may see the pages; closes at once, with a code that says why, for others.

    Also closes soon after the visitor has signed out, elsewhere perhaps: pages show objects.
    """

    session: Session | None = None
    task: asyncio.Task[None] | None = None
    guard: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accept first, so that the browser can read the code of a refusal."""
        await self.accept()
        user = self.scope.get("user")
        if user is None or not may_see(user):
            await self.close(SIGNED_OUT)
            return
        client: Any = self.scope.get("client") or ("", 0)  # Any: ASGI's host and port
        scope = cast("dict[str, Any]", self.scope)
        self.session = Session(
            scope["listwatch.runtime"], user, self._deliver,
            address=str(client[0]), url=own_url(scope),
        )  # fmt: skip
        self.task = asyncio.create_task(self._run(self.session), name="dashboard page")
        key = getattr(scope.get("session"), "session_key", None)
        if key is not None:
            self.guard = asyncio.create_task(self._stay(key), name="dashboard session")

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One message of the page."""
        if self.session is None:
            return
        if text_data is None:
            await self.close(UNSUPPORTED)
            return
        if len(text_data) > LONGEST_MESSAGE:
            await self.close(TOO_BIG)
            return
        try:
            message = orjson.loads(text_data)
        except orjson.JSONDecodeError:
            message = None
        await self.session.handle(message if isinstance(message, dict) else {})

    async def disconnect(self, code: int) -> None:
        """End what the page had open."""
        for task in (self.guard, self.task):
            if task is not None:
                await cancelled(task)
        self.guard = self.task = None
        if self.session is not None:
            await self.session.close()

    async def _run(self, session: Session) -> None:
        try:
            await session.run()
        except Exception:
            logger.exception("a page of the dashboard failed")
            with contextlib.suppress(Exception):  # the socket may be what failed
                await self.close(FAILED)

    async def _stay(self, session_key: str) -> None:
        """As long as the session goes on; then end what the page had open, and say why."""
        runtime = cast("Any", self.scope)["listwatch.runtime"]
        code = SIGNED_OUT
        try:
            await runtime.clock.sleep(ASK_AGAIN)
            while await still_signed_in(runtime, session_key):
                await runtime.clock.sleep(ASK_AGAIN)
        except Exception:
            logger.exception("the session of a page could not be read")
            code = FAILED  # it comes again, and is asked again who it is
        if self.task is not None:
            await cancelled(self.task)
        if self.session is not None:
            await self.session.close()
        await self.close(code)

    async def _deliver(self, frame: Frame) -> None:
        await self.send(text_data=orjson.dumps(frame).decode())
