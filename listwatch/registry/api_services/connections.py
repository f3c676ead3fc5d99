"""How other API servers are reached: by Service, over HTTPS, in the name of the user.

A service whose port says `appProtocol: http` is asked without TLS. Used by `availability` and by
`api.aggregation`.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from typing import TYPE_CHECKING

from listwatch.registry.service_addresses import AddressError, Cached, address_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aiohttp

    from listwatch.registry.api_services.remotes import Remote

CONNECT_SECONDS = 5.0  # a server that is down must not hold up whoever asks for it


class UnreachableError(Exception):
    """A server cannot be asked; `reason` is one word of an APIService's condition for why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Connections:
    """Connections to other API servers, kept for the next request. Belongs to one event loop."""

    def __init__(self, cached: Cached) -> None:
        self._cached = cached
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[str, ssl.SSLContext] = {}

    async def request(
        self,
        remote: Remote,
        method: str,
        target: str,
        *,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        seconds: float | None = None,
    ) -> aiohttp.ClientResponse:
        """The answer, as soon as its head is there; whoever asked closes it.

        `target` is path and query, as they go on the wire. Raises UnreachableError.
        """
        import aiohttp  # needed by those alone who aggregate
        from multidict import CIMultiDict
        from yarl import URL

        try:
            address = address_of(self._cached, remote.namespace, remote.service, remote.port)
        except AddressError as error:
            raise UnreachableError(error.reason, str(error)) from None
        plain = address.port.get("appProtocol") == "http"
        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=False)
        url = URL(f"{'http' if plain else 'https'}://{address.netloc}{target}", encoded=True)
        try:
            return await self._session.request(
                method,
                url,
                headers=CIMultiDict([*headers, ("Host", f"{remote.host}:{remote.port}")]),
                data=body or None,
                ssl=True if plain else self._context(remote),
                server_hostname=None if plain else remote.host,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds, connect=CONNECT_SECONDS),
            )
        except TimeoutError:
            raise UnreachableError("FailedDiscoveryCheck", "it does not answer in time") from None
        except (aiohttp.ClientError, ssl.SSLError, OSError, ValueError) as error:
            raise UnreachableError("FailedDiscoveryCheck", str(error)) from None

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _context(self, remote: Remote) -> ssl.SSLContext | bool:
        if remote.insecure:
            return False
        known = self._contexts.get(remote.ca_bundle)
        if known is None:
            known = ssl.create_default_context()
            if remote.ca_bundle:
                known = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                try:
                    known.load_verify_locations(cadata=base64.b64decode(remote.ca_bundle).decode())
                except (binascii.Error, UnicodeDecodeError, ssl.SSLError) as error:
                    why = f"its caBundle cannot be read: {error}"
                    raise UnreachableError("FailedDiscoveryCheck", why) from None
            self._contexts[remote.ca_bundle] = known
        return known
