"""Why watches end: what each reason means, and what a client does next.

The reasons are `EndReason`; tests hold this table to it.
"""

from __future__ import annotations

from typing import NamedTuple

from listwatch.protocol.events import EndReason


class Ending(NamedTuple):
    """One reason in words."""

    means: str
    next: str
    calm: bool = False  # nothing is wrong


ENDINGS = {
    EndReason.CLIENT_LEFT: Ending(
        "The client closed the connection.",
        "If it comes back, it goes on from the last revision it was delivered.",
        calm=True,
    ),
    EndReason.DEADLINE_REACHED: Ending(
        "The time that the watch was given (timeoutSeconds, or the server's own) was over.",
        "Informers open the next watch at once, from the last revision they know.",
        calm=True,
    ),
    EndReason.DETACHED: Ending(
        "A person detached it at the dashboard.", "Nothing: it was theirs.", calm=True
    ),
    EndReason.SERVER_STOPPING: Ending(
        "The server was told to stop, and ended every watch first.",
        "Clients reconnect to the next server and go on from their last revision.",
        calm=True,
    ),
    EndReason.TOO_SLOW: Ending(
        "It took nothing for too long, or the ring has overwritten what it had still to take.",
        "It reconnects from its last revision: the log serves it, or 410 makes it list again.",
    ),
    EndReason.HISTORY_LOST: Ending(
        "Neither the ring nor the log holds what followed its revision: it was told 410 Expired.",
        "The client has to list again and to watch from the revision of that list.",
    ),
    EndReason.NOT_REACHED: Ending(
        "It asked for a revision that the server had not reached in time: it was told 504.",
        "The client tries again; a revision of another server is never reached here.",
    ),
    EndReason.DEFINITION_CHANGED: Ending(
        "The definition of its resource was changed or deleted.",
        "The client lists again, under the new definition.",
    ),
    EndReason.FAULT_INJECTED: Ending(
        "A fault rule ended it.", "Whatever the client does about it is what the rule is for."
    ),
    EndReason.FAILED: Ending(
        "An error of the server's own; its log has the cause.",
        "The client reconnects from its last revision.",
    ),
}


def is_calm(reason: EndReason) -> bool:
    """Whether nothing is wrong when a watch ends so."""
    return ENDINGS[reason].calm
