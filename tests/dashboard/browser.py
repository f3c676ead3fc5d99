"""The other end of a session: what a page does with its frames, without a socket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from dashboard.session import Frame, Session, cancelled
from listwatch.registry.context import UserInfo
from listwatch.testing.clock import FakeClock
from tests.dashboard.stage import Stage

ADMIN: Any = SimpleNamespace(pk=1, is_authenticated=True, is_active=True, is_superuser=True)


class Browser:
    """Takes frames, acknowledges them unless told not to, and keeps what each channel got."""

    def __init__(self, stage: Stage, *, acknowledge: bool = True) -> None:
        self.stage = stage
        self.frames: list[Frame] = []
        self.acknowledge = acknowledge
        self.session = Session(
            stage,  # type: ignore[arg-type]  # a stage
            ADMIN,
            self._take,
            processor=stage.clock.monotonic,
        )
        self._task = asyncio.create_task(self.session.run())

    @property
    def clock(self) -> FakeClock:
        clock = self.stage.clock
        assert isinstance(clock, FakeClock)
        return clock

    async def say(self, do: str, **more: Any) -> None:
        await self.session.handle({"do": do, **more})

    async def acknowledged(self) -> None:
        self.acknowledge = True
        await self.say("ack", frame=len(self.frames))

    async def close(self) -> None:
        await cancelled(self._task)
        await self.session.close()

    def got(self, channel: str) -> list[dict[str, Any]]:
        """Everything a channel was sent, in order."""
        return [f["channels"][channel] for f in self.frames if channel in f["channels"]]

    async def _take(self, frame: Frame) -> None:
        self.frames.append(frame)
        if self.acknowledge:
            await self.say("ack", frame=frame["frame"])


async def allowed(runtime: Any, visitor: Any, resource: Any, namespace: str) -> UserInfo:
    """Stands in for the question to the authorizer, which needs a database."""
    return UserInfo("admin", groups=("system:masters",))
