"""What the parts of a watch cache tell about themselves: immutable records, a line a field.

Read by `metrics` and the dashboard, which look at nothing else. Times named `_at` are wall time.
What is made by the thousand is a tuple: a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from listwatch.protocol.events import EndReason, EventType
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import ChangeType
from listwatch.watchcache.ring import Resize


class WatcherStatistics(NamedTuple):
    """One watch, open or ended."""

    id: int  # unique in this process
    group_resource: GroupResource
    agent: str  # the client's user agent
    user: str
    address: str
    namespace: str  # '' for all
    name: str  # '' for any
    selector: str  # as text, '' for everything
    selects: Selector  # the same, for whoever wants to ask it about an event
    representation: str
    since_at: float  # when it was opened
    started_from: int  # the revision its stream began from
    delivered: int  # every event up to this revision was taken
    phase: Literal["initial", "log", "live", "ended"]
    lag_events: int  # that wait in its lane
    lag_seconds: float  # since the oldest of these was received
    lag_revisions: int  # that were applied since the last one it was told of, for it or not
    bytes: int
    frames: int  # of any type
    chunks: int
    bookmarks: int
    bookmark_at: float | None  # when the next one is due; None if it wants none
    bookmark_why: Literal["", "period", "closing"]  # each period, or shortly before its deadline
    bookmark_waits: bool  # one is due, and sent as soon as it has read all and there is news
    deadline_at: float | None
    initial_events: int  # ADDED frames of the state it began with
    reading: bool  # it waits for more; False: its last chunk is still being sent
    accepted_at: float | None  # when its socket had last taken all that it was given
    end_reason: EndReason | None
    ended_at: float | None


class LaneStatistics(NamedTuple):
    """One lane."""

    id: int
    namespace: str
    name: str
    selector: str
    representation: str
    watchers: int
    window: int  # events that not all of its watchers have taken
    events: int  # that ever stood in it
    encodings: int  # frames made for it
    flushes: int  # times that its watchers were woken


class RingStatistics(NamedTuple):
    """The history ring."""

    events: int
    capacity: int  # events it may hold now
    bytes: int  # of the bodies of its events
    oldest: int | None  # revision of its oldest event
    newest: int | None  # revision of its newest event
    floor: int  # the oldest revision that a watch can start from here
    start: int  # index of its oldest event; grows for ever
    end: int  # index that the next event will have
    resizes: int  # times that it grew or shrank
    history: tuple[Resize, ...]  # the newest of these, oldest first
    recent: int  # events that arrived in the last `recent_seconds`
    recent_seconds: float  # ten, or less if older events have left already


class RingMark(NamedTuple):
    """One event of the ring in outline."""

    revision: int
    type: ChangeType
    received_at: float


@dataclass(frozen=True, slots=True)
class RingSlot:
    """One event of the ring."""

    index: int
    revision: int
    type: ChangeType
    namespace: str
    name: str
    age: float  # seconds since it arrived
    bytes: int  # of its body
    committed_at: float
    received_at: float


class CacherStatistics(NamedTuple):
    """One resource's cache."""

    group_resource: GroupResource
    ready: bool
    objects: int
    tombstones: int  # deleted objects that the ring still needs
    applied: int  # the revision that all caches are at
    newest: int  # revision of this resource's newest event
    received: int  # events
    ring: RingStatistics
    watchers: int  # open
    lanes: int
    selectors: int  # distinct ones among the lanes
    evaluations: int  # of a selector on an event
    encodings: int  # frames of events that lanes made
    index_hits: int  # lanes found by the value of a label or field, or by being asked always
    index_spared: int  # lanes that an event did not have to ask
    flushes: int  # of lanes
    delivered_frames: int
    delivered_bytes: int
    lists: int
    lists_from_log: int
    pinned_arrays: int  # states that lists in pages work through
    pinned_references: int  # objects in these
    indexed: tuple[str, ...]  # labels and fields that lists are answered by
    watches_from_log: int  # watches that began below the ring
    too_old: int  # watches refused because nothing holds their revision
    ends: Mapping[EndReason, int]  # watches by how they ended


@dataclass(frozen=True, slots=True)
class Explanation:
    """What becomes of a watch from some revision: the arithmetic of 410."""

    revision: int
    source: Literal["ring", "log", "refused", "future"]
    oldest_in_ring: int  # from here on the ring serves
    oldest_in_log: int  # from here on the log serves
    applied: int
    replayed: int  # events that the watch would begin with
    by_type: Mapping[EventType, int]  # of these
    counted: bool  # False: there are more in the log than were counted
    message: str  # the refusal, or what happens instead


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a selector, asked about a write."""

    text: str  # as `app=web`
    key: str
    kind: Literal["label", "field"]
    before: str | None  # the value before the write; None if there was none
    after: str | None
    held: bool  # before the write
    holds: bool  # after it


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a selector makes of a write: its row of the truth table."""

    in_scope: bool  # the object has the namespace and the name that were asked for
    before: bool  # it matched before
    after: bool  # it matches now
    hears: EventType | None
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Transition:
    """One event of the ring as one watch sees it."""

    slot: RingSlot
    judgement: Judgement
    stands: Literal["before", "delivered", "waiting", "after"]  # against the watch's own time


@dataclass(frozen=True, slots=True)
class LaneJudgement:
    """What one open lane makes of an event."""

    lane: LaneStatistics
    asked: bool  # by the index; False: spared
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Stop:
    """One watch on the way of one event."""

    watcher: int
    lane: int
    type: str  # what it hears
    delivered: bool  # whether it has taken it


@dataclass(frozen=True, slots=True)
class Journey:
    """The way of one event that still stands in the ring."""

    slot: RingSlot
    stops: tuple[Stop, ...]  # the open watches that hear of it
