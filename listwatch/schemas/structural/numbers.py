"""JSON values compared and written as Go does it, where Python differs."""

from __future__ import annotations

from typing import Any

import orjson


def same(one: Any, other: Any) -> bool:  # Any: JSON
    """Whether two values are equal as JSON: true is not 1, but 1.0 is."""
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(v, other[k]) for k, v in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def number_text(value: float) -> str:
    """A number as Go's `%v` writes a float."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return orjson.dumps(value).decode()
