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


def value_text(value: Any) -> str:  # Any: JSON
    """A value as Go's `%v` writes it."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{value_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(value_text, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, float) else str(value)


def number_text(value: float) -> str:
    """A number as Go's `%v` writes a float."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return orjson.dumps(value).decode()
