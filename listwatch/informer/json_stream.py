"""The JSON lines of an open response, whole ones only; opened by `client`, read by `list_watch`."""

from __future__ import annotations

from collections import deque
from typing import Self

import aiohttp
import orjson

from listwatch.informer.errors import ApiError, StreamCutError, api_error
from listwatch.informer.line_buffer import LineBuffer, LineTooLongError
from listwatch.informer.objects import JSONObject
from listwatch.informer.traffic import Traffic

EVENT = "an event from the watch stream"


class JSONStream:
    """Iterate it once. Ends when the server closed it well, else raises StreamCutError.

    Whoever stops before its end closes it, or enters it as a context: its connection stays else.
    A line that is no JSON object raises DecodingError. A last line without its end is never read.
    """

    def __init__(self, response: aiohttp.ClientResponse, traffic: Traffic) -> None:
        self._response = response
        self._traffic = traffic
        self._buffer = LineBuffer()
        self._lines: deque[bytes] = deque()
        self._open = True
        traffic.open_streams += 1

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> JSONObject:
        # No generator: whoever stops in the middle need not finalize one.
        while not self._lines:
            if not self._open:
                raise StopAsyncIteration
            await self._read()
        return document_of(self._lines.popleft(), EVENT)

    async def _read(self) -> None:
        try:
            chunk = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            self._traffic.failures += 1
            await self.close()
            raise StreamCutError(f"the stream was cut: {error!r}") from error
        if chunk:
            self._traffic.bytes_received += len(chunk)
            try:
                self._lines.extend(self._buffer.feed(chunk))
            except LineTooLongError as error:
                raise _undecodable(EVENT, str(error)) from error
            return
        await self.close()
        if self._buffer.pending:
            self._traffic.failures += 1
            raise StreamCutError(f"the stream ended {self._buffer.pending} bytes into a line")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End it; the connection is not used again, as the rest of the answer may still come."""
        if self._open:
            self._open = False
            self._traffic.open_streams -= 1
            self._response.close()


def document_of(body: bytes, what: str) -> JSONObject:
    """The JSON object that these bytes are; raises DecodingError, which names `what` they were."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _undecodable(what, str(error)) from error
    if not isinstance(document, dict):
        raise _undecodable(what, "not a JSON object")
    return document


def _undecodable(what: str, why: str) -> ApiError:
    message = f"unable to decode {what}: {why}"
    return api_error({"reason": "ClientWatchDecoding", "message": message, "code": 500})
