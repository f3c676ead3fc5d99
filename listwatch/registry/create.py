"""Create: a body becomes an object with an identity, and is stored if nothing of its name is there.

The order is upstream's (pkg/registry/generic/registry/store.go); the write goes to `store` with a
guard that looks at the namespace once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import (
    StatusError,
    already_exists,
    bad_request,
    invalid,
    method_not_allowed,
)
from listwatch.protocol.objects import copied, decode, encode
from listwatch.registry import classes, field_managers
from listwatch.registry import metadata as meta
from listwatch.registry.admission import both, namespace_guard
from listwatch.registry.admission.request import CREATE
from listwatch.registry.backend import DecideAgain, Key
from listwatch.registry.bodies import read_body
from listwatch.registry.context import Written
from listwatch.registry.conversions import served, to_stored
from listwatch.registry.object_rules import apply_defaults, validate
from listwatch.registry.strategies.table import strategy_of
from listwatch.store.writes import AlreadyStored, Create, Stored

if TYPE_CHECKING:
    from listwatch.protocol.objects import Encoded, JSONObject
    from listwatch.registry.admission.chain import Review
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard


async def create(backend: Backend, ctx: RequestContext, document: JSONObject) -> Written:
    """Make an object of a body, which is changed; raises 400, 403, 404, 409, 422."""
    if ctx.resource.custom is not None and ctx.resource.custom.terminating:
        message = "create not allowed while custom resource definition is terminating"
        details = method_not_allowed(ctx.resource.group_resource, "create").details
        raise StatusError(405, "MethodNotAllowed", message, details=details)
    document = read_body(ctx, document, ctx.resource.gvk, backend.resources)
    return await create_read(backend, ctx, document)


async def create_read(backend: Backend, ctx: RequestContext, document: JSONObject) -> Written:
    """The same for a body that was read already: PUT of what is not there comes here, too."""
    metadata = meta.metadata_of(document)
    if metadata.get("resourceVersion") and not ctx.dry_run:
        raise bad_request("resourceVersion should not be set on objects to be created")
    metadata.pop("resourceVersion", None)
    meta.match_namespace(ctx, metadata)
    base = "" if metadata.get("name") else metadata.get("generateName") or ""
    meta.wipe(metadata)
    document = to_stored(ctx.resource, document)
    # What the server adds from here on is not the creator's.
    strategy_of(ctx.resource).strip(document)
    apply_defaults(ctx.resource, document)
    field_managers.track_create(ctx, backend.resources, document, rfc3339(backend.clock.now()))
    await classes.complete(backend, ctx, document)
    review = backend.admission.review(ctx, CREATE, document)
    if review is not None:
        sent = document["metadata"].get("managedFields")
        document = await review.mutate(document, None)
        field_managers.guard(ctx, document, sent)
    for _ in range(meta.GENERATE_TRIES):
        if base:
            document["metadata"]["name"] = meta.generated_name(base)
        name = document["metadata"].get("name") or ""
        namespace_holds = await namespace_guard(backend, ctx, name)
        try:
            return await _insert(backend, ctx, document, namespace_holds, review)
        except AlreadyStored as there:
            if not base:
                deleting = "deletionTimestamp" in decode(there.stored.encoded, 0)["metadata"]
                group_resource = ctx.resource.group_resource
                raise already_exists(group_resource, name, deleting=deleting) from None
    raise meta.name_exhausted(ctx, name)


async def _insert(
    backend: Backend, ctx: RequestContext, document: JSONObject, namespace_holds: Guard | None,
    review: Review | None,
) -> Written:  # fmt: skip
    allocates = ctx.resource.storage in backend.allocators or review is not None
    while True:
        # What was allocated for one attempt is not what the client asked for in the next.
        attempt = copied(document) if allocates else document
        encoded, guard = prepare(backend, ctx, attempt)
        if review is not None:
            guard = both(guard, await review.check(attempt, None))
        metadata = attempt["metadata"]
        namespace, name, uid = metadata.get("namespace", ""), metadata["name"], metadata["uid"]
        storage = ctx.resource.storage
        if ctx.dry_run:
            there = await backend.newest(Key(storage, namespace, name, ctx.resource.group_resource))
            if there is not None:
                raise AlreadyStored(Stored(storage, namespace, name, *there))
            return Written(served(ctx.resource, encoded), 0, created=True)
        guard = both(namespace_holds, guard)
        try:
            change = await backend.submit(Create(storage, namespace, name, uid, encoded, guard))
        except DecideAgain:
            await backend.fresh()
            continue
        return Written(served(ctx.resource, encoded), change.revision, created=True)


def prepare(
    backend: Backend, ctx: RequestContext, document: JSONObject
) -> tuple[Encoded, Guard | None]:
    """Complete, default and validate a new object in place; raises 422."""
    strategy = strategy_of(ctx.resource)
    now = rfc3339(backend.clock.now())
    metadata = document["metadata"]
    meta.for_create(metadata, now)
    strategy.strip(document)
    strategy.sign(document, ctx.user)
    apply_defaults(ctx.resource, document)
    strategy.prepare_create(document, now)
    guard: Guard | None = None
    causes = validate(ctx.resource, document)
    causes += strategy.validate(document, None, "")
    ctx.warnings += [w for w in strategy.warnings(document) if w not in ctx.warnings]
    allocator = backend.allocators.get(ctx.resource.storage)
    if allocator is not None and not causes:
        guard, causes = allocator.allocate(document, None)
    if causes:
        raise invalid(ctx.resource.gvk, metadata.get("name", ""), tuple(causes))
    document["metadata"] = meta.ordered(metadata)
    return encode(document), guard
