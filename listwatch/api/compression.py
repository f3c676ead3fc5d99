"""gzip of long answers, in a thread of its own.

Compressing 20 MB takes a fifth of a second, in which no watch may wait; zlib lets go of the
interpreter while it works.
"""

from __future__ import annotations

import asyncio
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

_LEVEL = 1  # upstream's: most of the gain for a third of the time
_GZIP = 16 + zlib.MAX_WBITS


def accepts_gzip(meta: Mapping[str, str]) -> bool:
    """Whether the client takes gzip."""
    for part in meta.get("HTTP_ACCEPT_ENCODING", "").split(","):
        name, _, quality = part.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "") not in ("q=0", "q=0.0")
    return False


async def compressed(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """One gzip stream of all pieces."""
    loop, stream = asyncio.get_running_loop(), zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    for piece in pieces:
        done = await loop.run_in_executor(_executor(), stream.compress, piece)
        if done:
            yield done
    yield stream.flush()


@cache
def _executor() -> ThreadPoolExecutor:
    # One thread: there are other things to do on the processors.
    return ThreadPoolExecutor(1, thread_name_prefix="listwatch-gzip")
