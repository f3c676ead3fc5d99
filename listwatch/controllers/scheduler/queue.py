"""Pods that wait for a node: those due now by priority, those backing off, those that fit nowhere.

Filled by the handlers of `controller`, emptied by its loop.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass

from listwatch.protocol.clock import Clock
from listwatch.protocol.objects import JSONObject

FIRST_BACKOFF, LAST_BACKOFF = 1.0, 10.0  # seconds, as kube-scheduler's


@dataclass(frozen=True, slots=True)
class SchedulingQueueStatistics:
    """The queue at one moment."""

    active: int  # pods that are due
    backing_off: int  # pods that are due a little later
    unschedulable: int  # pods that wait for the cluster to change


@dataclass(slots=True)
class _Entry:
    pod: JSONObject
    attempts: int = 0
    state: str = "active"  # or: backoff, unschedulable, taken
    ticket: int = 0  # of its valid place in a heap


class SchedulingQueue:
    """Each pod is in it once, under its uid. One event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._active: list[tuple[int, int, str]] = []
        self._numbers = itertools.count(1)
        self._arrived = asyncio.Event()

    def add(self, pod: JSONObject) -> None:
        """A pod waits, or one that waits has changed."""
        uid = pod["metadata"]["uid"]
        entry = self._entries.get(uid)
        if entry is None:
            entry = self._entries[uid] = _Entry(pod)
            self._activate(uid, entry)
            return
        changed = entry.pod["spec"] != pod["spec"] or (
            entry.pod["metadata"].get("labels") != pod["metadata"].get("labels")
        )
        entry.pod = pod
        if entry.state == "unschedulable" and changed:
            self._activate(uid, entry)

    def remove(self, uid: str) -> None:
        """A pod waits no more."""
        self._entries.pop(uid, None)

    async def take(self) -> JSONObject:
        """The next pod; it stays known until `remove`, or comes back by `retry` or `park`."""
        while True:
            while self._active:
                _, ticket, uid = heapq.heappop(self._active)
                entry = self._entries.get(uid)
                if entry is not None and entry.state == "active" and entry.ticket == ticket:
                    entry.state = "taken"
                    entry.attempts += 1
                    return entry.pod
            self._arrived.clear()
            await self._arrived.wait()

    def retry(self, uid: str) -> None:
        """Its turn failed: it gets another one later."""
        entry = self._entries.get(uid)
        if entry is None:
            return
        entry.state = "backoff"
        entry.ticket = ticket = next(self._numbers)
        delay = min(FIRST_BACKOFF * 2 ** min(entry.attempts - 1, 10), LAST_BACKOFF)
        self._clock.call_later(delay, lambda: self._back(uid, ticket))

    def park(self, uid: str) -> None:
        """It fits nowhere: it gets another turn when the cluster changes."""
        entry = self._entries.get(uid)
        if entry is not None:
            entry.state = "unschedulable"

    def cluster_changed(self) -> None:
        """What fitted nowhere may fit now."""
        for uid, entry in self._entries.items():
            if entry.state == "unschedulable":
                self.retry(uid)

    def wake(self, concerns: Callable[[JSONObject], bool]) -> None:
        """What these waited for has come: they get their turn at once."""
        for uid, entry in self._entries.items():
            if entry.state == "unschedulable" and concerns(entry.pod):
                self._activate(uid, entry)

    def statistics(self) -> SchedulingQueueStatistics:
        """A record of now."""
        states = [entry.state for entry in self._entries.values()]
        return SchedulingQueueStatistics(
            states.count("active"), states.count("backoff"), states.count("unschedulable")
        )

    def __contains__(self, uid: str) -> bool:
        return uid in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def _activate(self, uid: str, entry: _Entry) -> None:
        entry.state = "active"
        entry.ticket = next(self._numbers)
        priority = entry.pod["spec"].get("priority") or 0
        heapq.heappush(self._active, (-priority, entry.ticket, uid))
        self._arrived.set()

    def _back(self, uid: str, ticket: int) -> None:
        entry = self._entries.get(uid)
        if entry is not None and entry.state == "backoff" and entry.ticket == ticket:
            self._activate(uid, entry)
