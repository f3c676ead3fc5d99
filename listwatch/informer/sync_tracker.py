"""When a handler is through with the first list: all of it counted in, all of it counted out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class SyncTracker:
    """Synced once upstream is and nothing is under way; stays so.

    `upstream_synced` is asked for, so that it cannot be true before the last `start`.
    """

    def __init__(self, upstream_synced: Callable[[], bool]) -> None:
        self._upstream_synced = upstream_synced
        self._under_way = 0
        self._done = asyncio.Event()

    @property
    def has_synced(self) -> bool:
        """Whether it is."""
        self.look()
        return self._done.is_set()

    def start(self) -> None:
        """One more of the first list is on its way."""
        self._under_way += 1

    def finish(self) -> None:
        """One of them has arrived; raises RuntimeError for one that never started."""
        if self._under_way == 0:
            raise RuntimeError("more notifications finished than started")
        self._under_way -= 1
        self.look()

    def look(self) -> None:
        """Upstream may have synced now."""
        if self._under_way == 0 and not self._done.is_set() and self._upstream_synced():
            self._done.set()

    async def wait(self) -> None:
        """Return when it has synced."""
        self.look()
        await self._done.wait()
