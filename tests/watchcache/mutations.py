"""Faults that the tests of list and watch must find: each a small change of the real source.

Importable, so that other machines (the one over store and pump) can be tried with them, too:

    for mutation in MUTATIONS:
        with mutation.applied():
            ...  # must fail
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutation:
    """One fault: in a function of `listwatch.watchcache`, `old` is replaced by `new`."""

    name: str
    target: str  # module:Class.function
    old: str
    new: str

    def __str__(self) -> str:
        return self.name

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The fault is in force; raises if the source has changed so that it no longer fits."""
        module_name, _, path = self.target.partition(":")
        module = importlib.import_module(f"listwatch.watchcache.{module_name}")
        *owners, attribute = path.split(".")
        owner: Any = module  # Any: a module or a class
        for name in owners:
            owner = getattr(owner, name)
        original = inspect.getattr_static(owner, attribute)
        source = textwrap.dedent(inspect.getsource(original))
        if source.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.old!r} is not in {self.target} once")
        made: dict[str, Any] = {}  # Any: whatever the source defines
        changed = source.replace(self.old, self.new)
        # As in the module, annotations are not evaluated there.
        code = compile(changed, f"<{self.name}>", "exec", flags=annotations.compiler_flag)
        exec(code, module.__dict__, made)
        # A function is also known to the modules that have imported it.
        holders = [owner]
        if not owners:
            holders += [
                other
                for name, other in list(sys.modules.items())
                if name.startswith("listwatch.watchcache.")
                and vars(other).get(attribute) is original
                and other is not owner
            ]
        for holder in holders:
            setattr(holder, attribute, made[attribute])
        try:
            yield
        finally:
            for holder in holders:
                setattr(holder, attribute, original)


MUTATIONS = [
    Mutation(
        "the terms of the version before are not looked up",
        "lane_index:LaneIndex.find",
        "after, before = _present(event), _present(event.previous)",
        "after, before = _present(event), None",
    ),
    Mutation(
        "a missing field is not found under ''",
        "lane_index:LaneIndex.find",
        'new = None if after is None else after.fields.get(key, "")',
        "new = None if after is None else after.fields.get(key)",
    ),
    Mutation(
        "a selector with two values is asked twice",
        "lane_index:_find",
        "[lane for lane in leaving if lane not in entering] if entering else leaving",
        "leaving",
    ),
    Mutation(
        "the window's trim forgets the watcher at its edge",
        "lane:Lane.trim",
        "if watcher.cursor < start]",
        "if watcher.cursor < start - 1]",
    ),
    Mutation(
        "a bookmark is sent though an event still waits",
        "watcher:CacheWatcher._take_bookmark",
        "or self.cursor < lane.end",
        "",
    ),
    Mutation(
        "the capture from the ring is off by one",
        "cacher:Cacher.join",
        "self.ring.after(after)",
        "self.ring.after(after + 1)",
    ),
    Mutation(
        "the capture from the ring overlaps by one",
        "cacher:Cacher.join",
        "self.ring.after(after)",
        "self.ring.after(after - 1)",
    ),
    Mutation(
        "events up to a revision to come are not left out",
        "watcher:CacheWatcher.start_live",
        "after if after > self._keeper.progress.applied else 0",
        "0",
    ),
    Mutation(
        "leaving the selector shows the new content",
        "verdicts:content",
        "return before",
        "return event",
    ),
    Mutation(
        "a deletion that leaves the ring takes the object made again with it",
        "versions:Versions.forget",
        "self._newest.get(evicted.key) is evicted",
        "evicted.key in self._newest",
    ),
    Mutation(
        "a tombstone stays when its deletion leaves the ring",
        "versions:Versions.forget",
        "if evicted.deleted and",
        "if not evicted.deleted and",
    ),
    Mutation(
        "a chunk moves the cursor over what it could not hold",
        "watcher:CacheWatcher._take_live",
        "self.cursor = end",
        "self.cursor = end = lane.released",
    ),
    Mutation(
        "the floor is one too low",
        "ring:Ring._evict",
        "self.floor = event.revision",
        "self.floor = event.revision - 1",
    ),
    Mutation(
        "the log is left a row too early",
        "watcher:CacheWatcher._read_log",
        "until if len(events) < limit else events[-1].revision",
        "until",
    ),
    Mutation(
        "a flush wakes nobody",
        "lane:Lane.flush",
        "watcher.wake()",
        "pass",
    ),
    Mutation(
        "a verdict is kept for the next event",
        "verdicts:Predicate.verdict",
        "if event.revision != self._revision:",
        "if event.revision > self._revision + 1:",
    ),
    Mutation(
        "pages take the state of the next event",
        "ring:Ring.state_revision",
        "self._events[offset - 1].revision",
        "self._events[min(offset, len(self._events) - 1)].revision",
    ),
    Mutation(
        "a start forgets what an object was before the floor",
        "cacher:Cacher.fill",
        "first.setdefault(event.key, event.previous)",
        "first.setdefault(event.key, None)",
    ),
    Mutation(
        "previous is cut one event too early",
        "ring:Ring._evict",
        "event.previous = None",
        "event.previous = self._events[0].previous = None if self._events else None",
    ),
]
