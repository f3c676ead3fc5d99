"""The signal that tells of committed changes: a doorbell, for `changefeed`.

Sent in the writing thread after COMMIT, with `changes` in revision order: once for each group, and
once for each write in a transaction of the caller's own. Never sent for what was rolled back; may
be sent late, and not at all if the process dies. Receivers must be quick: the next group waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.db import transaction
from django.db.backends.utils import CursorWrapper
from django.dispatch import Signal

from listwatch.protocol.versions import Change

CHANNEL = "listwatch_changes"  # PostgreSQL's NOTIFY: the revision, never data

changes_committed = Signal()


def announce(changes: Sequence[Change]) -> None:
    """Tell the receivers; one that fails keeps the others from nothing, and Django logs it."""
    if changes:
        changes_committed.send_robust(sender=Change, changes=list(changes))


def announce_on_commit(changes: Sequence[Change]) -> None:
    """Announce these when the transaction commits, unless a savepoint around takes them back."""
    transaction.on_commit(partial(announce, changes), robust=True)


def notify(cursor: CursorWrapper, revision: int) -> None:
    """Have PostgreSQL notify other processes at commit, and of nothing that is rolled back."""
    if cursor.db.vendor == "postgresql":
        cursor.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(revision)))
