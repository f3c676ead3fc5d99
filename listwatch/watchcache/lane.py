"""A lane: the events that equal watches share, framed once for all of them.

`lanes` appends to it, each `watcher` reads it at its own pace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.events import EventType
from listwatch.protocol.representations import Representation
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.statistics import LaneStatistics
from listwatch.watchcache.verdicts import Predicate

if TYPE_CHECKING:
    from listwatch.watchcache.watcher import CacheWatcher

LaneKey = tuple[str, str, Selector, Representation]  # namespace, name, and what to send of it

_CHUNKS = 2  # kept at a time: the one that all take next, and a laggard's


class Entry:
    """One event as a lane's watchers hear it; its frame is made when the first one asks."""

    __slots__ = ("content", "event", "frame", "type")

    def __init__(self, event_type: EventType, event: Version, content: Version) -> None:
        self.type = event_type
        self.event = event
        self.content = content
        self.frame: bytes | None = None

    def encode(self, representation: Representation, *, first: bool = False) -> bytes:
        """The event as one frame, under the revision of the write."""
        return representation.frame(self.type, self.content, self.event.revision, first=first)


class Chunk:
    """Frames of the entries from one position to another, joined."""

    __slots__ = ("body", "end", "revision")

    def __init__(self, body: bytes, end: int, revision: int) -> None:
        self.body = body
        self.end = end
        self.revision = revision  # of its last event


class Lane:
    """A window of entries [start, end) by positions that only grow; watchers stand in it.

    Entries up to `released` may be read. The window holds references to what the ring holds, and
    is cut where the ring ends; it is empty as soon as every watcher is at its end. Promises that
    an entry is encoded once for all who read it while it is young: of old ones (beyond a chunk's
    size of frames) the frames are dropped, and made again for whoever lags behind.
    """

    __slots__ = (
        "_at_end", "_chunk_bytes", "_chunks", "_encoded_from", "_entries", "_frame_bytes",
        "_no_watcher_below", "_offset", "encodings", "end", "flush_due", "flush_owed", "flushes",
        "id", "name", "namespace", "predicate", "released", "representation", "selector", "start",
        "touched", "watchers",
    )  # fmt: skip

    def __init__(self, number: int, key: LaneKey, predicate: Predicate, chunk_bytes: int) -> None:
        self.id = number
        self.namespace, self.name, self.selector, self.representation = key
        self.predicate = predicate
        self.watchers: dict[CacheWatcher, None] = {}
        self.start = 0
        self.released = 0
        self.end = 0
        self.touched = False  # it waits for a flush
        self.flush_due = float("-inf")  # not before then, says its flusher, and this is why:
        self.flush_owed = float("-inf")
        self.flushes = 0
        self.encodings = 0
        self._chunk_bytes = chunk_bytes
        self._entries: list[Entry] = []
        self._offset = 0  # position of the first of these; below `start` they are _GONE
        self._at_end = 0  # watchers that have read everything
        self._no_watcher_below = 0  # a lower bound of all cursors
        self._chunks: dict[int, Chunk] = {}
        self._encoded_from = 0  # no entry below this position has a frame
        self._frame_bytes = 0

    @property
    def key(self) -> LaneKey:
        """What its watchers have in common."""
        return self.namespace, self.name, self.selector, self.representation

    def join(self, watcher: CacheWatcher) -> int:
        """A watch begins here, behind everything so far; returns its cursor."""
        self.watchers[watcher] = None
        self._at_end += 1
        return self.end

    def leave(self, watcher: CacheWatcher, cursor: int) -> None:
        """A watch has ended."""
        del self.watchers[watcher]
        if cursor == self.end:
            self._at_end -= 1
        self._clear_if_all_read()

    def append(self, entry: Entry) -> None:
        """The newest event; not to be read before the next flush."""
        self._entries.append(entry)
        self.end += 1
        self._at_end = 0

    def flush(self) -> None:
        """Let the watchers read what there is, and wake those that wait."""
        self.released = self.end
        self.flushes += 1
        for watcher in self.watchers:
            watcher.wake()

    def entry(self, position: int) -> Entry:
        """The entry at a position in the window."""
        return self._entries[position - self._offset]

    def first_from(self, cursor: int) -> Version | None:
        """The oldest event that a watcher at `cursor` has not taken and that is still here."""
        position = max(cursor, self.start)
        return self.entry(position).event if position < self.end else None

    def read(self, cursor: int) -> Chunk:
        """What a watcher at `cursor` takes next: there must be something released."""
        chunk = self._chunks.get(cursor)
        if chunk is None:
            chunk = self._joined(cursor)
            if len(self._chunks) >= _CHUNKS:
                del self._chunks[next(iter(self._chunks))]
            self._chunks[cursor] = chunk
        return chunk

    def all_read(self) -> None:
        """A watcher has come to the end."""
        self._at_end += 1
        self._clear_if_all_read()

    def trim(self, floor: int) -> list[CacheWatcher]:
        """Cut the window where the ring ends; returns the watchers it has moved past."""
        entries, offset, start = self._entries, self._offset, self.start
        while start < self.end and entries[start - offset].event.revision <= floor:
            self._frame_bytes -= len(entries[start - offset].frame or b"")
            entries[start - offset] = _GONE
            start += 1
        if start == self.start:
            return []
        self.start = start
        self.released = max(self.released, start)
        self._encoded_from = max(self._encoded_from, start)
        self._chunks = {at: chunk for at, chunk in self._chunks.items() if at >= start}
        if start - offset > max(64, len(entries) // 2):  # seldom enough to cost O(1) an entry
            del entries[: start - offset]
            self._offset = start
        if start <= self._no_watcher_below:
            return []
        past = [watcher for watcher in self.watchers if watcher.cursor < start]
        remaining = (watcher.cursor for watcher in self.watchers if watcher.cursor >= start)
        self._no_watcher_below = min(remaining, default=start)
        return past

    def statistics(self) -> LaneStatistics:
        """The lane as it is now."""
        return LaneStatistics(
            id=self.id,
            namespace=self.namespace,
            name=self.name,
            selector=str(self.selector),
            representation=self.representation.name,
            watchers=len(self.watchers),
            window=self.end - self.start,
            events=self.end,
            encodings=self.encodings,
            flushes=self.flushes,
        )

    def _joined(self, cursor: int) -> Chunk:
        frames: list[bytes] = []
        size = 0
        position = cursor
        while position < self.released:
            frame = self._frame(position)
            size += len(frame)
            if frames and size > self._chunk_bytes:
                break
            frames.append(frame)
            position += 1
        self._drop_old_frames()
        revision = self.entry(position - 1).event.revision
        return Chunk(b"".join(frames), position, revision)

    def _frame(self, position: int) -> bytes:
        entry = self.entry(position)
        frame = entry.frame
        if frame is None:
            frame = entry.encode(self.representation)
            self.encodings += 1
            if position >= self._encoded_from:
                entry.frame = frame
                self._frame_bytes += len(frame)
        return frame

    def _drop_old_frames(self) -> None:
        while self._frame_bytes > self._chunk_bytes and self._encoded_from < self.end:
            entry = self.entry(self._encoded_from)
            if entry.frame is not None:
                self._frame_bytes -= len(entry.frame)
                entry.frame = None
            self._encoded_from += 1

    def _clear_if_all_read(self) -> None:
        if self._at_end == len(self.watchers) and self.start < self.end:
            self._entries.clear()
            self._chunks.clear()
            self.start = self._offset = self._encoded_from = self.end
            self.released = self.end
            self._frame_bytes = 0


_GONE = Entry.__new__(Entry)  # stands where the ring has moved past, and holds nothing
