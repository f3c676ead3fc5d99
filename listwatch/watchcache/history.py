"""What a Cacher asks of the log, for what is older than its ring.

The log itself is `store`'s; `changefeed.history` reads it.
"""

from __future__ import annotations

from typing import Protocol

from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.versions import Version


class HistoryLost(Exception):  # noqa: N818 (what happened, not what went wrong)
    """The log no longer holds what was asked for; `oldest` is the oldest state it can give."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"the log begins at {oldest}")
        self.oldest = oldest


class HistoryReader(Protocol):
    """Reads the log. No transaction of his outlives the call that opened it."""

    async def changes(
        self, group_resource: GroupResource, after: int, until: int, limit: int
    ) -> list[Version]:
        """The changes with after < revision <= until, oldest first, at most `limit` of them.

        Each has its `previous`, unless it created its object. Raises HistoryLost if some of them
        may be gone.
        """

    async def state_at(
        self,
        group_resource: GroupResource,
        revision: int,
        *,
        prefix: str = "",
        after_key: str = "",
        limit: int = 500,
    ) -> list[Version]:
        """The objects as they stood at a revision, in key order, from behind `after_key` on.

        `prefix` is a namespace and a slash, or nothing. Raises HistoryLost.
        """

    async def compacted(self) -> int:
        """The oldest revision that the log can still give: exact from here on."""
