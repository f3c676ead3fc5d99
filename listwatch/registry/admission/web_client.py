"""One POST to a webhook, by URL or by Service: JSON there, JSON back, in time or not at all.

A service is reached through its endpoints, since there is no cluster network here; its
certificate must be that of `name.namespace.svc` all the same. Used by `webhooks`.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from listwatch.registry.service_addresses import AddressError, address_of

if TYPE_CHECKING:
    import aiohttp

    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend

_LIMIT = 3 * 1024 * 1024  # bytes of an answer


class CallError(Exception):
    """A webhook could not be asked, or did not answer; the text says why."""


class WebClient:
    """Asks webhooks. Connections are kept, so a second call costs no handshake."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[str, ssl.SSLContext] = {}

    async def post(self, config: JSONObject, body: JSONObject, seconds: float) -> JSONObject:
        """The answer of the webhook that a clientConfig names; raises CallError."""
        import aiohttp  # needed by those alone who have webhooks

        url, address = self._target(config)
        asked = f"{url}{'&' if '?' in url else '?'}timeout={seconds:g}s"
        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=True)
        target = asked
        parts = urlsplit(asked)
        if address:
            target = asked.replace(f"//{parts.netloc}", f"//{address}", 1)
        try:
            context = (
                self._context(config.get("caBundle") or "") if parts.scheme == "https" else True
            )
            async with self._session.post(
                target,
                data=orjson.dumps(body),
                headers={
                    "Content-Type": "application/json",
                    "Accept": "application/json",
                    "Host": parts.netloc,
                    "User-Agent": "kube-apiserver-admission",
                },
                ssl=context,
                server_hostname=parts.hostname if parts.scheme == "https" else None,
                timeout=aiohttp.ClientTimeout(total=seconds),
                allow_redirects=False,
            ) as response:
                text = await response.content.read(_LIMIT)
                if response.status != 200:
                    told = text.decode(errors="replace")[:200].strip()
                    raise CallError(told or f"an error on the server: status {response.status}")
        except TimeoutError:
            raise CallError(f'Post "{asked}": context deadline exceeded') from None
        except (aiohttp.ClientError, ssl.SSLError, OSError, ValueError) as error:
            raise CallError(f'Post "{asked}": {error}') from error
        try:
            answer = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise CallError(f"couldn't get version/kind; json parse error: {error}") from None
        if not isinstance(answer, dict):
            raise CallError("expected an AdmissionReview, got something that is no object")
        return answer

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _context(self, bundle: str) -> ssl.SSLContext:
        known = self._contexts.get(bundle)
        if known is None:
            known = ssl.create_default_context()
            if bundle:
                known = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                try:
                    known.load_verify_locations(cadata=base64.b64decode(bundle).decode())
                except (binascii.Error, UnicodeDecodeError, ssl.SSLError) as error:
                    raise CallError(f"unable to load root certificates: {error}") from None
            self._contexts[bundle] = known
        return known

    def _target(self, config: JSONObject) -> tuple[str, str]:
        """The URL, and the address to connect to if its host is no name that anybody resolves."""
        if config.get("url"):
            return config["url"], ""
        service: dict[str, Any] = config.get("service") or {}  # Any: JSON values
        namespace, name = service.get("namespace") or "", service.get("name") or ""
        port, path = service.get("port") or 443, service.get("path") or ""
        url = f"https://{name}.{namespace}.svc:{port}/{path.lstrip('/')}"
        try:
            return url, address_of(self._backend.cached, namespace, name, port).netloc
        except AddressError as error:
            raise CallError(f'Post "{url}": {error}') from None
