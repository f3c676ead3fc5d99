"""What the list shows of a stored object: the cells of its Table, and its labels."""

from __future__ import annotations

import time
from typing import Any

from listwatch.protocol.kinds import Resource
from listwatch.protocol.objects import JSONObject, decode
from listwatch.protocol.objects import labels_of as _labels_of
from listwatch.registry.conversions import to_served
from listwatch.schemas.cells import row_cells
from listwatch.store.models import StoredObject


def document_of(stored: StoredObject) -> JSONObject:
    """The object, decoded once for its row."""
    document: JSONObject | None = vars(stored).get("_document")
    if document is None:
        document = to_served(resource_of(stored), decode(stored.encoded, stored.revision))
        vars(stored)["_document"] = document
    return document


def resource_of(stored: StoredObject) -> Resource:
    """The resource that a row's proxy model stands for."""
    resource: Resource = type(stored).kind  # type: ignore[attr-defined]
    return resource


def cells_of(stored: StoredObject) -> list[Any]:
    """The cells of its Table, in the order of the resource's columns (Any: texts and numbers)."""
    cells: list[Any] | None = vars(stored).get("_cells")
    if cells is None:
        # Pages are read by people, so this clock needs no hand to turn it.
        cells = row_cells(resource_of(stored).gvk, document_of(stored), time.time())
        vars(stored)["_cells"] = cells
    return cells


def labels_of(stored: StoredObject) -> dict[str, str]:
    """Its labels, sorted."""
    return dict(sorted(_labels_of(document_of(stored)).items()))
