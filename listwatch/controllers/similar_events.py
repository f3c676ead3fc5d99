"""Events of one object that differ only in their messages: after a few, they become one.

A workload that is held back names another pod each time it tries; nobody needs all the names.
Upstream: the EventAggregator in client-go/tools/record/events_cache.go. For `events`.
"""

from __future__ import annotations

from collections import OrderedDict

MESSAGES = 10  # different ones, of which the last is combined already
SECONDS = 600.0  # without such an event, after which they are told one by one again
COMBINED = "(combined from similar events): "

Key = tuple[str, ...]


class SimilarEvents:
    """Remembers the messages of late; of the `limit` keys that were asked about last."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._told: OrderedDict[Key, tuple[set[str], float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._told)

    def combines(self, key: Key, message: str, now: float) -> bool:
        """Whether an event that happens now is told together with others of its key.

        One whose message was told by itself lately is not: it is counted where it stands.
        """
        messages, last = self._told.pop(key, (set(), now))
        if now - last > SECONDS:
            messages = set()
        combined = message not in messages and len(messages) >= MESSAGES - 1
        if not combined:
            messages.add(message)
        self._told[key] = messages, now
        if len(self._told) > self._limit:
            self._told.popitem(last=False)
        return combined
