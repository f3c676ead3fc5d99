"""The cells of a custom object's row: its name, and what the printer columns point to.

Upstream: apiextensions-apiserver/pkg/registry/customresource/tableconvertor. The caller is
`structural.kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from listwatch.protocol.clock import parse_rfc3339
from listwatch.protocol.durations import human_duration
from listwatch.protocol.kinds import Column
from listwatch.schemas.cells.json_paths import PathError, find

Printer = Mapping[str, Any]  # Any: one of additionalPrinterColumns
AGE: Printer = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_NAME = Column("Name", "string", "name")


def columns_of(printers: Sequence[Printer]) -> tuple[Column, ...]:
    """The columns of a Table: the name, then those of the definition."""
    return (_NAME, *map(_column, printers))


def _column(printer: Printer) -> Column:
    path = printer.get("jsonPath") or ""
    return Column(
        printer.get("name") or "",
        printer.get("type") or "",
        printer.get("format") or "",
        printer.get("priority") or 0,
        printer.get("description")
        or f"Custom resource definition column (in JSONPath format): {path}",
    )


def cells_of(
    printers: Sequence[Printer], document: Mapping[str, Any], now: float
) -> list[Any]:  # Any: JSON scalars
    """The cells of an object; null where a column points to nothing."""
    name = (document.get("metadata") or {}).get("name", "")
    return [name, *(_cell(printer, document, now) for printer in printers)]


def _cell(printer: Printer, document: Mapping[str, Any], now: float) -> Any:
    try:
        found = find(printer.get("jsonPath") or "", document)
    except PathError:
        return None
    if not found:
        return None
    write = _WRITERS.get(printer.get("type") or "")
    return None if write is None else write(found[0], now)


def _text(value: Any, _: float) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    return orjson.dumps(value).decode()


def _integer(value: Any, _: float) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number(value: Any, _: float) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _boolean(value: Any, _: float) -> bool | None:
    return value if isinstance(value, bool) else None


def _date(value: Any, now: float) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return human_duration(now - parse_rfc3339(value))
    except ValueError:
        return "<invalid>"


_WRITERS: dict[str, Callable[[Any, float], Any]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
}
