"""Daphne whose `send()` waits for the client, and which stops in order.

Stock Daphne writes whatever it is given into Twisted's buffer: a client that does not read grows
the process without limit, and its watch never counts as slow. Here each request is a push
producer of its connection: while the transport's buffer is full, whoever sends waits.
The application behind it is the same as `serve`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from daphne.server import Server
from twisted.internet import defer, reactor
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

if TYPE_CHECKING:
    from listwatch.serving.application import Application, Message

PATIENCE = 10.0  # seconds for requests that are open when the server stops


@implementer(IPushProducer)
class Flow:
    """Whether a request may send: the transport pauses and resumes it. Held by one request."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """The buffer is full."""
        self._open.clear()

    def resumeProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """The buffer has room again."""
        self._open.set()

    def stopProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """The client has left: let the sender go on, who will notice."""
        self._open.set()

    async def may_send(self) -> None:
        """Return once there is room."""
        await self._open.wait()


class DevelopmentServer(Server):  # type: ignore[misc]  # daphne ships no types
    """Daphne with back-pressure for HTTP, started and stopped with the application's runtime."""

    application: Application

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._flows: dict[Any, Flow] = {}  # Any: Daphne's protocols

    def run(self) -> None:
        """Serve until the reactor stops; the runtime starts at once, not at the first request."""
        reactor.callWhenRunning(self._start)
        super().run()

    def _start(self) -> None:
        self._starting = asyncio.ensure_future(self.application.start())
        self._starting.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.stop()

    def create_application(self, protocol: Any, scope: Any) -> Any:
        """Begin to answer one request or socket, and see to its end."""
        queue = super().create_application(protocol, scope)
        if scope["type"] == "http" and queue is not None:
            task: asyncio.Future[None] = self.connections[protocol]["application_instance"]
            task.add_done_callback(lambda _: self._cut_if_incomplete(protocol))
        return queue

    def _cut_if_incomplete(self, protocol: Any) -> None:
        # Daphne would leave the connection open, and the client waiting for the rest.
        begun = getattr(protocol, "_response_started", False)
        channel = getattr(protocol, "channel", None)
        if begun and not protocol.finished and channel is not None:
            channel.transport.abortConnection()

    async def handle_reply(self, protocol: Any, message: Message) -> None:
        """Write one message, and return when there is room for another."""
        kind = message["type"]
        await super().handle_reply(protocol, message)
        if kind == "http.response.start":
            flow = Flow()
            # A request without a transport any more has nobody to produce for.
            if getattr(protocol, "channel", None) is not None and protocol.producer is None:
                self._flows[protocol] = flow
                protocol.registerProducer(flow, True)
        elif kind == "http.response.body" and protocol in self._flows:
            if message.get("more_body", False):
                await self._flows[protocol].may_send()
            else:
                self._forget(protocol)

    def protocol_disconnected(self, protocol: Any) -> None:
        """The client left, or its answer is complete."""
        self._forget(protocol)
        super().protocol_disconnected(protocol)

    def _forget(self, protocol: Any) -> None:
        flow = self._flows.pop(protocol, None)
        if flow is not None:
            flow.stopProducing()
            with contextlib.suppress(AttributeError):  # its connection is gone
                protocol.unregisterProducer()

    def kill_all_applications(self) -> defer.Deferred[None]:
        """End watches by name, let open requests finish, then stop the runtime."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._stop()))

    async def _stop(self) -> None:
        await self.application.drain()
        open_ = [
            details["application_instance"]
            for details in self.connections.values()
            if "application_instance" in details
        ]
        if open_:
            _, late = await asyncio.wait(open_, timeout=PATIENCE)
            for task in late:
                task.cancel()
        await self.application.stop()
