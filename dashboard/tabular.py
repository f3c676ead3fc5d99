"""What changed in a table since it was last sent: the heart of small frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]  # Any: JSON values; `id` tells rows apart


class TableChanges:
    """Remembers the rows that one browser has, and says what is new to it.

    Promises that whoever applies every answer in turn has exactly the rows given last. Not shared
    between browsers.
    """

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self._told = False

    def update(self, rows: Sequence[Row]) -> Row | None:
        """`rows` that came or changed, `gone` ids, the new `order`; None if all is as it was.

        The first answer is `all`: whatever else the browser shows is no longer true.
        """
        now = {str(row["id"]): row for row in rows}
        changed = [row for key, row in now.items() if self._rows.get(key) != row]
        gone = [key for key in self._rows if key not in now]
        moved = list(now) != [key for key in self._rows if key in now]
        answer: Row = {} if self._told else {"all": True, "order": list(now)}
        self._rows, self._told = now, True
        if changed:
            answer["rows"] = changed
        if gone:
            answer["gone"] = gone
        if moved:
            answer["order"] = list(now)
        return answer or None
