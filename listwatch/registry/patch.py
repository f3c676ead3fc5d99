"""Patch: a change is applied to whatever is newest, again if that moves meanwhile.

The patch itself is applied by `patches`; the result meets the old object in `change`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from listwatch.patches import json_patch, merge_patch, strategic_merge
from listwatch.patches.managed_fields import keep_reset
from listwatch.protocol.errors import StatusError, bad_request
from listwatch.protocol.options import APPLY_PATCH
from listwatch.registry import metadata as meta
from listwatch.registry.bodies import check_kind, patch_refused, patch_text, strict_faults
from listwatch.registry.change import change, written
from listwatch.registry.conversions import to_served, to_stored
from listwatch.registry.object_rules import decode
from listwatch.schemas.decoding import DecodeError
from listwatch.schemas.merge_keys import schema_for

if TYPE_CHECKING:
    from listwatch.protocol.kinds import GroupVersionKind
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend, State, Step
    from listwatch.registry.context import RequestContext, Written

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
_FORMAT = "the body of the request was in an unknown format"
ACCEPTED = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


async def patch(backend: Backend, ctx: RequestContext, patch_type: str, patch: Any) -> Written:
    """Change an object, or its status, by a patch (Any: JSON); raises 400, 404, 409, 415, 422."""
    check_patch_type(patch_type)
    if patch_type == STRATEGIC_PATCH and ctx.resource.custom is not None:
        raise _not_strategic()  # whether there is such an object or not
    key = backend.key(ctx)
    try:
        body = orjson.dumps(patch)  # every attempt begins with what was sent
    except TypeError as error:  # the one thing that a parsed document may be: too deep
        raise bad_request("the patch is nested too deeply") from error

    def transform(state: State) -> Step:
        old = to_served(ctx.resource, state.document())
        document = patched(backend, ctx, ctx.resource.gvk, patch_type, old, orjson.loads(body))
        metadata = meta.metadata_of(document)
        meta.match_namespace(ctx, metadata)
        meta.match_name(ctx, metadata)
        return change(backend, ctx, key, state, to_stored(ctx.resource, document))

    outcome = await backend.settle(key, transform, dry_run=ctx.dry_run)
    return written(ctx, outcome)


def check_patch_type(patch_type: str) -> None:
    """Raise 415 for a kind of patch that is not served."""
    if patch_type not in ACCEPTED:
        raise _unsupported(_FORMAT, ACCEPTED)


def patched(
    backend: Backend,
    ctx: RequestContext,
    gvk: GroupVersionKind,
    patch_type: str,
    old: JSONObject,
    patch: Any,  # Any: JSON
) -> JSONObject:
    """The patched object, read as one of its kind; both arguments may be used up."""
    if patch_type == JSON_PATCH:
        document = json_patch.apply(old, patch)
    elif patch_type == MERGE_PATCH:
        document = merge_patch.apply(old, patch)
    else:
        schema = schema_for(gvk)
        if schema is None:
            raise _not_strategic()
        document = strategic_merge.apply(old, patch, schema)
    check_kind(document, gvk, backend.resources)
    keep_reset(document)
    converted = patch_type == STRATEGIC_PATCH
    try:
        document, unknown = decode(ctx.resource, gvk, document)
    except DecodeError as error:
        why = error.converted if converted else str(error)
        raise patch_refused(why, patch_text(patch, converted=converted)) from None
    faults = strict_faults(ctx, unknown)
    if faults:
        raise patch_refused(faults, patch_text(patch, converted=converted))
    return document


def _not_strategic() -> StatusError:
    return _unsupported(_FORMAT, tuple(t for t in ACCEPTED if t != STRATEGIC_PATCH))


def _unsupported(why: str, accepted: tuple[str, ...]) -> StatusError:
    message = f"{why} - accepted media types include: {', '.join(accepted)}"
    return StatusError(415, "UnsupportedMediaType", message)
