"""When a cron job runs: the five fields of its schedule, and what can be wrong with them.

The words are those of the parser that upstream uses (robfig/cron v3, standard form).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_DESCRIPTORS = frozenset(
    ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
)
_DURATION = re.compile(r"([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+")


class _Bounds(NamedTuple):
    least: int
    most: int
    names: tuple[str, ...] = ()


_MONTHS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    _Bounds(0, 59),
    _Bounds(0, 23),
    _Bounds(1, 31),
    _Bounds(1, 12, _MONTHS),
    _Bounds(0, 6, _DAYS),
)


def schedule_fault(schedule: str) -> str:
    """Why a schedule is none; '' if it is one."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        schedule = schedule.partition(" ")[2].strip()
    try:
        if schedule.startswith("@"):
            _check_descriptor(schedule)
        else:
            _check_fields(schedule.split())
    except ValueError as error:
        return str(error)
    return ""


def _check_descriptor(text: str) -> None:
    if text.startswith("@every "):
        duration = text.removeprefix("@every ")
        if not _DURATION.fullmatch(duration):
            why = f'failed to parse duration {text}: time: invalid duration "{duration}"'
            raise ValueError(why)
    elif text not in _DESCRIPTORS:
        raise ValueError(f"unrecognized descriptor: {text}")


def _check_fields(fields: list[str]) -> None:
    if len(fields) != len(_FIELDS):
        shown = f"[{' '.join(fields)}]"
        raise ValueError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: {shown}")
    for text, bounds in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            if part:
                _check_range(part, bounds)


def _check_range(text: str, bounds: _Bounds) -> None:
    places, *steps = text.split("/")
    ends = places.split("-")
    if ends[0] in ("*", "?"):
        start, end = bounds.least, bounds.most
    else:
        start = end = _number(ends[0], bounds)
        if len(ends) == 2:
            end = _number(ends[1], bounds)
        elif len(ends) > 2:
            raise ValueError(f"too many hyphens: {text}")
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {text}")
    step = _number(steps[0], _Bounds(0, 0)) if steps else 1
    if steps and len(ends) == 1:
        end = bounds.most
    for wrong, why in (
        (start < bounds.least, f"beginning of range ({start}) below minimum ({bounds.least})"),
        (end > bounds.most, f"end of range ({end}) above maximum ({bounds.most})"),
        (start > end, f"beginning of range ({start}) beyond end of range ({end})"),
        (step == 0, "step of range should be a positive number"),
    ):
        if wrong:
            raise ValueError(f"{why}: {text}")


def _number(text: str, bounds: _Bounds) -> int:
    if text.lower() in bounds.names:
        return bounds.least + bounds.names.index(text.lower())
    if not re.fullmatch("[+-]?[0-9]{1,18}", text):
        why = f'strconv.Atoi: parsing "{text}": invalid syntax'
        raise ValueError(f"failed to parse int from {text}: {why}")
    number = int(text)
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number
