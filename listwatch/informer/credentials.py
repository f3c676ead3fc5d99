"""Who asks: a header on every request of `client`, or the certificate of its connections."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from listwatch.informer.client_config import ClientConfig
from listwatch.protocol.clock import Clock

TOKEN_SECONDS = 60.0  # a token file is read again after so long, as client-go does


class Credentials:
    """Reads a token file at most once a minute, and anew after a 401.

    Runs a plugin when what it gave has run out, and after a 401; one run serves all that wait.
    """

    def __init__(self, config: ClientConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._token = config.token
        self._read_at: float | None = None
        self._pair = (config.client_certificate, config.client_key)
        self._expires_at = config.expires_at
        self._refused = False
        self._renewing = asyncio.Lock()
        self._fixed = {"Impersonate-User": config.impersonate} if config.impersonate else {}
        if config.username and not (config.token or config.token_file):
            pair = base64.b64encode(f"{config.username}:{config.password}".encode()).decode()
            self._fixed["Authorization"] = f"Basic {pair}"

    @property
    def pair(self) -> tuple[str, str]:
        """Certificate and key of connections that are made now; it changes with `headers`."""
        return self._pair

    async def headers(self) -> dict[str, str]:
        """The headers of a request that is sent now; raises CredentialError."""
        if self._has_run_out():
            async with self._renewing:
                if self._has_run_out():
                    await self._renew()
        if self._config.token_file and self._is_due():
            self._read_at = self._clock.monotonic()
            try:
                path = Path(self._config.token_file)
                self._token = (await asyncio.to_thread(path.read_text)).strip() or self._token
            except OSError:
                if not self._token:
                    raise  # without any token every request would be somebody else's
        if self._token:
            return {**self._fixed, "Authorization": f"Bearer {self._token}"}
        return self._fixed

    def forget(self) -> None:
        """The server did not take it: read the file or run the plugin before the next request."""
        self._read_at = None
        self._refused = True

    def _has_run_out(self) -> bool:
        if self._config.plugin is None:
            return False
        return self._refused or (
            self._expires_at is not None and self._clock.now() >= self._expires_at
        )

    async def _renew(self) -> None:
        assert self._config.plugin is not None
        found = await asyncio.to_thread(self._config.plugin.run)
        self._refused = False
        self._token, self._expires_at = found.token, found.expires_at
        if found.certificate:
            self._pair = (found.certificate, found.key)

    def _is_due(self) -> bool:
        return self._read_at is None or self._clock.monotonic() - self._read_at >= TOKEN_SECONDS
