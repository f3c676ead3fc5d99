"""What every verb needs: the current state of an object, and a write that holds or is tried again.

States come from `watchcache` (no query) or, where that lags, from the store; writes go through
the group committer to `store`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from listwatch.protocol.errors import StatusError, not_found
from listwatch.protocol.objects import Encoded, JSONObject, decode
from listwatch.protocol.versions import Version
from listwatch.store import reads
from listwatch.store.writes import (
    Create,
    Delete,
    NotStored,
    RevisionMoved,
    StoreUnavailable,
    Update,
)

if TYPE_CHECKING:
    from listwatch.conf import Options
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.errors import Cause
    from listwatch.protocol.kinds import GroupResource
    from listwatch.protocol.versions import Change
    from listwatch.registry.admission.chain import Admission
    from listwatch.registry.authorization.authorizer import Authorizer
    from listwatch.registry.context import RequestContext
    from listwatch.registry.resources import ResourceTable
    from listwatch.store.readers import Readers
    from listwatch.store.writes import Guard, Operation, Stored
    from listwatch.watchcache.caches import Caches


class Committer(Protocol):
    """Whatever commits writes: the group committer, or a fake in tests."""

    async def submit(self, operation: Operation) -> Change:
        """Commit one write; raises what `store.writes` raises."""


class Key(NamedTuple):
    """The identity of a stored object; `shown` is the resource as refusals name it."""

    group_resource: GroupResource
    namespace: str
    name: str
    shown: GroupResource


class State(NamedTuple):
    """An object as it was at one revision."""

    uid: str
    revision: int
    encoded: Encoded

    def document(self) -> JSONObject:
        """The object as a new dict, resourceVersion in place."""
        return decode(self.encoded, self.revision)


class Step(NamedTuple):
    """What a transform makes of a state: the write, None if nothing changes, and the answer.

    With a `review` the rest does not count: others must be asked first, and it gives the step.
    """

    operation: Update | Delete | None
    answer: Encoded
    review: Callable[[], Awaitable[Step]] | None = None


class Outcome(NamedTuple):
    """What came of a transform: the state it was applied to, its step, the object's revision now.

    After a deletion `revision` is that of the deletion; after a dry run it has not moved.
    """

    before: State
    step: Step
    revision: int


class Allocator(Protocol):
    """Hands out what must be unique among all objects of a kind."""

    def allocate(
        self, document: JSONObject, old: JSONObject | None
    ) -> tuple[Guard | None, list[Cause]]:
        """Fill in what is missing; a guard if anything new was taken, and what is refused."""


class DecideAgain(Exception):  # noqa: N818 (what to do, not what went wrong)
    """Raised by a guard: what the write was decided upon has changed since."""


Transform = Callable[[State], Step]


class Backend:
    """The parts that the verbs share; made once for the Registry, which adds its own.

    `settle` promises upstream's optimistic concurrency: a transform may see a state that is no
    longer current, but neither its refusal nor its finding that nothing changes counts unless the
    state was; and a write happens only upon the very state that it was made from.
    """

    def __init__(
        self,
        resources: ResourceTable,
        caches: Caches,
        committer: Committer,
        readers: Readers,
        *,
        freshness: Callable[[], Awaitable[int]],
        clock: Clock,
        options: Options,
    ) -> None:
        self.resources = resources
        self.caches = caches
        self.committer = committer
        self.readers = readers
        self.freshness = freshness
        self.clock = clock
        self.options = options
        self.allocators: dict[GroupResource, Allocator] = {}
        self.admission: Admission  # by the Registry, since it asks this one
        self.authorizer: Authorizer | None = None  # likewise; asked where an update creates

    def key(self, ctx: RequestContext) -> Key:
        """The object that a request names."""
        resource = ctx.resource
        namespace = ctx.namespace if resource.namespaced else ""
        return Key(resource.storage, namespace, ctx.name, resource.group_resource)

    def cached(self, group_resource: GroupResource, namespace: str, name: str) -> Version | None:
        """What the cache has: possibly of a moment ago."""
        return self.caches.cacher(group_resource).get(namespace, name)

    async def fresh(self) -> None:
        """Wait until the caches have everything that was committed before this call."""
        await self.reached(await self.freshness())

    async def reached(self, revision: int) -> None:
        """Wait until the caches have come that far; raises 504 if they do not soon."""
        if self.caches.progress.applied < revision:
            await self.caches.progress.wait_until(revision, self.options.freshness_timeout)

    async def newest(self, key: Key) -> State | None:
        """The state as committed by anyone before this call."""
        head = await self.freshness()
        if self.caches.progress.applied >= head:
            return _of(self.cached(*key[:3]))
        return _of(await self.readers.run(reads.get, *key[:3]))

    async def submit(self, operation: Operation) -> Change:
        """Commit a write; raises what refuses it, or that the store cannot be written to."""
        try:
            return await self.committer.submit(operation)
        except StoreUnavailable as error:
            raise _unavailable(operation) from error

    async def settle(self, key: Key, transform: Transform, *, dry_run: bool = False) -> Outcome:
        """Apply a transform to the current state; raises 404 if there is none, or its refusal."""
        state = _of(self.cached(*key[:3]))
        current = False
        while True:
            if state is None:
                if current:
                    raise not_found(key.shown, key.name)
                state, current = await self.newest(key), True
                continue
            try:
                step = transform(state)
                if step.review is not None:
                    step = await step.review()
            except StatusError:
                if current or (newest := await self.newest(key)) == state:
                    raise
                state, current = newest, True
                continue
            if step.operation is None or dry_run:
                if current or (newest := await self.newest(key)) == state:
                    return Outcome(state, step, state.revision)
                state, current = newest, True
                continue
            try:
                change = await self.submit(step.operation)
            except RevisionMoved as moved:
                state, current = _of(moved.current), True
            except NotStored:
                state, current = None, True
            except DecideAgain:
                await self.fresh()
                state, current = _of(self.cached(*key[:3])), False
            else:
                return Outcome(state, step, change.revision)


def _of(found: Version | Stored | None) -> State | None:
    if found is None:
        return None
    kept = found.stored if isinstance(found, Version) else found.encoded
    return State(found.uid, found.revision, kept)


_VERBS = {Create: "create", Update: "update", Delete: "delete"}


def _unavailable(operation: Operation) -> StatusError:
    verb, resource = _VERBS[type(operation)], operation.group_resource
    message = (
        f"The {verb} operation against {resource} could not be completed at this time, "
        "please try again."
    )
    details: JSONObject = {"name": verb, "kind": resource.resource, "retryAfterSeconds": 2}
    if resource.group:
        details = {"name": verb, "group": resource.group, **details}
    return StatusError(500, "ServerTimeout", message, details=details)
