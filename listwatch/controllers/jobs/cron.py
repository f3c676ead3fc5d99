"""Cron schedules: `*/5 * * * *`, `@hourly`, `0 9 * * MON-FRI`, in a time zone.

Used by `cron_jobs`. The dialect is that of robfig/cron, which Kubernetes reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}  # fmt: skip
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_YEARS = 5  # a schedule that never comes within so many years never comes
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due, to the minute; or every so many seconds."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool  # neither `days` nor `weekdays` were restricted, or only one of them was
    every: float = 0.0
    zone: tzinfo = UTC

    @staticmethod
    def parse(text: str, zone: str = "") -> Schedule:
        """Read a schedule; raises ValueError that says what is wrong with it."""
        where: tzinfo = UTC
        if zone:
            try:
                where = ZoneInfo(zone)
            except (ZoneInfoNotFoundError, ValueError) as error:
                raise ValueError(f"unknown time zone {zone}") from error
        text = text.strip()
        if text.startswith("@every "):
            return _every(text.removeprefix("@every ").strip(), where)
        fields = _MACROS.get(text, text).split()
        if len(fields) != 5:
            raise ValueError(f"expected exactly 5 fields, found {len(fields)}: [{text}]")
        days, weekdays = fields[2], fields[4]
        return Schedule(
            _numbers(fields[0], 0, 59),
            _numbers(fields[1], 0, 23),
            _numbers(days, 1, 31),
            _numbers(fields[3], 1, 12, _MONTHS, first=1),
            frozenset(day % 7 for day in _numbers(weekdays, 0, 7, _DAYS)),
            any_day=_is_star(days) or _is_star(weekdays),
            zone=where,
        )

    def after(self, seconds: float) -> float | None:
        """The first time after this one, both in seconds since 1970; None if there is none."""
        if self.every:
            return float(int(seconds) + max(int(self.every), 1))
        moment = datetime.fromtimestamp(seconds, self.zone).replace(second=0, microsecond=0)
        moment += timedelta(minutes=1)
        last = moment.year + _YEARS
        while moment.year <= last:
            if moment.month not in self.months:
                moment = _next_month(moment)
            elif not self._is_day(moment):
                moment = moment.replace(hour=0, minute=0) + timedelta(days=1)
            elif moment.hour not in self.hours:
                moment = moment.replace(minute=0) + timedelta(hours=1)
            elif moment.minute not in self.minutes:
                moment += timedelta(minutes=1)
            else:
                found = moment.timestamp()
                if found > seconds:
                    return found
                moment += timedelta(minutes=1)  # an hour that the clocks show twice
        return None

    def _is_day(self, moment: datetime) -> bool:
        day = moment.day in self.days
        weekday = moment.isoweekday() % 7 in self.weekdays
        return day and weekday if self.any_day else day or weekday


def _next_month(moment: datetime) -> datetime:
    first = moment.replace(day=1, hour=0, minute=0)
    if first.month == 12:
        return first.replace(year=first.year + 1, month=1)
    return first.replace(month=first.month + 1)


def _is_star(field: str) -> bool:
    return field.startswith(("*", "?"))


def _every(text: str, zone: tzinfo) -> Schedule:
    total, number = 0.0, ""
    for letter in text:
        if letter.isdecimal() or letter == ".":
            number += letter
        elif letter in _UNITS and number:
            total, number = total + float(number) * _UNITS[letter], ""
        else:
            raise ValueError(f"failed to parse duration @every {text}")
    if number or total <= 0:
        raise ValueError(f"failed to parse duration @every {text}")
    none: frozenset[int] = frozenset()
    return Schedule(none, none, none, none, none, any_day=True, every=total, zone=zone)


def _numbers(
    field: str, low: int, high: int, names: list[str] | None = None, *, first: int = 0
) -> frozenset[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, slash, step_text = part.partition("/")
        step = int(step_text) if step_text.isdecimal() else 0
        if slash and not step:
            raise ValueError(f"failed to parse int from {step_text}: {field}")
        if _is_star(span):
            start, end = low, high
        else:
            begin, dash, until = span.partition("-")
            start = _number(begin, names, first)
            end = _number(until, names, first) if dash else (high if slash else start)
        if start < low or end > high or start > end:
            raise ValueError(f"{part} is not within {low} and {high}: {field}")
        found.update(range(start, end + 1, step or 1))
    return frozenset(found)


def _number(text: str, names: list[str] | None, first: int) -> int:
    if names and text.lower() in names:
        return names.index(text.lower()) + first
    if not text.isdecimal():
        raise ValueError(f"failed to parse int from {text}")
    return int(text)
