"""Who wants to see events travel: the stages received, offered, delivered, and how watches end.

Reported by `cacher` and `watcher`; `registry.keeping` and the dashboard listen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from listwatch.protocol.events import EndReason
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.versions import Version

if TYPE_CHECKING:
    from listwatch.watchcache.lanes import Offer
    from listwatch.watchcache.watcher import CacheWatcher


class Observer(Protocol):
    """Called in the event loop, at once: must be quick, must not raise, must not call back."""

    def received(self, group_resource: GroupResource, event: Version) -> None:
        """An event is in the cache; its `previous` tells what it did."""

    def offered(self, group_resource: GroupResource, event: Version, offer: Offer) -> None:
        """An event now stands in these lanes; nobody else will hear of it."""

    def delivered(self, watcher: CacheWatcher, after: int, until: int, size: int) -> None:
        """A chunk goes to a reader, who sends it next: his lane's after < revision <= until."""

    def ended(self, watcher: CacheWatcher, reason: EndReason) -> None:
        """A watch has ended."""


class NullObserver:
    """Sees nothing."""

    def received(self, group_resource: GroupResource, event: Version) -> None:
        """Nothing."""

    def offered(self, group_resource: GroupResource, event: Version, offer: Offer) -> None:
        """Nothing."""

    def delivered(self, watcher: CacheWatcher, after: int, until: int, size: int) -> None:
        """Nothing."""

    def ended(self, watcher: CacheWatcher, reason: EndReason) -> None:
        """Nothing."""


class Observers:
    """Several observers as one; they come and go while it runs."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def add(self, observer: Observer) -> None:
        """From now on this one sees everything, too."""
        self._observers = (*self._observers, observer)

    def remove(self, observer: Observer) -> None:
        """This one sees nothing more."""
        self._observers = tuple(o for o in self._observers if o is not observer)

    def received(self, group_resource: GroupResource, event: Version) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.received(group_resource, event)

    def offered(self, group_resource: GroupResource, event: Version, offer: Offer) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.offered(group_resource, event, offer)

    def delivered(self, watcher: CacheWatcher, after: int, until: int, size: int) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.delivered(watcher, after, until, size)

    def ended(self, watcher: CacheWatcher, reason: EndReason) -> None:
        """Tell all."""
        for observer in self._observers:
            observer.ended(watcher, reason)
