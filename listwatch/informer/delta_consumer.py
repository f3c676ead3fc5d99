"""Deltas into the store, and then into notifications: the one who empties a queue.

Fed by a queue, writes the `indexer` first and tells the `processor` after, in one step: whoever is
told finds that state, or a newer one, in the store.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from listwatch.informer.deltas import Delta, DeltaType
from listwatch.informer.indexer import Indexer, Operation, TransactionError
from listwatch.informer.notifications import Added, Notification, Removed, Updated
from listwatch.informer.objects import Deleted, JSONObject, Tombstone, is_resync

logger = logging.getLogger(__name__)

Distribute = Callable[[Notification, bool, bool], None]
"""Takes a notification, whether nothing changed, and whether a resync is why."""


class DeltaConsumer:
    """Applies deltas. The store decides on add or update, never the type of the delta.

    A delete of what the store has not is dropped: no handler ever heard of it. (Upstream tells it
    with its in-order queue; a handler would get a delete without an add.)
    """

    def __init__(self, indexer: Indexer, distribute: Distribute) -> None:
        self._indexer = indexer
        self._distribute = distribute

    def process(self, deltas: Sequence[Delta], initial: bool) -> None:
        """Apply one after the other; the first that fails ends this item."""
        for delta in deltas:
            try:
                self._apply(delta, initial)
            except Exception:
                logger.exception("A delta of %s was not stored", delta.key or "all objects")
                return

    def process_batch(self, deltas: Sequence[Delta], initial: bool) -> None:
        """Apply deltas of distinct keys as one write, then tell of those that succeeded."""
        if len(deltas) == 1:
            self.process(deltas, initial)
            return
        before = [self._indexer.get_by_key(delta.key) for delta in deltas]
        done: Sequence[int] = range(len(deltas))
        try:
            self._indexer.transaction([Operation(d.type, _payload(d)) for d in deltas])
        except TransactionError as error:
            logger.error("Of %d deltas: %s", len(deltas), error)
            done = error.successful
        for index in done:
            self._tell(deltas[index], before[index], initial)

    def _apply(self, delta: Delta, initial: bool) -> None:
        match delta.type:
            case DeltaType.REPLACED_ALL:
                self._replace_all(delta, initial)
            case DeltaType.SYNC_ALL:
                for subject in self._indexer.list():
                    key = self._indexer.key_of(subject)
                    self._distribute(Updated(key, subject, subject), True, True)
            case DeltaType.BOOKMARK:
                self._indexer.bookmark(delta.resource_version)
            case _:
                payload = _payload(delta)
                before = self._indexer.get_by_key(delta.key)
                if delta.type is DeltaType.DELETED or isinstance(payload, Tombstone):
                    self._indexer.delete(payload)
                else:
                    self._indexer.update(payload)
                self._tell(delta, before, initial)

    def _tell(self, delta: Delta, before: JSONObject | None, initial: bool) -> None:
        subject = _payload(delta)
        if delta.type is DeltaType.DELETED or isinstance(subject, Tombstone):
            if before is not None:
                self._tell_gone(delta.key, subject)
        elif before is None:
            self._distribute(Added(delta.key, subject, initial), False, False)
        else:
            tick = delta.type is DeltaType.SYNC
            sync = tick or is_resync(before, subject)
            self._distribute(Updated(delta.key, before, subject), sync, tick)

    def _tell_gone(self, key: str, subject: JSONObject | Tombstone) -> None:
        if isinstance(subject, Tombstone):
            gone = Deleted(key, subject.object, final_state_unknown=True)
        else:
            gone = Deleted(key, subject)
        self._distribute(Removed(key, gone), False, False)

    def _replace_all(self, delta: Delta, initial: bool) -> None:
        key_of = self._indexer.key_of
        fresh = {key_of(subject): subject for subject in delta.objects}
        before = {key_of(subject): subject for subject in self._indexer.list()}
        self._indexer.replace(fresh.values(), delta.resource_version)
        for key, subject in before.items():
            if key not in fresh:
                self._tell_gone(key, Tombstone(key, subject))
        for key, subject in fresh.items():
            self._tell(Delta(DeltaType.REPLACED, key, subject), before.get(key), initial)


def _payload(delta: Delta) -> JSONObject | Tombstone:
    subject = delta.object
    assert subject is not None, "only deltas of the whole store have no object"
    return subject
