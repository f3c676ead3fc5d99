"""A watch over HTTP: headers at once, then frames as the watcher gives them, until it ends.

Nothing is decided here: the watcher of `watchcache` is asked for its next chunk, and closed when
the client has left. What ends a stream, and under which name, is the watcher's to say.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from listwatch.api.converted import ConvertedRepresentation
from listwatch.api.converting import Convert, Converting
from listwatch.api.negotiation import JSON, PARTIAL, PARTIAL_LIST, TABLE
from listwatch.api.partial import PartialRepresentation
from listwatch.api.responses import StreamResponse
from listwatch.api.tables import TableForm, TableRepresentation
from listwatch.faults import ClientKey, CutError
from listwatch.protocol.errors import StatusError, bad_request
from listwatch.protocol.events import EndReason
from listwatch.protocol.representations import JSONRepresentation
from listwatch.protocol.selectors import FieldSelector
from listwatch.registry.conversions import by_webhook, converts
from listwatch.registry.reads import selector_of
from listwatch.watchcache.requests import ClientInfo

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from listwatch.api.request import KubernetesRequest
    from listwatch.faults import FaultyWatch
    from listwatch.protocol.clock import Clock, Timer
    from listwatch.protocol.options import ListOptions
    from listwatch.protocol.representations import Representation
    from listwatch.registry.context import RequestContext
    from listwatch.runtime import Runtime
    from listwatch.watchcache.watcher import CacheWatcher

LAST_CHUNK = 2.0  # seconds that a reader has for what is under way when its watch ends


async def watch_response(
    request: KubernetesRequest, ctx: RequestContext, options: ListOptions
) -> StreamResponse:
    """A stream of events; raises what must be said before it begins."""
    if ctx.name:
        options = _named(ctx, options)
    representation = representation_of(request, ctx)
    convert: Convert | None = None
    if by_webhook(ctx.resource):
        convert = Converting(ctx.resource, representation, request.services.runtime.registry)
        representation = ConvertedRepresentation(ctx.resource)
    client = ClientInfo(request.agent, ctx.user.name, request.address)
    runtime = request.services.runtime
    watcher = await open_watch(runtime, ctx, options, representation, client)
    stream = WatchStream(watcher, runtime.clock, convert)
    return StreamResponse(stream, content_type=JSON)


async def open_watch(
    runtime: Runtime,
    ctx: RequestContext,
    options: ListOptions,
    representation: Representation,
    client: ClientInfo,
) -> CacheWatcher | FaultyWatch:
    """The registry's watch, behind the faults if there are to be any; raises what either does."""
    faults = runtime.faults
    if faults is None:
        return await runtime.registry.watch(ctx, options, representation, client)
    selector = selector_of(ctx, options)
    key = ClientKey.of(client, ctx.resource.storage, ctx.namespace, selector)
    await faults.before(key, options.resource_version)
    watcher = await runtime.registry.watch(ctx, options, representation, client)
    return faults.follow(watcher, key)


def representation_of(request: KubernetesRequest, ctx: RequestContext) -> Representation:
    """How the frames are written; raises 400 or 406."""
    form, resource = request.form, ctx.resource
    if form.kind == TABLE:
        return TableRepresentation(TableForm.of_request(resource, request))
    if form.kind == PARTIAL:
        return PartialRepresentation(form.version)
    if form.kind == PARTIAL_LIST:
        message = f"you requested {PARTIAL_LIST}, but the requested object is not a list"
        raise StatusError(406, "NotAcceptable", message)
    if converts(resource):
        return ConvertedRepresentation(resource)
    return JSONRepresentation(resource.kind, resource.api_version)


def _named(ctx: RequestContext, options: ListOptions) -> ListOptions:
    # The name in a /watch/ path is a field selector; another one must not contradict it.
    if options.field_selector.empty:
        name = FieldSelector.parse(f"metadata.name={ctx.name}")
        return replace(options, field_selector=name)
    if options.field_selector.requires("metadata.name") != ctx.name:
        raise bad_request("fieldSelector metadata.name doesn't match requested name")
    return options


class WatchStream:
    """The body of a watch: whatever the watcher gives, until it has nothing more.

    A client that reads nothing holds up the sending of a chunk. When the watch ends meanwhile, it
    is left a moment to take it, and then cut: it notices, and resumes where it was.
    """

    def __init__(
        self, watcher: CacheWatcher | FaultyWatch, clock: Clock, convert: Convert | None = None
    ) -> None:
        self._convert = convert
        self._watcher = watcher
        self._clock = clock
        self._task: asyncio.Task[object] | None = None
        self._timer: Timer | None = None
        self._cut = False

    async def send_to(self, send: Callable[[bytes], Awaitable[None]]) -> bool:
        """Send until the watch ends; True if the client took all of it."""
        watcher = self._watcher
        try:
            while (chunk := await watcher.next_chunk()) is not None:
                self._task = asyncio.current_task()
                watcher.on_end = self._ended
                if self._convert is not None:
                    chunk = await self._convert(chunk)
                await send(chunk)
                watcher.on_end = self._task = None
        except CutError:
            return False
        except asyncio.CancelledError:
            if self._cut and self._task is not None and self._task.uncancel() == 0:
                return False
            raise
        return True

    def close(self) -> None:
        """End the watch: unless it has ended already, its client has left."""
        if self._timer is not None:
            self._timer.cancel()
        self._watcher.on_end = self._task = None
        self._watcher.close(EndReason.CLIENT_LEFT)

    def _ended(self) -> None:
        slow = self._watcher.end_reason is EndReason.TOO_SLOW
        self._timer = self._clock.call_later(0.0 if slow else LAST_CHUNK, self._give_up)

    def _give_up(self) -> None:
        if self._task is not None:
            self._cut = True
            self._task.cancel()
