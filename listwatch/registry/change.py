"""From an old object and a new one to the write: guarded metadata, generation, validation, no-op.

Update, patch and the subresources make the new object in their own ways and meet here; the step
goes back to `backend.settle`, which writes it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import orjson

from listwatch.protocol.clock import rfc3339
from listwatch.protocol.errors import Cause, StatusError, conflict, invalid
from listwatch.protocol.objects import encode
from listwatch.protocol.options import parse_revision
from listwatch.registry import field_managers
from listwatch.registry import metadata as meta
from listwatch.registry.admission import NAMESPACES, both, empty_namespace
from listwatch.registry.admission.request import UPDATE
from listwatch.registry.backend import Step
from listwatch.registry.context import Written
from listwatch.registry.conversions import kept, served
from listwatch.registry.object_rules import apply_defaults, validate
from listwatch.registry.strategies.certificates import SigningRequestStrategy
from listwatch.registry.strategies.namespaces import NamespaceStrategy
from listwatch.registry.strategies.pods import PodStrategy
from listwatch.registry.strategies.table import strategy_of
from listwatch.store.writes import Delete, Update

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.admission.chain import Review
    from listwatch.registry.backend import Backend, Key, Outcome, State
    from listwatch.registry.context import RequestContext
    from listwatch.registry.strategies.strategy import Strategy
    from listwatch.store.writes import Guard


def change(
    backend: Backend, ctx: RequestContext, key: Key, state: State, document: JSONObject
) -> Step:
    """The step from a state to a document in the stored form, which is changed; raises 409, 422."""
    old = kept(ctx.resource, state.document())
    strategy = strategy_of(ctx.resource)
    metadata, old_metadata = document["metadata"], old["metadata"]
    _check_revision(ctx, strategy, metadata.pop("resourceVersion", ""), key, state)
    old_metadata.pop("resourceVersion")
    meta.for_update(metadata, old_metadata)
    apply_defaults(ctx.resource, document)
    now = rfc3339(backend.clock.now())
    field_managers.track_update(ctx, backend.resources, document, old, now)
    review = backend.admission.review(ctx, UPDATE, document)
    if review is not None:
        asked = partial(_reviewed, review, backend, ctx, key, state, document, old)
        return Step(None, state.encoded, asked)
    return _step(backend, ctx, key, state, document, old)


async def _reviewed(
    review: Review, backend: Backend, ctx: RequestContext, key: Key, state: State,
    document: JSONObject, old: JSONObject,
) -> Step:  # fmt: skip
    tracked = document["metadata"].get("managedFields")
    document = await review.mutate(document, old)
    field_managers.guard(ctx, document, tracked)
    step = _step(backend, ctx, key, state, document, old)
    guard = await review.check(document, old)
    if guard is not None and isinstance(step.operation, Update):
        guarded = replace(step.operation, guard=both(step.operation.guard, guard))
        return step._replace(operation=guarded)
    return step


def _step(
    backend: Backend, ctx: RequestContext, key: Key, state: State, document: JSONObject,
    old: JSONObject,
) -> Step:  # fmt: skip
    strategy = strategy_of(ctx.resource)
    metadata, old_metadata = document["metadata"], old["metadata"]
    _prepare(strategy, ctx, document, old, rfc3339(backend.clock.now()))
    causes = validate(ctx.resource, document, old=old, subresource=ctx.subresource)
    causes += strategy.validate(document, old, ctx.subresource)
    ctx.warnings += [w for w in strategy.warnings(document) if w not in ctx.warnings]
    guard: Guard | None = None
    allocator = backend.allocators.get(ctx.resource.storage)
    if allocator is not None and not ctx.subresource and not causes:
        guard, causes = allocator.allocate(document, old)
    if causes:
        raise invalid(ctx.resource.gvk, key.name, tuple(causes))
    document["metadata"] = metadata = meta.ordered(metadata)
    encoded = encode(document)
    where = (*key[:3], state.revision)
    if released(strategy, document, old):
        # The log keeps the last state that was stored, as upstream's watch shows it.
        last = empty_namespace(key.name) if key.group_resource == NAMESPACES else None
        return Step(Delete(*where, state.encoded, last), encoded)
    before = old if ctx.resource.custom is None else _as_stored(state)
    if _same(encoded.body, document, state, before):
        return Step(None, state.encoded)
    if field_managers.restore_times(metadata, old_metadata) and _same(b"", document, state, before):
        return Step(None, state.encoded)
    return Step(Update(*where, encoded, guard), encoded)


def released(strategy: Strategy, document: JSONObject, old: JSONObject) -> bool:
    """Whether this change takes away the last thing that held a deleted object."""
    metadata = old["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("deletionGracePeriodSeconds")
        and not document["metadata"].get("finalizers")
        and strategy.may_go(document)
    )


def written(ctx: RequestContext, outcome: Outcome) -> Written:
    """What an update or a patch answers."""
    gone = isinstance(outcome.step.operation, Delete)
    # An object that went with the last of its finalizers has no newer revision to show.
    revision = outcome.before.revision if gone else outcome.revision
    return Written(served(ctx.resource, outcome.step.answer), revision, created=False)


def uid_conflict(key: Key, wanted: str, uid: str) -> StatusError:
    """409 for an update that means another object of this name."""
    path = "/".join(part for part in key[:3] if isinstance(part, str) and part)
    return conflict(
        key.shown, key.name,
        f"StorageError: invalid object, Code: 4, Key: /registry/{key.group_resource.resource}/"
        f"{path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {wanted}, UID in object meta: {uid}",
    )  # fmt: skip


def _check_revision(
    ctx: RequestContext, strategy: Strategy, given: str, key: Key, state: State
) -> None:
    number = parse_revision(given, prefix="")
    if number == 0:
        if not strategy.unconditional_update:
            why = "Invalid value: 0: must be specified for an update"
            cause = Cause("FieldValueInvalid", why, "metadata.resourceVersion")
            # Upstream names the resource here, where it has the kind elsewhere.
            gvk = ctx.resource.gvk._replace(kind=ctx.resource.resource)
            raise invalid(gvk, key.name, (cause,))
    elif number != state.revision:
        raise conflict(key.shown, key.name)


def _prepare(
    strategy: Strategy, ctx: RequestContext, document: JSONObject, old: JSONObject, now: str
) -> None:
    if ctx.subresource == "status":
        strategy.prepare_status(document, old, now)
    elif ctx.subresource == "finalize" and isinstance(strategy, NamespaceStrategy):
        strategy.prepare_finalize(document, old)
    elif ctx.subresource == "approval" and isinstance(strategy, SigningRequestStrategy):
        strategy.prepare_approval(document, old, now)
    elif ctx.subresource == "ephemeralcontainers" and isinstance(strategy, PodStrategy):
        strategy.prepare_ephemeral(document, old)
    elif ctx.subresource == "resize" and isinstance(strategy, PodStrategy):
        strategy.prepare_resize(document, old)
    else:
        strategy.prepare_update(document, old, now)


def _as_stored(state: State) -> JSONObject:
    # What a definition's defaults fill in on reading is written as soon as somebody writes.
    document = state.document()
    document["metadata"].pop("resourceVersion")
    return document


def _same(body: bytes, document: JSONObject, state: State, old: JSONObject) -> bool:
    if body == state.encoded.body:
        return True
    if document != old:
        return False
    # Equal but for the order of keys; and of course True and 1 are not the same.
    order = orjson.OPT_SORT_KEYS
    return orjson.dumps(document, option=order) == orjson.dumps(old, option=order)
