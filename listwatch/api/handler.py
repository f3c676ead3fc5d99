"""The entrance of Kubernetes' paths: an ASGI application beside Django's own.

Django's stock handler holds a thread for each open request and tells its signals through others:
a thousand idle watches would be a thousand threads. This one stays in its loop from the first
byte to the last. It reads the body, bounds it, has a view answer, and sends the answer in pieces;
when the client leaves, the view is cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler

from listwatch.api.aggregation.routes import proxied
from listwatch.api.compression import accepts_gzip, compressed
from listwatch.api.request import KubernetesRequest
from listwatch.api.responses import KubernetesResponse, Stream, StreamResponse
from listwatch.api.services import Services
from listwatch.api.tokens import Tokens
from listwatch.api.urls import view_of
from listwatch.api.warnings import warning_headers
from listwatch.protocol.errors import bad_request, request_entity_too_large
from listwatch.protocol.uids import new_uid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from listwatch.runtime import Runtime

log = logging.getLogger("listwatch.api")

Scope = dict[str, Any]  # Any: ASGI's values
Message = Mapping[str, Any]  # Any: ASGI's values


class KubernetesHandler(ASGIHandler):
    """Answers /api, /apis, /openapi, /version, /healthz, /livez, /readyz and /metrics.

    Expects the running `Runtime` as `scope["listwatch.runtime"]`. Without tokens of its own it
    knows those of the runtime's options. Runs no middleware and sends no request signals: there is
    nothing for them to open or close.
    """

    request_class = KubernetesRequest

    def __init__(self, tokens: Tokens | None = None) -> None:
        # Django's constructor would load the middleware, which is for pages.
        self._tokens = tokens
        self._services: Services | None = None

    async def __call__(
        self,
        scope: Scope,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise ValueError(f"HTTP only, not {scope['type']}")
        await self.handle(scope, receive, send)

    def services(self, runtime: Runtime) -> Services:
        """What the views of this runtime share; made at its first request."""
        if self._services is None or self._services.runtime is not runtime:
            tokens = self._tokens or Tokens.from_options(runtime.options)
            self._services = Services(runtime, tokens)
        return self._services

    async def handle(
        self,
        scope: Scope,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Read, answer, send; a client that leaves in between cancels all of it."""
        runtime: Runtime = scope["listwatch.runtime"]
        try:
            body = await _read_body(scope, receive, runtime.options.body_limit)
        except RequestAborted:
            # Whoever left hears nothing. Whoever is there still sent what is no HTTP, which the
            # server tells us in the same way, and would answer with 500 if we were silent.
            await _refuse_broken_body(send)
            return
        # Whatever is no ASCII is percent-encoded by those who keep to the rules. The server's own
        # scope stays as it is: it logs from it.
        scope = {**scope, "query_string": scope["query_string"].decode("latin-1")}
        with _Disconnect(receive):
            try:
                stream = await self._answer(scope, body, send)
                # A stream may wait for hours, and thousands do: nothing else of them is kept.
                del body
                if stream is not None:
                    await _send_stream(stream, send)
            except Exception:
                # The answer has begun: all that is left is to break it off, so that nobody takes
                # half of a list for the whole.
                log.exception("%s %s broke off", scope["method"], scope["path"])

    async def _answer(
        self, scope: Scope, body: bytes | None, send: Callable[[Message], Awaitable[None]]
    ) -> Stream | None:
        services = self.services(scope["listwatch.runtime"])
        request = KubernetesRequest(scope, body or b"", services)
        view = proxied(request) or view_of(request.info)()
        if body is None:
            view.too_large = request_entity_too_large(services.runtime.options.body_limit)
        try:
            response = await view.dispatch(request)
            try:
                return await _send(request, response, send)
            finally:
                response.renderer_context.clear()
        finally:
            # Request, view and answer know each other. A body may be large, and would else stay
            # until the garbage collector comes.
            view.release()
            if request.counted:
                services.in_flight.leave(request.method or "")


async def _send(
    request: KubernetesRequest,
    response: KubernetesResponse,
    send: Callable[[Message], Awaitable[None]],
) -> Stream | None:
    """Send an answer, or begin to: then its stream is returned, to be sent by whoever has time."""
    headers = [(n.lower().encode(), v.encode("latin-1")) for n, v in response.items()]
    audit = request.META.get("HTTP_AUDIT_ID") or new_uid()
    headers.append((b"audit-id", audit.encode("latin-1")))
    headers += warning_headers(response.warnings)
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    if isinstance(response, StreamResponse):
        await _begin_stream(start, response.stream, send)
        return response.stream
    head = request.method == "HEAD"
    if response.is_long and not head and accepts_gzip(request.META):
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
        await send(start)
        async for piece in compressed(response.pieces()):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    elif response.is_complete:
        body = response.whole()
        headers.append((b"content-length", b"%d" % len(body)))
        await send(start)
        await send({"type": "http.response.body", "body": b"" if head else body})
    else:
        await send(start)
        for piece in response.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            # A server that takes everything at once would else keep the loop for all of it.
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    return None


async def _begin_stream(
    start: Message, stream: Stream, send: Callable[[Message], Awaitable[None]]
) -> None:
    try:
        await send(start)
        # The headers go out at once: a client must know that its watch has begun.
        await send({"type": "http.response.body", "body": b"", "more_body": True})
    except BaseException:
        stream.close()
        raise


async def _send_stream(stream: Stream, send: Callable[[Message], Awaitable[None]]) -> None:
    async def send_chunk(chunk: bytes) -> None:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})

    try:
        complete = await stream.send_to(send_chunk)
    finally:
        stream.close()
    if complete:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


# A client that is still sending reads no answer: it finds its connection broken. So this much of a
# body beyond the limit is taken and forgotten. Go's server takes 256 KiB.
FORGOTTEN = 8 * 1024 * 1024


async def _read_body(
    scope: Scope, receive: Callable[[], Awaitable[Message]], limit: int
) -> bytes | None:
    """The whole body; None stands for one that is too long."""
    announced, waits = 0, False
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            announced = int(value)
        elif name == b"expect":
            waits = value.lower() == b"100-continue"
    too_long = announced > limit
    if too_long and (waits or announced > limit + FORGOTTEN):
        return None  # nothing is on its way yet, or more than will be waited for
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            too_long = True
            parts.clear()
            if size > limit + FORGOTTEN:
                return None
        if not too_long:
            parts.append(part)
        if message.get("more_body", False):
            continue
        if too_long:
            return None
        return parts[0] if len(parts) == 1 else b"".join(parts)


async def _refuse_broken_body(send: Callable[[Message], Awaitable[None]]) -> None:
    body = orjson.dumps(bad_request("the body of the request could not be read").to_dict())
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _Disconnect:
    """While entered, cancels the current task when the client leaves, and keeps that to itself.

    Listening begins when the loop first gets a turn: most requests are answered before that. Not
    later: of an answer that is broken off Granian's client learns only if someone was listening.
    """

    def __init__(self, receive: Callable[[], Awaitable[Message]]) -> None:
        self._receive = receive
        self._listener: asyncio.Task[None] | None = None
        self._left = False

    def __enter__(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._task = task
        self._soon = loop.call_soon(self._begin)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._soon.cancel()
        if self._listener is not None:
            self._listener.cancel()
            self._listener = None  # which knows this: no work for the garbage collector
        if self._left and kind is asyncio.CancelledError:
            return self._task.uncancel() == 0
        return False

    def _begin(self) -> None:
        self._listener = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._left = True
        self._task.cancel()
