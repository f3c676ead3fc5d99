"""One open watch: a cursor in its lane, and at most one chunk in its reader's hands.

Opened by `cacher`; `api.watch` pulls its chunks and writes them to the socket.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

from listwatch.protocol.clock import Clock
from listwatch.protocol.errors import StatusError, too_old_resource_version
from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.representations import error_frame
from listwatch.watchcache.backlog import Backlog, in_scope, of_events
from listwatch.watchcache.bookmarks import Schedule
from listwatch.watchcache.history import HistoryLost, HistoryReader
from listwatch.watchcache.inspection import watcher_statistics
from listwatch.watchcache.observer import Observer
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.progress import Progress
from listwatch.watchcache.requests import WatchRequest, scope
from listwatch.watchcache.statistics import WatcherStatistics

if TYPE_CHECKING:
    from listwatch.watchcache.lane import Lane
    from listwatch.watchcache.lanes import Lanes

_numbers = itertools.count(1)  # watches are told apart across resources


class Keeper(Protocol):
    """What a watch needs of its Cacher."""

    group_resource: GroupResource
    progress: Progress
    history: HistoryReader
    clock: Clock
    options: CacheOptions
    observer: Observer
    lanes: Lanes

    @property
    def floor(self) -> int:
        """The oldest revision that the ring can serve."""

    def join(self, watcher: CacheWatcher, after: int) -> None:
        """Let it go live behind a revision from `floor` on."""

    def schedule(self, watcher: CacheWatcher) -> None:
        """Call its `due` at the next time it needs it."""

    def left(self, watcher: CacheWatcher) -> None:
        """It has ended."""


class CacheWatcher:
    """A stream of chunks of whole frames, each event once, in revision order, none missing.

    Promises that whatever ends it is named in `end_reason`, and that it ends rather than skip an
    event. Pulled by one reader, who need not hurry: nothing is queued for him but his place in
    the lane, until the ring has moved past that or he has taken nothing for a set time; then it
    ends as too slow. No task and no timer of its own. Owned by one event loop.
    """

    __slots__ = (
        "_backlog", "_first", "_keeper", "_last", "_log_position",
        "_skip_until", "_state_revision", "_taken_at", "_waiter", "accepted_at", "bookmark_due",
        "bookmarks", "bytes", "chunks", "cursor", "end_reason", "ended_at", "frames", "id",
        "initial_events", "lane", "on_end", "reading", "request", "revision", "schedule",
        "selector_text", "since_at", "started_from", "tick",
    )  # fmt: skip

    def __init__(self, request: WatchRequest, keeper: Keeper) -> None:
        now = keeper.clock.monotonic()
        options = keeper.options
        self.id = next(_numbers)
        self.request = request
        self.selector_text = str(request.selector)  # asked for often, and made once
        self.lane: Lane | None = None
        self.cursor = 0  # position in the lane of the next event for it
        self.revision = 0  # the last one it was told of
        self.started_from = 0
        self.since_at = keeper.clock.now()
        self.end_reason: EndReason | None = None
        self.ended_at: float | None = None
        self.on_end: Callable[[], None] | None = None  # for a reader who is busy sending
        self.reading = False
        self.schedule = Schedule(
            now,
            request.timeout,
            options.bookmark_period,
            lead=options.bookmark_lead,
            bookmarks=request.bookmarks,
        )
        self.tick = 0  # of the timer wheel
        self.bookmark_due = False
        self.accepted_at: float | None = None  # wall time: all it was given was taken
        self.bytes = self.frames = self.chunks = self.bookmarks = self.initial_events = 0
        self._keeper = keeper
        self._backlog: Backlog | None = None
        self._state_revision: int | None = None  # of the state that the backlog is
        self._log_position: int | None = None  # while it replays the log
        self._skip_until = 0  # it was promised silence up to here
        self._first = request.representation.first_frame_differs
        self._last: bytes | None = None
        self._taken_at = now
        self._waiter: asyncio.Future[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether it has ended; `end_reason` names why."""
        return self.end_reason is not None

    @property
    def group_resource(self) -> GroupResource:
        """What it watches."""
        return self._keeper.group_resource

    def start_from_log(self, after: int) -> None:
        """Begin with the events of the log behind a revision; only by its Cacher."""
        self.started_from = self.revision = self._log_position = after

    def start_from_state(self, revision: int, backlog: Backlog) -> None:
        """Begin with a state; only by its Cacher, which lets it join a lane in the same step."""
        self.started_from = self._state_revision = revision
        self._backlog = backlog

    def start_live(self, lane: Lane, after: int, backlog: Backlog | None) -> None:
        """Go on in a lane, behind a revision and the events before that; only by its Cacher."""
        self.lane = lane
        self.cursor = lane.join(self)
        self._log_position = None
        if self._state_revision is None:
            self.started_from = self.started_from or after
            self.revision = max(self.revision, after)
            self._skip_until = after if after > self._keeper.progress.applied else 0
            self._backlog = backlog

    def refuse(self, error: StatusError, reason: EndReason) -> None:
        """End with one ERROR frame as the last thing that is said."""
        if self.end_reason is None:
            self._last = error_frame(error.to_dict())
            self.close(reason)

    def finish(self, reason: EndReason) -> None:
        """End, but tell a reader who keeps up what was applied until now.

        For the end of a kind: nobody can come back and ask for its last deletions.
        """
        if self.end_reason is None and self._backlog is None and self.lane is not None:
            self.lane.flush()
            self._last = self._take_live(self.lane)
        self.close(reason)

    def close(self, reason: EndReason) -> None:
        """End at once; whoever ended it first is named. Never awaits, may be called by anyone."""
        if self.end_reason is not None:
            return
        self.end_reason = reason
        self.ended_at = self._keeper.clock.now()
        self._keeper.left(self)
        self._backlog = self._log_position = None
        self.wake()
        if self.on_end is not None:
            self.on_end()

    async def next_chunk(self) -> bytes | None:
        """The next frames, as soon as there are some; None when the watch has ended.

        One call at a time. Calling again tells that the chunk before is sent. Cancelling the call
        loses nothing that was not returned; whoever cancels for good closes the watch himself.
        """
        if self.reading:
            raise RuntimeError("a watch has one reader")
        self.reading = True
        if self.chunks:
            self.accepted_at = self._keeper.clock.now()
        try:
            if self._backlog is not None and self.chunks:
                await asyncio.sleep(0)  # sending may not have waited, and there may be much
            while not self.ended:
                chunk = self._take()
                if chunk is not None:
                    return chunk
                waiter = self._wait()
                if waiter is not None:
                    await waiter
                else:
                    await self._more()
        except Exception:
            self.close(EndReason.FAILED)
            raise
        finally:
            self._waiter = None
            self.reading = False
            self._taken_at = self._keeper.clock.monotonic()
        last, self._last = self._last, None
        return last

    def wake(self) -> None:
        """There may be something to read."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def due(self, now: float) -> None:
        """The timer wheel has come round: a bookmark, the deadline, or a look at a slow reader."""
        keeper = self._keeper
        if self.end_reason is not None:
            return
        if now >= self.schedule.deadline:
            self.close(EndReason.DEADLINE_REACHED)
            return
        if not self.reading and now - self._taken_at >= keeper.options.slow_reader_timeout:
            self.close(EndReason.TOO_SLOW)
            return
        if self.lane is not None and self.cursor < self.lane.end:
            keeper.lanes.trim(self.lane)
        if self.schedule.take_bookmark(now):
            self.bookmark_due = True
            if self._tells(keeper.progress.applied):
                self.wake()
        if self.end_reason is None:
            keeper.schedule(self)

    def statistics(self) -> WatcherStatistics:
        """The watch as it is now."""
        return watcher_statistics(self, self._keeper)

    @property
    def phase(self) -> Literal["initial", "log", "live", "ended"]:
        """How far its stream has come."""
        if self.end_reason is not None:
            return "ended"
        if self.lane is None:
            return "log"
        return "initial" if self._backlog is not None else "live"

    def _take(self) -> bytes | None:
        if self._backlog is not None:
            chunk = self._take_backlog(self._backlog)
            if chunk is not None or self._backlog is not None:
                return chunk
        return None if self.lane is None else self._take_live(self.lane)

    def _take_live(self, lane: Lane) -> bytes | None:
        if self._skip_until:
            self._skip(lane)
        cursor = self.cursor
        if cursor >= lane.released:
            return self._take_bookmark(lane)
        if lane.entry(cursor).event.revision <= self._keeper.floor:
            self._keeper.lanes.trim(lane)  # the ring has moved past it, and it ends
            return None
        if self._first:
            entry = lane.entry(cursor)
            body = entry.encode(lane.representation, first=True)
            end, revision = cursor + 1, entry.event.revision
            lane.encodings += 1
        else:
            chunk = lane.read(cursor)
            body, end, revision = chunk.body, chunk.end, chunk.revision
        self.cursor = end
        if end == lane.end:
            lane.all_read()
        return self._taken(body, end - cursor, revision)

    def _skip(self, lane: Lane) -> None:
        # It asked for what comes behind a revision that is not reached yet.
        while self.cursor < lane.released:
            if lane.entry(self.cursor).event.revision > self._skip_until:
                self._skip_until = 0
                return
            self.cursor += 1
            if self.cursor == lane.end:
                lane.all_read()

    def _take_bookmark(self, lane: Lane) -> bytes | None:
        # Applied and the lane's end move in one step, so at its end everything up to A was sent.
        if not self.bookmark_due or self.cursor < lane.end:
            return None
        self.bookmark_due = False
        applied = self._keeper.progress.applied
        if not self._tells(applied):
            return None
        return self._taken(self._bookmark(applied, initial_events_end=False), 1, applied)

    def _tells(self, revision: int) -> bool:
        # A bookmark says something new; but who has heard nothing at all hears so at the end.
        silent = self.schedule.closing and not self.frames
        return revision > self.revision or (revision == self.revision and silent)

    def _take_backlog(self, backlog: Backlog) -> bytes | None:
        frames: list[bytes] = []
        size, revision = 0, self.revision
        representation = self.request.representation
        for entry in backlog:
            if entry is None:
                break
            frames.append(entry.encode(representation, first=self._first))
            self._first = False
            size += len(frames[-1])
            revision = entry.event.revision
            if size >= self._keeper.options.chunk_bytes:
                break
        else:
            self._backlog = None
        if self._state_revision is not None:
            self.initial_events += len(frames)
            revision = self.revision  # objects of a state come in key order: no revision is reached
            if self._backlog is None:
                revision, self._state_revision = self._state_revision, None
                if self.request.bookmarks:
                    frames.append(self._bookmark(revision, initial_events_end=True))
        if not frames:
            self.revision = revision
            return None
        return self._taken(b"".join(frames), len(frames), revision)

    def _bookmark(self, revision: int, *, initial_events_end: bool) -> bytes:
        self.bookmarks += 1
        first, self._first = self._first, False
        return self.request.representation.bookmark(
            revision, initial_events_end=initial_events_end, first=first
        )

    def _taken(self, body: bytes, frames: int, revision: int) -> bytes:
        after, self.revision = self.revision, revision
        self._first = False
        self.frames += frames
        self.chunks += 1
        self.bytes += len(body)
        self._keeper.observer.delivered(self, after, revision, len(body))
        return body

    def _wait(self) -> asyncio.Future[None] | None:
        # What to wait for, if there is nothing else to do.
        if self.ended or self._backlog is not None or self._log_position is not None:
            return None
        self._waiter = asyncio.get_running_loop().create_future()
        return self._waiter

    async def _more(self) -> None:
        if self._backlog is not None:
            await asyncio.sleep(0)  # it looked at much in vain: others have a turn
        elif self._log_position is not None:
            await self._read_log(self._log_position)

    async def _read_log(self, position: int) -> None:
        keeper = self._keeper
        if position >= keeper.floor:
            keeper.join(self, position)
            return
        until, limit = keeper.progress.applied, keeper.options.log_batch
        try:
            events = await keeper.history.changes(keeper.group_resource, position, until, limit)
        except HistoryLost as lost:
            error = too_old_resource_version(position, lost.oldest)
            self.refuse(error, EndReason.HISTORY_LOST)
            return
        self._log_position = until if len(events) < limit else events[-1].revision
        request = self.request
        wanted = in_scope(events, *scope(request.namespace, request.name, request.selector))
        before = [event.previous for event in wanted]
        self._backlog = of_events(wanted, before, request.selector)
