"""The headers that say who asks; `client` puts them on every request."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from listwatch.informer.client_config import ClientConfig
from listwatch.protocol.clock import Clock

TOKEN_SECONDS = 60.0  # a token file is read again after so long, as client-go does


class Credentials:
    """Reads a token file at most once a minute, and anew after a 401."""

    def __init__(self, config: ClientConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._token = config.token
        self._read_at: float | None = None
        self._fixed = {"Impersonate-User": config.impersonate} if config.impersonate else {}
        if config.username and not (config.token or config.token_file):
            pair = base64.b64encode(f"{config.username}:{config.password}".encode()).decode()
            self._fixed["Authorization"] = f"Basic {pair}"

    async def headers(self) -> dict[str, str]:
        """The headers of a request that is sent now."""
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
        """The server did not take the token: read the file before the next request."""
        self._read_at = None

    def _is_due(self) -> bool:
        return self._read_at is None or self._clock.monotonic() - self._read_at >= TOKEN_SECONDS
