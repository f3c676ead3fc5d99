"""Durations as kubectl's users read them: `59s`, `2m3s`, `3h4m`, `2d3h`, `2y35d`.

Used by the Age cells of Tables (`schemas.cells`) and by everything a person reads.
"""

from __future__ import annotations

_MINUTE, _HOUR, _DAY, _YEAR = 60, 60 * 60, 24 * 60 * 60, 365 * 24 * 60 * 60

# Up to so many seconds, a duration is told in this unit and, if given, the next smaller one.
_STEPS = (
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def human_duration(seconds: float) -> str:
    """A duration in the two or three digits that tell most; `<invalid>` for one below -1 s.

    Clocks differ: what is up to a second in the future counts as now.
    """
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    for limit, unit, name, smaller, smaller_name in _STEPS:
        if whole < limit:
            text = f"{whole // unit}{name}"
            rest = whole % unit // smaller if smaller else 0
            return f"{text}{rest}{smaller_name}" if rest else text
    return f"{whole // _YEAR}y"


def short_human_duration(seconds: float) -> str:
    """A duration in its largest unit only: `59s`, `2m`, `3h`, `8d`, `2y`."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    for limit, unit, name in (
        (_MINUTE, 1, "s"),
        (_HOUR, _MINUTE, "m"),
        (_DAY, _HOUR, "h"),
        (_YEAR, _DAY, "d"),
    ):
        if whole < limit:
            return f"{max(whole, 0) // unit}{name}"
    return f"{whole // _YEAR}y"
