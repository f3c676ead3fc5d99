"""The revisions of one object that the log still holds, and the difference between any two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.objects.writers import writer
from listwatch.editing.merging import difference
from listwatch.editing.texts import dump
from listwatch.protocol.errors import StatusError, bad_request

if TYPE_CHECKING:
    from dashboard.objects.asker import Asker
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.registry.history import Revision

JSON = dict[str, Any]  # Any: JSON values

SHOWN = 100


async def revisions(asker: Asker, resource: Resource, namespace: str, name: str) -> list[Revision]:
    """The newest, newest first; raises 403."""
    asker.require("get", resource, namespace, name)
    ctx = asker.context(resource, namespace, name)
    return list(await asker.runtime.registry.history(ctx, SHOWN))


def table(found: list[Revision]) -> list[JSON]:
    """Rows of what there is, each with who wrote it as far as its field managers tell.

    Nothing tells who deleted: the last state has the managers of the writes before it.
    """
    states = {each.revision: each.document for each in found}
    return [
        {
            "id": str(each.revision),
            "revision": str(each.revision),
            "type": str(each.type),
            "at": each.at,
            "previous": str(each.previous or ""),
            "generation": each.document["metadata"].get("generation"),
            "by": ""
            if each.type == "DELETED"
            else writer(each.document, states.get(each.previous)),
        }
        for each in found
    ]


def compared(found: list[Revision], older: str, newer: str) -> JSON:
    """The difference between two revisions; '' means the newest, and the one before that.

    A revision that the log does not hold is refused by name: 410, as a watch from there would be.
    """
    if not found:
        return {"older": "", "newer": "", "lines": []}
    known = {str(each.revision): each for each in found}
    last = _chosen(known, "newer", newer, found[0])
    before = known.get(str(last.previous))
    first = _chosen(known, "older", older, before) if older or before else None
    return {
        "older": str(first.revision) if first else "",
        "newer": str(last.revision),
        "lines": lines(text_of(first) if first else "", text_of(last)),
    }


def at(found: list[Revision], wanted: str) -> Revision:
    """One revision; raises 400, 410, or 404 where the log holds nothing of the object."""
    if not found:
        raise StatusError(404, "NotFound", "the log holds no revision of this object")
    return _chosen({str(each.revision): each for each in found}, "at", wanted, None)


def _chosen(
    known: dict[str, Revision], parameter: str, wanted: str, otherwise: Revision | None
) -> Revision:
    if not wanted and otherwise is not None:
        return otherwise
    if not (wanted.isascii() and wanted.isdecimal()):
        raise bad_request(f'{parameter}: "{wanted}" is no revision')
    if wanted not in known:
        oldest = min(known, key=int)
        raise StatusError(
            410, "Expired", f"the log does not hold revision {wanted} of this object: "
            f"the oldest that it holds is {oldest}",
        )  # fmt: skip
    return known[wanted]


def text_of(revision: Revision) -> str:
    """A state as text; what only the server counts is left out, and a deletion leaves nothing."""
    if revision.type == "DELETED":
        return ""
    return dump(_without_marks(revision.document))


def _without_marks(document: JSONObject) -> JSONObject:
    metadata = {
        name: value
        for name, value in document["metadata"].items()
        if name not in ("managedFields", "resourceVersion")
    }
    return {**document, "metadata": metadata}


def lines(before: str, after: str) -> list[JSON]:
    """A difference as the diff component shows it."""
    return [{"sign": each.sign, "text": each.text} for each in difference(before, after)]
