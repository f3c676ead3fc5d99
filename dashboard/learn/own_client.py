"""This server as its own client: for what is told of it from outside, by HTTP.

Whoever asks has been asked for their rights before; the requests themselves are the admin's.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from listwatch.informer import ClientConfig
from listwatch.protocol.errors import StatusError

if TYPE_CHECKING:
    from listwatch.conf import Options


def own_config(options: Options, url: str) -> ClientConfig:
    """Address and token; reads files. Raises 503 where the server has no token of its own."""
    kept = Path(options.data) / "token"
    token = options.token or (kept.read_text().strip() if kept.is_file() else "")
    if not token:
        message = "this server has no admin token, by which it could be its own client"
        raise StatusError(503, "ServiceUnavailable", message)
    ca = Path(options.data) / "ca.crt"
    trusted = ca.read_text() if url.startswith("https") and ca.is_file() else ""
    return ClientConfig(url, token=token, ca=trusted)
