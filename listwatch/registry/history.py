"""What the log still holds of one object: its revisions, as they are served now.

The log is compacted, so the history ends where it was cut. For people; the API has no such verb.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from listwatch.protocol.objects import decode
from listwatch.registry.conversions import by_webhook, to_served
from listwatch.store import reads

if TYPE_CHECKING:
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Change, ChangeType
    from listwatch.registry.backend import Backend
    from listwatch.registry.context import RequestContext
    from listwatch.registry.custom_resources.conversion import Converter


class Revision(NamedTuple):
    """One state of an object: of a deletion, the last it had. `at` is when it was committed."""

    revision: int
    type: ChangeType
    at: float
    previous: int  # 0: there was none
    document: JSONObject


async def history(
    backend: Backend, converter: Converter, ctx: RequestContext, limit: int
) -> list[Revision]:
    """The newest revisions, newest first; an object that is gone has its last ones, too."""
    changes: list[Change] = await backend.readers.run(
        reads.of_object, ctx.resource.storage, ctx.namespace, ctx.name, limit
    )
    documents = [decode(change.encoded, change.revision) for change in changes]
    if by_webhook(ctx.resource):
        target = ctx.resource.api_version
        documents = list(await converter.documents(ctx.resource, documents, target))
    else:
        documents = [to_served(ctx.resource, document) for document in documents]
    return [
        Revision(each.revision, each.type, each.committed_at, each.previous_revision, document)
        for each, document in zip(changes, documents, strict=True)
    ]
