"""Who changed an object that is not his? Compares what the cache holds with what it was given.

For development: `shared_informer` runs it with `InformerOptions(check_mutations=True)`.
"""

from __future__ import annotations

import hashlib

import orjson

from listwatch.informer.indexer import Indexer
from listwatch.informer.objects import JSONObject
from listwatch.protocol.clock import Clock

CHECK_SECONDS = 1.0


class MutationError(RuntimeError):
    """Objects of the cache were changed by somebody who had only read them; `keys` are theirs."""

    def __init__(self, keys: list[str]) -> None:
        self.keys = tuple(keys)
        super().__init__(f"cached objects were changed: {', '.join(keys)}")


class MutationDetector:
    """Remembers a digest of every object it has seen in a store.

    An object counts by its identity: one that was replaced since is another one, and is not
    compared. So a change is found if a check falls between it and the object's next version.
    """

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer
        self._seen: dict[str, tuple[JSONObject, bytes]] = {}

    def check(self) -> None:
        """Compare, and remember what is new; raises MutationError."""
        changed: list[str] = []
        fresh: dict[str, tuple[JSONObject, bytes]] = {}
        for subject in self._indexer.list():
            key = self._indexer.key_of(subject)
            now = hashlib.blake2b(orjson.dumps(subject), digest_size=16).digest()
            before = self._seen.get(key)
            if before is not None and before[0] is subject and before[1] != now:
                changed.append(key)
                now = before[1]  # it is told again until it is replaced
            fresh[key] = (subject, now)
        self._seen = fresh
        if changed:
            raise MutationError(sorted(changed))

    async def run(self, clock: Clock) -> None:
        """Check every second; returns never, raises MutationError."""
        while True:
            self.check()
            await clock.sleep(CHECK_SECONDS)
