"""The answer as it leaves a view: DRF's Response, written in pieces.

A long list is never put together: its renderer yields pieces, which `handler` sends one by one,
so that a watch is not kept waiting and no 20 MB body is held. An answer of one piece has a length.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Protocol

from rest_framework.response import Response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

GZIP_THRESHOLD = 128 * 1024  # upstream's: shorter bodies are not worth it


class Stream(Protocol):
    """A body that takes its time."""

    async def send_to(self, send: Callable[[bytes], Awaitable[None]]) -> bool:
        """Send chunk after chunk; True if the body is complete, False if it was cut."""

    def close(self) -> None:
        """Let go of what makes the chunks; nothing happens if it has ended by itself."""


class KubernetesResponse(Response):
    """An answer whose `data` the accepted renderer turns into bytes.

    `warnings` become Warning headers. `begin` renders as much as decides on headers, so that a
    renderer may still refuse; `pieces` then yields the whole body, once.
    """

    charset = "utf-8"  # Django's reads it off Content-Type each time

    # Set by DRF when a view is done.
    accepted_renderer: Any
    accepted_media_type: str
    renderer_context: dict[str, Any]

    def __init__(self, data: Any = None, **kwargs: Any) -> None:  # Any: what DRF's takes
        self.warnings: list[str] = []
        self.is_complete = True
        self.is_long = False
        self._begun: list[bytes] = []
        self._rest: Iterator[bytes] = iter(())
        super().__init__(data, **kwargs)

    def begin(self) -> None:
        """Render up to the threshold for compression; raises what the renderer raises."""
        renderer, context = self.accepted_renderer, self.renderer_context
        context["response"] = self
        if self.content_type is None:
            self.content_type = renderer.content_type(context)
        self.headers["Content-Type"] = self.content_type
        rest = iter(renderer.pieces(self.data, context))
        size = 0
        for piece in rest:
            self._begun.append(piece)
            size += len(piece)
            if size > GZIP_THRESHOLD:
                break
        self.is_long = size > GZIP_THRESHOLD
        # One more piece is asked for, to know whether the body is complete.
        following = next(rest, None)
        if following is not None:
            self.is_complete = False
            self._begun.append(following)
            self._rest = rest

    def pieces(self) -> Iterator[bytes]:
        """The whole body; to be asked for once."""
        return itertools.chain(self._begun, self._rest)

    def whole(self) -> bytes:
        """The whole body of a complete answer."""
        return self._begun[0] if len(self._begun) == 1 else b"".join(self._begun)


class StreamResponse(KubernetesResponse):
    """An answer that goes on, and sends itself: its client may leave at any time."""

    def __init__(self, stream: Stream, *, content_type: str) -> None:
        super().__init__(content_type=content_type)
        self.stream = stream

    def begin(self) -> None:
        """Nothing to render before the first event."""
        self.headers["Content-Type"] = self.content_type or ""
        self.headers["X-Accel-Buffering"] = "no"  # a proxy in between must pass each event on


class EmptyResponse(KubernetesResponse):
    """An answer without a body."""

    def begin(self) -> None:
        """Nothing to render."""
        self.headers.pop("Content-Type", None)


class TextResponse(KubernetesResponse):
    """Text, whatever was negotiated."""

    def begin(self) -> None:
        """Nothing to negotiate about."""
        self.headers["Content-Type"] = "text/plain; charset=utf-8"
        self._begun = [self.data.encode()]
