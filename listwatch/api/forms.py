"""Answers turned into the kind that was negotiated, as JSON text: themselves, metadata, a Table.

An object becomes one text; a list becomes a Collection, whose items are made batch by batch while
it is sent. `renderers` lay both out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from listwatch.api import tables
from listwatch.api.answers import ListAnswer, ObjectAnswer
from listwatch.api.negotiation import PARTIAL, PARTIAL_LIST, TABLE
from listwatch.api.partial import partial_object
from listwatch.protocol.errors import StatusError
from listwatch.protocol.objects import splice, splice_item
from listwatch.registry.conversions import converts, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from listwatch.api.request import KubernetesRequest
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version

_STATUS = b'{"kind":"Status",'
_BATCH = 100  # items, where each has to be made: together they take some milliseconds


class Collection(NamedTuple):
    """A list on its way out: `head` is all of it but the items, which stand last under `key`.

    `joined`, if there is one, is the quick way for a reader who wants them as they are: pieces in
    which every item has a comma before it.
    """

    head: JSONObject
    key: str
    batches: Iterator[list[bytes]]
    joined: Iterator[bytes] | None = None


def form_of(
    data: Any, request: KubernetesRequest
) -> bytes | Collection:  # Any: whatever a view answers
    """The answer in the negotiated kind; raises 406 where a list or an object cannot be that."""
    kind = request.form.kind
    if isinstance(data, ObjectAnswer):
        if data.encoded.body.startswith(_STATUS):
            return data.encoded.body  # what an action answers, never turned into anything
        if kind == PARTIAL_LIST:
            raise _not_that(PARTIAL_LIST, "not a list")
        if kind == TABLE:
            return _table_of_one(data, request)
        if kind == PARTIAL:
            return partial_object(data.encoded, data.revision, request.form.api_version)
        return _object(data)
    if isinstance(data, ListAnswer):
        if kind == PARTIAL:
            raise _not_that(PARTIAL, "a list")
        return _list(data, request)
    return data if isinstance(data, bytes) else orjson.dumps(data)


def _object(answer: ObjectAnswer) -> bytes:
    if answer.revision:
        return splice(answer.encoded, answer.revision)
    return answer.encoded.body


def _list(answer: ListAnswer, request: KubernetesRequest) -> Collection:
    resource, form = answer.resource, request.form
    metadata = list_metadata(answer)
    if form.kind == TABLE:
        table = tables.TableForm.of_request(resource, request)
        head = table.head(metadata, columns=True)
        batches = _batches(answer.versions, _BATCH, table.row_of)
        return Collection(head, "rows", batches)
    head = {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": metadata}
    if form.kind == PARTIAL_LIST:
        head = {"kind": PARTIAL_LIST, "apiVersion": form.api_version, "metadata": metadata}

        def partial(version: Version) -> bytes:
            return partial_object(version.encoded, version.revision, form.api_version, version)

        return Collection(head, "items", _batches(answer.versions, _BATCH, partial))
    # The items of a built-in list do not say what they are; those of a custom one do.
    write = splice_item if resource.custom is None else splice
    if converts(resource):

        def converted(version: Version) -> bytes:
            return write(served(resource, version.encoded), version.revision)

        return Collection(head, "items", _batches(answer.versions, _BATCH, converted))

    def item(version: Version) -> bytes:
        return write(version.encoded, version.revision)

    batches = _batches(answer.versions, _BATCH, item)
    return Collection(head, "items", batches, request.services.pieces.of(answer.versions, item))


def list_metadata(answer: ListAnswer) -> JSONObject:
    """The metadata of a list, and of the Table it becomes."""
    metadata: JSONObject = {"resourceVersion": str(answer.revision)} if answer.revision else {}
    if answer.continue_token:
        metadata["continue"] = answer.continue_token
    if answer.remaining is not None:
        metadata["remainingItemCount"] = answer.remaining
    return metadata


def _batches(
    versions: Sequence[Version], size: int, item: Callable[[Version], bytes]
) -> Iterator[list[bytes]]:
    for start in range(0, len(versions), size):
        yield [item(version) for version in versions[start : start + size]]


def _table_of_one(answer: ObjectAnswer, request: KubernetesRequest) -> bytes:
    table = tables.TableForm.of_request(answer.resource, request)
    revision = {"resourceVersion": str(answer.revision)} if answer.revision else {}
    head = orjson.dumps(table.head(revision, columns=True))
    return b'%b,"rows":[%b]}' % (head[:-1], table.row(answer.encoded, answer.revision))


def _not_that(kind: str, what: str) -> StatusError:
    message = f"you requested {kind}, but the requested object is {what}"
    return StatusError(406, "NotAcceptable", message)
