"""Update: a whole object takes the place of the old one, if it is what the client thinks it is.

The old and the new object meet in `change`; some kinds are created by an update, in `create`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from listwatch.protocol.errors import StatusError
from listwatch.registry import metadata as meta
from listwatch.registry.authorization.creating import check_may_create
from listwatch.registry.bodies import read_body
from listwatch.registry.change import change, uid_conflict, written
from listwatch.registry.conversions import to_stored
from listwatch.registry.create import create_read
from listwatch.registry.strategies.table import strategy_of

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.backend import Backend, State, Step
    from listwatch.registry.context import RequestContext, Written


async def update(backend: Backend, ctx: RequestContext, document: JSONObject) -> Written:
    """Replace an object, or its status; raises 400, 404, 409, 422.

    A body that names a resourceVersion replaces that one and no other; without one it replaces
    whatever is there, where the kind allows that.
    """
    document = read_body(ctx, document, ctx.resource.gvk, backend.resources)
    metadata = meta.metadata_of(document)
    meta.match_namespace(ctx, metadata)
    meta.match_name(ctx, metadata)
    uid = metadata.get("uid") or ""
    document = to_stored(ctx.resource, document)
    key = backend.key(ctx)
    body = orjson.dumps(document)  # every attempt begins with what was sent

    def transform(state: State) -> Step:
        if uid and uid != state.uid:
            raise uid_conflict(key, uid, state.uid)
        return change(backend, ctx, key, state, orjson.loads(body))

    try:
        outcome = await backend.settle(key, transform, dry_run=ctx.dry_run)
    except StatusError as error:
        if error.code != 404 or ctx.subresource or not strategy_of(ctx.resource).create_on_update:
            raise
        if uid:
            raise uid_conflict(key, uid, "") from None
        check_may_create(backend.authorizer, ctx)
        return await create_read(backend, ctx, orjson.loads(body))
    return written(ctx, outcome)
