"""What must hold around a new object: its namespace is there, and not on its way out.

Asked by create before validation, and once more by a guard inside the transaction of the write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import orjson

from listwatch.protocol.errors import Cause, StatusError, conflict, forbidden, not_found
from listwatch.protocol.kinds import GroupResource

if TYPE_CHECKING:
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.store.writes import Guard, Transaction

NAMESPACES = GroupResource("", "namespaces")


async def namespace_guard(backend: Backend, ctx: RequestContext, name: str) -> Guard | None:
    """Refuse (404, 403) to make an object in a namespace that takes none.

    The guard refuses likewise if the namespace has changed when the write happens.
    """
    if not ctx.resource.namespaced:
        return None
    namespace = backend.cached(NAMESPACES, "", ctx.namespace)
    if namespace is None or _terminating(namespace.fields):
        await backend.fresh()
        namespace = backend.cached(NAMESPACES, "", ctx.namespace)
        if namespace is None:
            raise not_found(NAMESPACES, ctx.namespace)
        if _terminating(namespace.fields):
            raise _refused(ctx, name)
    known_good = namespace.revision

    def guard(transaction: Transaction) -> None:
        stored = transaction.get(NAMESPACES, "", ctx.namespace)
        if stored is None:
            raise not_found(NAMESPACES, ctx.namespace)
        if stored.revision != known_good:
            status = orjson.loads(stored.encoded.body).get("status") or {}
            if status.get("phase") == "Terminating":
                raise _refused(ctx, name)

    return guard


def both(first: Guard | None, second: Guard | None) -> Guard | None:
    """One guard that asks two."""
    if first is None or second is None:
        return first or second

    def guard(transaction: Transaction) -> None:
        first(transaction)
        second(transaction)

    return guard


def _terminating(fields: Mapping[str, str]) -> bool:
    return fields.get("status.phase") == "Terminating"


def _refused(ctx: RequestContext, name: str) -> StatusError:
    return forbidden(
        ctx.resource.group_resource, name,
        f"unable to create new content in namespace {ctx.namespace} because it is being terminated",
        causes=(
            Cause(
                "NamespaceTerminating", f"namespace {ctx.namespace} is being terminated",
                "metadata.namespace",
            ),
        ),
    )  # fmt: skip


def empty_namespace(name: str) -> Guard:
    """The guard of a namespace's end: nothing may be left in it."""

    def guard(transaction: Transaction) -> None:
        left = transaction.count(None, name)
        if left:
            why = f"the namespace still holds {left} object{'' if left == 1 else 's'}"
            raise conflict(NAMESPACES, name, why)

    return guard
