"""Objects as rows of the table that the server prints: kubectl's columns and words.

The cells are those of the API's own Table; an age is a moment, so that it can tick on the page.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from dashboard.objects.catalogue import object_url
from listwatch.api.tables import TableForm
from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.objects import decode
from listwatch.registry.conversions import served

if TYPE_CHECKING:
    from listwatch.protocol.clock import Clock
    from listwatch.protocol.kinds import Resource
    from listwatch.protocol.objects import JSONObject
    from listwatch.protocol.versions import Version

JSON = dict[str, Any]  # Any: JSON values

LABELS = 40  # characters of the labels in a row; all of them are the tooltip
_AGE = "Age"
_GOOD = frozenset({
    "Running", "Active", "Bound", "Ready", "Available", "Complete", "Completed", "Succeeded",
    "True", "Established",
})  # fmt: skip
_BUSY = frozenset({
    "Pending", "Terminating", "ContainerCreating", "PodInitializing", "Released", "NotReady",
    "Unknown", "Suspended",
})  # fmt: skip


class TableOf:
    """Makes the rows of one kind; it keeps nothing but its columns."""

    def __init__(self, resource: Resource, clock: Clock) -> None:
        self.resource = resource
        self._form = TableForm(resource, clock)
        self.columns: list[JSON] = [
            {
                "name": column.name,
                "field": "created" if column.name == _AGE else f"c{index}",
                "wide": bool(column.priority),
                "number": column.type in ("integer", "number"),
                "description": column.description,
            }
            for index, column in enumerate(self._form.columns)
            if column.name != "Name"
        ]
        self._status = _index(self._form, "Status", "Phase")

    def row_of(self, version: Version) -> JSON:
        """The row of a version from the cache."""
        return self.row(decode(served(self.resource, version.encoded), version.revision))

    def row(self, document: JSONObject) -> JSON:
        """The row of an object as it is served."""
        metadata = document["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        cells = orjson.loads(self._form.cells(document))
        labels = ",".join(f"{k}={v}" for k, v in sorted((metadata.get("labels") or {}).items()))
        return {
            "id": f"{namespace}/{name}" if namespace else name,
            "namespace": namespace,
            "name": name,
            "url": object_url(self.resource, namespace, name),
            "revision": metadata.get("resourceVersion", ""),
            "created": moment(metadata.get("creationTimestamp")),
            "labels": labels,
            "state": self._state(cells, metadata),
            **{f"c{index}": _text(cell) for index, cell in enumerate(cells)},
        }

    def _state(self, cells: list[Any], metadata: JSONObject) -> str:
        """What the row's mark says beside its status: '' where there is none to judge."""
        if metadata.get("deletionTimestamp"):
            return "busy"
        if self._status is None:
            return ""
        word = str(cells[self._status]).split(",")[0]
        if word in _GOOD:
            return "good"
        return "busy" if word in _BUSY or word.startswith("Init:") else "bad" if word else ""


def _index(form: TableForm, *names: str) -> int | None:
    for name in names:
        for index, column in enumerate(form.columns):
            if column.name == name:
                return index
    return None


def _text(cell: Any) -> str:  # Any: a JSON scalar
    return "" if cell is None else str(cell)


@lru_cache(maxsize=4096)
def moment(timestamp: str | None) -> float | None:
    """Seconds since the epoch of a timestamp; None if there is none that can be read."""
    if not timestamp:
        return None
    try:
        return parse_rfc3339(timestamp)
    except ValueError:
        return None


def sorted_rows(rows: list[JSON], column: str) -> list[JSON]:
    """Rows by one column, descending with `-` before its field; else in the order of keys.

    Numbers stand by size, with what is no number behind them; the youngest is the first by age.
    """
    field, backwards = column.removeprefix("-"), column.startswith("-")
    if not field or not rows or field not in rows[0]:
        return sorted(rows, key=lambda row: row["id"])

    def value(row: JSON) -> tuple[int, float, str]:
        cell = row[field]
        if field == "created":
            return (0, -(cell or 0.0), row["id"])
        number = _number(cell)
        return (1, 0.0, cell) if number is None else (0, number, row["id"])

    return sorted(rows, key=value, reverse=backwards)


def _number(cell: str) -> float | None:
    try:
        return float(cell.partition("/")[0])
    except ValueError:
        return None
