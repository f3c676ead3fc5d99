"""One request handed on to an aggregated API server, and its answer handed back as it comes.

Upstream: kube-aggregator/pkg/apiserver/handler_proxy.go. Credentials stay here: the other server
is told who asks, and trusts this one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from listwatch.api.responses import KubernetesResponse, StreamResponse
from listwatch.api.views import KubernetesView
from listwatch.protocol.errors import service_unavailable
from listwatch.registry.api_services.connections import UnreachableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import aiohttp
    from rest_framework.request import Request

    from listwatch.api.request import KubernetesRequest
    from listwatch.registry.api_services.aggregator import Aggregator
    from listwatch.registry.api_services.remotes import Remote
    from listwatch.registry.context import UserInfo

# What concerns the one connection only, what is said anew, and what nobody else may see.
_KEPT_BACK = frozenset((
    "authorization", "connection", "content-length", "cookie", "host", "keep-alive",
    "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
))  # fmt: skip
_SAID_ANEW = frozenset(
    ("connection", "keep-alive", "transfer-encoding", "audit-id", "date", "server", "trailer")
)
_PREFIXES = ("impersonate-", "x-remote-", "x-forwarded-")


class ProxyView(KubernetesView):
    """Authenticated and authorized here, answered elsewhere."""

    remote: Remote

    async def _answer(self, request: Request) -> KubernetesResponse:
        await self.admit(request)
        if self.too_large is not None:
            raise self.too_large
        if not self.remote.available:
            raise service_unavailable("service unavailable")
        plain = self.plain
        aggregator = plain.services.runtime.aggregator
        try:
            answer = await aggregator.connections.request(
                self.remote,
                plain.method or "GET",
                _target(plain),
                headers=_headers(plain, cast("UserInfo", request.user)),
                body=plain.body,
            )
        except UnreachableError as error:
            why = f"error trying to reach service: {error}"
            raise service_unavailable(why) from None
        return ProxyResponse(ProxyStream(answer, aggregator), answer)


class ProxyResponse(StreamResponse):
    """The answer of the other server, head and body."""

    def __init__(self, stream: ProxyStream, answer: aiohttp.ClientResponse) -> None:
        super().__init__(stream, content_type=answer.headers.get("Content-Type", ""))
        self.status_code = answer.status
        self.renderer_context = {}  # nothing is rendered here
        for name, value in answer.headers.items():
            if name.lower() not in _SAID_ANEW:
                self.headers[name] = value


class ProxyStream:
    """The body of an answer, chunk by chunk as it comes."""

    def __init__(self, answer: aiohttp.ClientResponse, aggregator: Aggregator) -> None:
        self._answer = answer
        self._aggregator = aggregator
        self._task: asyncio.Task[object] | None = None
        self._ended = False
        aggregator.streams.add(self)

    async def send_to(self, send: Callable[[bytes], Awaitable[None]]) -> bool:
        """Send until it ends; False if the other server broke off."""
        import aiohttp  # loaded by then: a start needs not wait for it

        self._task = asyncio.current_task()
        try:
            async for chunk in self._answer.content.iter_any():
                await send(chunk)
        except asyncio.CancelledError:
            if self._ended and self._task is not None and self._task.uncancel() == 0:
                return "Content-Length" not in self._answer.headers
            raise
        except (aiohttp.ClientError, OSError, TimeoutError):
            return False
        return True

    def end(self) -> None:
        """Let it end now: whoever watches comes back."""
        if self._task is not None and not self._ended:
            self._ended = True
            self._task.cancel()

    def close(self) -> None:
        """Let go of the connection."""
        self._aggregator.streams.discard(self)
        self._answer.close()


def _target(request: KubernetesRequest) -> str:
    raw: bytes = request.scope.get("raw_path") or request.path.encode()
    path = raw.split(b"?", 1)[0].decode("latin-1")
    query = request.META["QUERY_STRING"]
    return f"{path}?{query}" if query else path


def _headers(request: KubernetesRequest, user: UserInfo) -> list[tuple[str, str]]:
    kept = []
    for raw_name, raw_value in request.scope["headers"]:
        name = raw_name.decode("latin-1").lower()
        if name not in _KEPT_BACK and not name.startswith(_PREFIXES):
            kept.append((name, raw_value.decode("latin-1")))
    kept.append(("X-Remote-User", _shown(user.name)))
    if user.uid:
        kept.append(("X-Remote-Uid", _shown(user.uid)))
    kept += [("X-Remote-Group", _shown(group)) for group in user.groups]
    kept += [
        (f"X-Remote-Extra-{key}", _shown(value))
        for key, values in user.extra.items()
        for value in values
    ]
    kept.append(("X-Forwarded-For", request.address.rpartition(":")[0]))
    kept.append(("X-Forwarded-Proto", request.scheme or "http"))
    return kept


def _shown(text: str) -> str:
    # No header can hold a line break, whatever somebody calls himself.
    return "".join(c for c in text if c.isprintable())
