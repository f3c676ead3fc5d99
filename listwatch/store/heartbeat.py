"""A write of nobody's, so that the revision moves on an idle server too.

A list's continue token pins a revision, and is honoured until that revision is compacted. Were
nothing written after it, it never would be. `compaction` asks for it.
"""

from __future__ import annotations

from listwatch.protocol.clock import Clock
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import encode
from listwatch.protocol.uids import new_uid
from listwatch.store import reads
from listwatch.store.operations import Create, Operation, Update, WriteConflict
from listwatch.store.writes import write

HEARTBEATS = GroupResource("listwatch.internal", "heartbeats")  # no cache is kept of this group
_NAME = "head"


def beat(clock: Clock) -> None:
    """Move Head by one revision, by a real change: the log that the pump reads has no gaps."""
    stored = reads.get(HEARTBEATS, "", _NAME)
    operation: Operation
    if stored is None:
        uid = new_uid()
        document = {
            "kind": "Heartbeat",
            "apiVersion": "listwatch.internal/v1",
            "metadata": {"name": _NAME, "uid": uid},
        }
        operation = Create(HEARTBEATS, "", _NAME, uid, encode(document))
    else:
        operation = Update(HEARTBEATS, "", _NAME, stored.revision, stored.encoded)
    try:
        write(operation, clock=clock)
    except WriteConflict:
        return  # another process has just moved it
