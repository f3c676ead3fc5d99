"""One open page: what it subscribed to, what it attached, and when it is sent a frame.

Knows nothing of sockets: `consumers` hands it messages and sends what it returns. Frames go out
at most ten times a second, at most two ahead of the browser's acknowledgements, and not at all
while the page is hidden; what is due meanwhile is merged or sampled, never queued.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from dashboard import access
from dashboard.attached import Attached, Opening
from dashboard.completions import vocabulary
from dashboard.makers import MAKERS
from dashboard.objects.live import ObjectsChannel
from dashboard.subscriptions import CHANNELS, Subscription
from dashboard.wishes import resource_of
from listwatch.protocol.errors import (
    StatusError,
    bad_request,
    internal_error,
    too_many_requests,
)

if TYPE_CHECKING:
    from dashboard.access import Visitor
    from listwatch.runtime import Runtime

logger = logging.getLogger(__name__)

FRAME_INTERVAL = 0.1  # seconds between two frames at least
STATISTICS_INTERVAL = 1.0  # seconds between two looks at the statistics at least
COST_SHARE = 100  # a look that took t is followed by a rest of this many t: 1 % of a core
HEARTBEAT = 5.0  # a page that is quiet gets an empty frame this often, to know it is connected
WINDOW = 2  # frames that may be on their way unacknowledged
ATTACHMENTS = 12  # live things started by one page at most

Message = dict[str, Any]  # Any: JSON values
Frame = dict[str, Any]  # Any: JSON values
Send = Callable[[Frame], Awaitable[None]]


class Session:
    """One page's subscriptions and attached watchers.

    `run` until cancelled, then `close`. `handle` takes one message of the browser and never
    raises for what it says: a refusal goes out as a Status on the channel that asked.
    """

    def __init__(
        self,
        runtime: Runtime,
        user: Visitor,
        send: Send,
        *,
        address: str = "",
        url: str = "",
        processor: Callable[[], float] = time.thread_time,
    ) -> None:
        self._runtime = runtime
        self._clock = runtime.clock
        # A look costs processor time: on a busy machine it takes longer, and costs the same.
        self._processor = processor
        self._user = user
        self._send = send
        self._address = address
        self._url = url
        self._subscriptions: dict[str, Subscription] = {}
        self._attachments: dict[str, Attached] = {}
        self._answers: dict[str, Message] = {}  # by what they are about, for the next frame
        self._wake = asyncio.Event()
        self._visible = True
        self._sent = 0
        self._acknowledged = 0
        self._sent_at = float("-inf")
        self._looked_at = float("-inf")
        self._rest = STATISTICS_INTERVAL
        self._revisions = ("", "")
        self._greet = True

    # What the browser says.

    async def handle(self, message: Message) -> None:
        """Do what one message asks."""
        try:
            match message:
                case {"do": "ack", "frame": int(frame)}:
                    self._acknowledged = max(self._acknowledged, min(frame, self._sent))
                case {"do": "visible", "visible": bool(visible)}:
                    self._show(visible)
                case {"do": "subscribe", "channel": str(channel)}:
                    self._subscribe(channel, paused=message.get("paused") is True)
                case {"do": "unsubscribe", "channel": str(channel)}:
                    self._unsubscribe(channel)
                case {"do": "attach", "id": str(name)}:
                    await self._attach(name, message)
                case {"do": "detach", "id": str(name)}:
                    await self._detach(name)
                case {"do": "pause" | "resume" as do, "id": str(name)}:
                    self._pause(name, paused=do == "pause")
                case {"do": "act", "id": str(name)}:
                    if name in self._attachments:
                        await self._attachments[name].act(message)
                case {"do": "complete", "id": str(name)}:
                    await self._complete(name, message)
                case _:
                    raise bad_request("the message is none that this socket knows")
        except StatusError as error:
            self._refuse(message, error)
        except Exception:
            logger.exception("a message of the dashboard failed")
            self._refuse(message, internal_error("the server's log has the cause"))
        self._wake.set()

    def _refuse(self, message: Message, error: StatusError) -> None:
        about = message.get("id") or message.get("channel") or ""
        self._answers[str(about)] = {"status": error.to_dict()}

    def _show(self, visible: bool) -> None:
        if visible and not self._visible:
            self._greet = True
        self._visible = visible
        for subscription in self._subscriptions.values():
            subscription.show(visible)
        for attachment in self._attachments.values():
            attachment.show_page(visible)

    def _subscribe(self, channel: str, *, paused: bool) -> None:
        self._unsubscribe(channel)
        name, _, argument = channel.partition(":")
        subscription: Subscription
        if name == "objects":
            subscription = ObjectsChannel(self._runtime, self._user, argument, self._wake.set)
        elif made := CHANNELS.get(name):
            subscription = made(self._runtime, argument, self._wake.set)
        else:
            raise bad_request(f'there is no channel "{channel}"')
        subscription.show(self._visible)
        subscription.pause(paused)
        self._subscriptions[channel] = subscription
        self._looked_at = float("-inf")

    def _unsubscribe(self, channel: str) -> None:
        subscription = self._subscriptions.pop(channel, None)
        if subscription is not None:
            subscription.close()

    async def _attach(self, name: str, message: Message) -> None:
        await self._detach(name)
        if len(self._attachments) >= ATTACHMENTS:
            raise too_many_requests(f"one page attaches at most {ATTACHMENTS} watchers", 1)
        make = MAKERS.get(str(message.get("kind", "watch")))
        if make is None:
            raise bad_request(f"nothing of the kind {message['kind']!r} can be attached")
        opening = Opening(self._runtime, self._user, self._wake.set, self._address, self._url)
        attachment = await make(opening, message)
        attachment.show_page(self._visible)
        attachment.pause(message.get("paused") is True)
        self._attachments[name] = attachment
        attachment.start()

    async def _complete(self, name: str, message: Message) -> None:
        resource = resource_of(message, self._runtime.resources)
        namespace = str(message.get("namespace", "")).strip()
        await access.watching_user(self._runtime, self._user, resource, namespace)
        self._answers[name] = await vocabulary(self._runtime, resource, namespace)

    async def _detach(self, name: str) -> None:
        attachment = self._attachments.pop(name, None)
        if attachment is not None:
            await attachment.stop()

    def _pause(self, name: str, *, paused: bool) -> None:
        target = self._attachments.get(name) or self._subscriptions.get(name)
        if target is None:
            raise bad_request(f'there is nothing called "{name}" to pause')
        target.pause(paused)

    # What goes out.

    async def run(self) -> None:
        """Send frames for ever."""
        while True:
            await self._until_due()
            frame = await self._frame()
            if frame is not None:
                await self._send(frame)

    async def close(self) -> None:
        """End every watcher and every subscription."""
        for channel in tuple(self._subscriptions):
            self._unsubscribe(channel)
        for name in tuple(self._attachments):
            await self._detach(name)

    async def _until_due(self) -> None:
        await self._clock.sleep(self._sent_at + FRAME_INTERVAL - self._clock.monotonic())
        while True:
            self._wake.clear()
            wait: float | None = None
            if self._visible and self._sent - self._acknowledged < WINDOW:
                wait = self._wait()
            if wait is not None and wait <= 0:
                return
            timer = None if wait is None else self._clock.call_later(wait, self._wake.set)
            try:
                await self._wake.wait()
            finally:
                if timer is not None:
                    timer.cancel()

    def _wait(self) -> float:
        """Seconds until there is something to send; 0 for now."""
        now = self._clock.monotonic()
        if self._greet or self._answers or any(s.dirty for s in self._sources()):
            return 0.0
        due = self._sent_at + HEARTBEAT
        return min(due, self._looked_at + self._rest) - now

    def _sources(self) -> list[Subscription | Attached]:
        return [*self._subscriptions.values(), *self._attachments.values()]

    async def _frame(self) -> Frame | None:
        now = self._clock.monotonic()
        channels: dict[str, Any] = {}  # Any: JSON values
        moved = False
        if now >= self._looked_at + self._rest:
            moved = await self._look(now, channels)
        for source in (self._subscriptions, self._attachments):
            for name, part in source.items():
                if part.dirty and (data := part.take()) is not None:
                    channels[name] = data
        channels |= self._answers
        self._answers = {}
        if not (channels or moved or self._greet or now >= self._sent_at + HEARTBEAT):
            return None
        self._greet = False
        self._sent += 1
        self._sent_at = now
        applied, head = self._revisions
        frame: Frame = {"frame": self._sent, "now": self._clock.now()}
        frame |= {"applied": applied, "head": head, "channels": channels}
        return frame

    async def _look(self, now: float, channels: dict[str, Any]) -> bool:
        """Ask for the statistics once, for all who show some; True if the revisions moved."""
        begun = self._processor()
        statistics = self._runtime.statistics()
        for name, subscription in tuple(self._subscriptions.items()):
            data = await subscription.look(statistics)
            if data is not None and self._subscriptions.get(name) is subscription:
                channels[name] = data
        self._looked_at = now
        self._rest = max(STATISTICS_INTERVAL, COST_SHARE * (self._processor() - begun))
        before, self._revisions = self._revisions, (str(statistics.applied), str(statistics.head))
        return before != self._revisions


async def cancelled(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait until it is gone."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
