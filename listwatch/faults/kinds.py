"""Which faults there are, and what each does: facts that API, dashboard and docs share."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class FaultType(StrEnum):
    """The `type` of a fault, as the API and the page name it."""

    EXPIRED = "expired"
    CUT = "cut"
    CUT_MID_LINE = "cut-mid-line"
    FREEZE = "freeze"
    BLACK_HOLE = "black-hole"
    DELAY = "delay"
    TOO_MANY_REQUESTS = "too-many-requests"
    HOLD = "hold"
    STOP_PUMP = "stop-pump"
    COMPACT = "compact"


class Facts(NamedTuple):
    """What a fault does, in words, and how it counts."""

    title: str
    does: str
    after: str  # what follows when its time is up, or it is lifted
    times: int = 0  # how often it hits each client unless told otherwise; 0: as long as it lasts
    everywhere: bool = False  # it cannot be narrowed to a resource or a watcher
    at_once: bool = False  # done as soon as it is asked for: it has no duration


FACTS: dict[FaultType, Facts] = {
    FaultType.EXPIRED: Facts(
        "410 Expired",
        "As an ERROR event: open watches get it as their last line. As an HTTP answer: open "
        "watches end, and the request that would resume them is answered with 410.",
        "Clients list anew and watch on.",
        times=1,
    ),
    FaultType.CUT: Facts(
        "Cut the connection",
        "Open watches break off between two lines, without the end that HTTP has for a body.",
        "Clients come again from their last revision.",
        times=1,
    ),
    FaultType.CUT_MID_LINE: Facts(
        "Cut in the middle of a line",
        "The next event of each watch is sent by half, then the connection breaks off.",
        "Clients throw the half line away and come again from their last revision.",
        times=1,
    ),
    FaultType.FREEZE: Facts(
        "Freeze the reader",
        "Nothing more is taken from the server's side of the watch, as if its client did not read: "
        "it falls behind, and is ended as too slow if that lasts.",
        "It goes on where it stood; one that was ended comes again.",
    ),
    FaultType.BLACK_HOLE: Facts(
        "Black hole",
        "What is sent arrives nowhere, bookmarks included, and nobody is told; new watches get no "
        "answer. Only a client that minds silence notices.",
        "Watches that lost something are cut, and resume from the last revision that came through.",
    ),
    FaultType.DELAY: Facts(
        "Delay",
        "Everything that is sent comes so much later, in its order.",
        "What is under way is sent at once.",
    ),
    FaultType.TOO_MANY_REQUESTS: Facts(
        "429 Too Many Requests",
        "New watches are refused with 429 and Retry-After; open ones go on.",
        "The next attempt is let in.",
    ),
    FaultType.HOLD: Facts(
        "Hold the next watch",
        "Each client's next watch request waits, without headers.",
        "It is answered as if it had just come.",
        times=1,
    ),
    FaultType.STOP_PUMP: Facts(
        "Stop the pump",
        "Writes are committed, but no cache hears of them: watches are silent, consistent reads "
        "time out with 504.",
        "The pump reads from the log what it missed, in order.",
        everywhere=True,
    ),
    FaultType.COMPACT: Facts(
        "Compact now",
        "Log and rings forget all that was, up to now: whoever comes with an older revision is "
        "told 410, truly.",
        "Nothing to lift: it is done at once.",
        everywhere=True,
        at_once=True,
    ),
}
