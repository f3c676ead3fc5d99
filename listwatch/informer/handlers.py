"""What users of an informer write: handlers, as objects or as functions, blocking or async.

Given to `shared_informer.add_handler`; called by `listener`, one call at a time for each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from listwatch.informer.objects import Deleted, JSONObject, object_key

Maybe = Awaitable[None] | None

OnAdd = Callable[[JSONObject, bool], Maybe]
OnUpdate = Callable[[JSONObject, JSONObject], Maybe]
OnDelete = Callable[[Deleted], Maybe]


class ResourceEventHandler(Protocol):
    """Hears of every object in turn. Objects are shared with the cache: copy before a change.

    For one object the calls come in order: an add, updates, a delete. States in between may be
    missing. A call may be quick and plain, or async; an exception is logged, and the next call
    comes all the same.
    """

    def on_add(self, subject: JSONObject, is_in_initial_list: bool) -> Maybe:
        """An object is there; the flag: it was there before the handler was."""

    def on_update(self, old: JSONObject, new: JSONObject) -> Maybe:
        """An object changed; with equal resourceVersions it is a resync, and only asked for."""

    def on_delete(self, gone: Deleted) -> Maybe:
        """An object is gone; its last state may be stale or missing, as `gone` tells."""


@dataclass(frozen=True, slots=True)
class HandlerFunctions:
    """A handler made of functions; those left out hear nothing."""

    add: OnAdd | None = None
    update: OnUpdate | None = None
    delete: OnDelete | None = None

    def on_add(self, subject: JSONObject, is_in_initial_list: bool) -> Maybe:
        """Call the function for it."""
        return self.add(subject, is_in_initial_list) if self.add else None

    def on_update(self, old: JSONObject, new: JSONObject) -> Maybe:
        """Call the function for it."""
        return self.update(old, new) if self.update else None

    def on_delete(self, gone: Deleted) -> Maybe:
        """Call the function for it."""
        return self.delete(gone) if self.delete else None


@dataclass(frozen=True, slots=True)
class FilteringHandler:
    """Lets a handler hear only of objects that `wants` says yes to.

    An object that begins to pass is an add to it, one that ceases to, a delete.
    """

    wants: Callable[[JSONObject], bool]
    handler: ResourceEventHandler

    def on_add(self, subject: JSONObject, is_in_initial_list: bool) -> Maybe:
        """Passed on if it is wanted."""
        return self.handler.on_add(subject, is_in_initial_list) if self.wants(subject) else None

    def on_update(self, old: JSONObject, new: JSONObject) -> Maybe:
        """Passed on as what it is to the one behind the filter."""
        before, after = self.wants(old), self.wants(new)
        if before and after:
            return self.handler.on_update(old, new)
        if after:
            return self.handler.on_add(new, False)
        if before:
            return self.handler.on_delete(Deleted(object_key(old), old))
        return None

    def on_delete(self, gone: Deleted) -> Maybe:
        """Passed on if its last state was wanted; one without a state always is."""
        wanted = gone.object is None or self.wants(gone.object)
        return self.handler.on_delete(gone) if wanted else None


@dataclass(frozen=True, slots=True)
class HandlerOptions:
    """How one handler is served.

    `policy` says what happens when it is slower than the stream: its queue grows (`unbounded`),
    states in between are left out (`coalesce`), or the informer waits, and with it all its handlers
    (`block`, above `limit` waiting calls). `resync_seconds` asks for on_update of everything that
    often, and of unchanged objects after a relist; None: as the informer does.
    """

    name: str = ""
    resync_seconds: float | None = None
    policy: Literal["unbounded", "coalesce", "block"] = "unbounded"
    limit: int = 10_000
    error_pause: float = 0.0  # seconds until the next call after one that raised

    def __post_init__(self) -> None:
        if self.limit < 1 or (self.resync_seconds or 0) < 0 or self.error_pause < 0:
            raise ValueError(f"no handler can be served by {self}")
