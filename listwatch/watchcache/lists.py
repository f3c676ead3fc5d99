"""Lists: the state now, or at any revision that ring or log still give.

Asked by `cacher`; the result goes to `registry`, and `api` writes it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from listwatch.protocol.clock import Clock
from listwatch.protocol.errors import expired
from listwatch.protocol.kinds import GroupResource
from listwatch.protocol.objects import key_of
from listwatch.protocol.selectors import Selector
from listwatch.protocol.versions import Version
from listwatch.watchcache.history import HistoryLost, HistoryReader
from listwatch.watchcache.options import CacheOptions
from listwatch.watchcache.pages import Pages
from listwatch.watchcache.requests import ListRequest, ListResult, scope
from listwatch.watchcache.ring import Ring
from listwatch.watchcache.versions import Versions

TOO_OLD = "The resourceVersion for the provided list is too old."  # clients match on it

_LOOK_SECONDS = 5.0  # how often lists of old states ask how far the log was compacted

_key = attrgetter("key")


class Lists:
    """Answers lists of one resource from its versions, its pinned pages, or the log."""

    def __init__(
        self,
        group_resource: GroupResource,
        versions: Versions,
        ring: Ring,
        history: HistoryReader,
        clock: Clock,
        options: CacheOptions,
    ) -> None:
        self._group_resource = group_resource
        self._versions = versions
        self._ring = ring
        self._history = history
        self._clock = clock
        self._options = options
        self._compacted = 0  # up to where the log was compacted, when last looked at
        self._looked_at = float("-inf")
        self.pages = Pages(options.pinned_references)
        self.answered = 0  # lists
        self.from_log = 0  # of these, from the log

    def now(self, request: ListRequest, applied: int) -> ListResult:
        """The state now, under the revision that all caches are at. Never awaits."""
        self.answered += 1
        namespace, name = scope(request.namespace, request.name, request.selector)
        if request.limit and not name:
            array = self._pinned(applied, namespace)
        else:
            array = self.narrowed(namespace, name, request.selector)
        return cut(array, request, applied)

    async def at(self, request: ListRequest, revision: int, applied: int) -> ListResult:
        """The state at a revision already applied; raises 410 where nothing holds it any more.

        What was compacted away is refused though the ring could still tell: all processes on one
        log are to answer alike, and clients rely on old continue tokens to expire.
        """
        self.answered += 1
        if revision >= self._ring.floor and revision < applied:
            await self._look_at_log()
        if revision >= max(self._ring.floor, min(self._compacted, applied)):
            namespace, _ = scope(request.namespace, request.name, request.selector)
            return cut(self._pinned(revision, namespace), request, revision)
        self.from_log += 1
        return await self._from_log(request, revision)

    async def _look_at_log(self) -> None:
        now = self._clock.monotonic()
        if now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            self._compacted = await self._history.compacted()

    def narrowed(self, namespace: str, name: str, selector: Selector) -> Sequence[Version]:
        """The objects now, in key order; it may leave out what the rest of a request refuses."""
        if name:
            found = self._versions.get(key_of(namespace, name))
            if found is not None or namespace:
                return [found] if found is not None else []
            return [version for version in self._versions.live() if version.name == name]
        if selector.empty:
            return self._versions.live(namespace)
        return self._versions.narrowed(namespace, selector)

    def _pinned(self, revision: int, namespace: str) -> Sequence[Version]:
        revision = self._ring.state_revision(revision)
        array = self.pages.get(revision, namespace)
        if array is None:
            newest = self._ring.newest
            if newest is None or newest.revision <= revision:
                array = self._versions.live(namespace)
            else:
                array = self._versions.at(revision, namespace)
            self.pages.keep(revision, namespace, array)
        return array

    async def _from_log(self, request: ListRequest, revision: int) -> ListResult:
        namespace, _ = scope(request.namespace, request.name, request.selector)
        after = _just_before(request.start_key)
        found: list[Version] = []
        scanned = 0  # rows behind the last one that filled the page
        while True:
            try:
                batch = await self._history.state_at(
                    self._group_resource,
                    revision,
                    prefix=f"{namespace}/" if namespace else "",
                    after_key=after,
                    limit=self._options.log_batch,
                )
            except HistoryLost as lost:
                raise expired(TOO_OLD) from lost
            for version in batch:
                if request.limit and len(found) == request.limit:
                    scanned += 1
                elif version.key >= request.start_key and wanted(version, request):
                    found.append(version)
            if scanned:
                return ListResult(found, revision, found[-1].key + "\0")
            if len(batch) < self._options.log_batch:
                return ListResult(found, revision)
            after = batch[-1].key


def cut(array: Sequence[Version], request: ListRequest, revision: int) -> ListResult:
    """The page of a state that a request asks for.

    With selectors the limit counts what matches, and whether more follows is told by position
    alone, as upstream does: the next page may turn out empty.
    """
    start = bisect_left(array, request.start_key, key=_key) if request.start_key else 0
    limit = request.limit or len(array)
    if request.selector.empty and not request.name:
        page = array[start : start + limit] if start or limit < len(array) else array
        remaining = len(array) - start - len(page)
        if remaining and page:
            return ListResult(page, revision, page[-1].key + "\0", remaining)
        return ListResult(page, revision)
    found: list[Version] = []
    for position in range(start, len(array)):
        version = array[position]
        if wanted(version, request):
            found.append(version)
            if len(found) == limit:
                more = position + 1 < len(array)
                return ListResult(found, revision, version.key + "\0" if more else None)
    return ListResult(found, revision)


def wanted(version: Version, request: ListRequest) -> bool:
    """Whether a request asks for this version, wherever it starts."""
    if request.namespace and version.namespace != request.namespace:
        return False
    if request.name and version.name != request.name:
        return False
    return request.selector.matches(version)


def _just_before(key: str) -> str:
    """A key with nothing between it and `key`; names are ASCII, so one step down is enough."""
    if not key or key.endswith("\0"):
        return key[:-1]
    return key[:-1] + chr(ord(key[-1]) - 1) + "\x7f"
