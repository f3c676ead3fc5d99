"""What aggregated servers say of their schemas: asked in the background, kept when they are down.

Upstream: kube-aggregator/pkg/controllers/openapi and openapiv3. `availability` asks after each look
that went well; the documents of this server are merged with what is kept here.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from listwatch.registry.api_services.connections import Connections, UnreachableError
from listwatch.schemas.openapi_merging import part_of

if TYPE_CHECKING:
    import aiohttp

    from listwatch.registry.api_services.remotes import Remote

logger = logging.getLogger(__name__)

_SECONDS = 5.0  # that a server has to answer
_LIMIT = 16 * 1024 * 1024  # bytes of a document; that of a whole Kubernetes has about 4 million
ASKED_BY = (
    ("Accept", "application/json"),
    ("X-Remote-User", "system:kube-aggregator"),
    ("X-Remote-Group", "system:masters"),
)


@dataclass(frozen=True, slots=True)
class RemoteDocuments:
    """What is known of one server: its part of version 2, and where its version 3 is."""

    part: bytes | None = None
    tag: str = ""
    url: str = ""


NONE = RemoteDocuments()


async def ask(connections: Connections, remote: Remote, known: RemoteDocuments) -> RemoteDocuments:
    """Ask for both; what is not answered stays as it was."""
    try:
        part, tag = await _version_2(connections, remote, known)
        url = await _version_3(connections, remote)
    except (UnreachableError, ValueError) as error:
        logger.info("the OpenAPI documents of APIService %s: %s", remote.name, error)
        return known
    return RemoteDocuments(part, tag, url)


async def read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The whole body of an answer; raises UnreachableError for a broken or endless one."""
    pieces, size = [], 0
    try:
        async for piece in response.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise UnreachableError(
                    "FailedDiscoveryCheck", f"it answers with over {limit} bytes"
                )
    except (OSError, TimeoutError) as error:
        raise UnreachableError("FailedDiscoveryCheck", str(error)) from None
    finally:
        response.close()
    return b"".join(pieces)


async def _version_2(
    connections: Connections, remote: Remote, known: RemoteDocuments
) -> tuple[bytes | None, str]:
    headers = [*ASKED_BY, ("If-None-Match", known.tag)] if known.tag else ASKED_BY
    response = await connections.request(
        remote, "GET", "/openapi/v2", headers=headers, seconds=_SECONDS
    )
    body = await read(response, _LIMIT)
    if response.status == 304:
        return known.part, known.tag
    if response.status != 200:
        return None, ""
    # It may be large: nobody else waits while it is read.
    part = await asyncio.to_thread(part_of, body, remote.path)
    return part, response.headers.get("ETag", "")


async def _version_3(connections: Connections, remote: Remote) -> str:
    response = await connections.request(
        remote, "GET", "/openapi/v3", headers=ASKED_BY, seconds=_SECONDS
    )
    body = await read(response, _LIMIT)
    if response.status != 200:
        return ""
    document = orjson.loads(body)
    paths = document.get("paths") if isinstance(document, dict) else None
    found = paths.get(remote.path.strip("/")) if isinstance(paths, dict) else None
    url = found.get("serverRelativeURL") if isinstance(found, dict) else None
    # Only a path that is handed on to that server may be named for it.
    return url if isinstance(url, str) and url.startswith(f"/openapi/v3{remote.path}") else ""
