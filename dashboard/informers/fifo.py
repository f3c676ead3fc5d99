"""A DeltaFIFO that can be held and looked into; all else is the informer's own."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, NamedTuple

from listwatch.informer.delta_fifo import DeltaFIFO
from listwatch.informer.deltas import Delta, DeltaType, Process
from listwatch.informer.objects import JSONObject, Tombstone
from listwatch.informer.shared_informer import SharedIndexInformer

SHOWN_KEYS = 100  # queued keys shown
SHOWN_DELTAS = 20  # of each
LOGGED = 60  # deltas remembered, with what became of them


class Fate(NamedTuple):
    """One delta, and what the queue did with it."""

    number: int
    type: str
    key: str
    revision: str
    fate: str


class ShownFIFO(DeltaFIFO):
    """Counts what gathers under a key and what is merged away, and pops only while not held."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # Any: handed on
        super().__init__(*arguments, **options)
        self.gathered = 0  # deltas that joined others of their key
        self.collapsed = 0  # deletions that said the same twice
        self.dropped = 0  # deletions of what nobody knew
        self.log: deque[Fate] = deque(maxlen=LOGGED)
        self._logged = 0
        self._open = asyncio.Event()
        self._open.set()

    @property
    def held(self) -> bool:
        """Whether nothing is popped."""
        return not self._open.is_set()

    def hold(self, held: bool) -> None:
        """Stop or go on popping: what comes meanwhile gathers."""
        if held:
            self._open.clear()
        else:
            self._open.set()

    def close(self) -> None:
        """Also let go of whoever waits to pop."""
        self._open.set()
        super().close()

    async def pop(self, process: Process) -> None:
        """As the queue pops, once it is not held."""
        await self._open.wait()
        # It may have been empty then and be held by the time that something comes.
        await self._wait_for_some()
        await self._open.wait()
        await super().pop(process)

    def delete(self, subject: JSONObject | Tombstone) -> None:
        """Note the ones that are dropped, too."""
        before = self._logged
        super().delete(subject)
        if self._logged == before:
            self.dropped += 1
            self._note(DeltaType.DELETED, self.key_of(subject), subject, "dropped: nobody knew it")

    def pending(self) -> list[tuple[str, list[Delta]]]:
        """The first queued keys, in their order, each with its deltas."""
        keys = [key for key, _ in zip(self._order, range(SHOWN_KEYS), strict=False)]
        return [(key, self._deltas[key][-SHOWN_DELTAS:]) for key in keys]

    def _queue(
        self, kind: DeltaType, subject: JSONObject | Tombstone, internal: DeltaType | None = None
    ) -> None:
        key = self.key_of(subject)
        before = len(self._deltas.get(key, ()))
        super()._queue(kind, subject, internal)
        after = len(self._deltas[key])
        fate = "queued"
        if before and after == before:
            self.collapsed += 1
            fate = "merged away: the same deletion twice"
        elif before:
            self.gathered += 1
            fate = f"joined {before} of its key"
        self._note(kind, key, subject, fate)

    def _note(self, kind: DeltaType, key: str, subject: JSONObject | Tombstone, fate: str) -> None:
        self._logged += 1
        if isinstance(subject, Tombstone):
            fate, revision = f"{fate} (a tombstone: final state unknown)", ""
        else:
            revision = str(subject["metadata"].get("resourceVersion", ""))
        self.log.appendleft(Fate(self._logged, str(kind), key, revision, fate))


class ShownInformer(SharedIndexInformer):
    """A SharedIndexInformer whose queue is a ShownFIFO."""

    queue: ShownFIFO

    def _make_queue(self) -> ShownFIFO:
        self.queue = ShownFIFO(self.indexer)
        return self.queue
