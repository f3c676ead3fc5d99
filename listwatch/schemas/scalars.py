"""Texts that stand for other things: times and base64; their faults as Go words them.

Each function returns the normal form of a text, or raises ValueError with the message that the
original's decoder gives. Used by `decoding`.
"""

from __future__ import annotations

import binascii
import re
from datetime import UTC, datetime, timedelta, timezone

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII
)
_LAYOUT = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"
# The steps of a layout: what Go calls them in its message, and what they match.
_STEPS = (
    ("2006", r"\d{4}"), ("-", "-"), ("01", r"\d\d"), ("-", "-"), ("02", r"\d\d"), ("T", "T"),
    ("15", r"\d{1,2}"), (":", ":"), ("04", r"\d\d"), (":", ":"), ("05", r"\d\d"),
)  # fmt: skip


def seconds(text: str) -> str:
    """The normal form of a `Time`: UTC, whole seconds."""
    moment, _ = _parse(text, _LAYOUT)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def microseconds(text: str) -> str:
    """The normal form of a `MicroTime`: UTC, six digits after the second."""
    moment, digits = _parse(text, _MICRO_LAYOUT)
    if len(digits) != 6:
        rest = text[19:]
        raise ValueError(_time_fault(text, _MICRO_LAYOUT, rest, ".000000"))
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _parse(text: str, layout: str) -> tuple[datetime, str]:
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(_first_fault(text, layout))
    *numbers, fraction, zone = match.groups()
    year, month, day, hour, minute, second = map(int, numbers)
    digits = fraction or ""
    try:
        offset = UTC if zone == "Z" else _offset(zone)
        moment = datetime(
            year, month, day, hour, minute, second, int((digits + "000000")[:6]), offset
        ).astimezone(UTC)
    except (ValueError, OverflowError):
        part = _out_of_range(month, day, hour, minute, second)
        raise ValueError(f'parsing time "{text}": {part} out of range') from None
    return moment, digits


def _offset(zone: str) -> timezone:
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if zone[0] == "-" else offset)


def _out_of_range(month: int, day: int, hour: int, minute: int, second: int) -> str:
    checks = (
        ("month", 1 <= month <= 12), ("hour", hour < 24), ("minute", minute < 60),
        ("second", second < 60), ("day", False),
    )  # fmt: skip
    return next(name for name, fits in checks if not fits)


def _first_fault(text: str, layout: str) -> str:
    rest = text
    for name, pattern in _STEPS:
        match = re.match(pattern, rest, re.ASCII)
        if match is None:
            return _time_fault(text, layout, rest, name)
        rest = rest[match.end() :]
    fraction = re.match(r"[.,]\d+", rest, re.ASCII)
    if fraction is not None:
        rest = rest[fraction.end() :]
    zone = re.match(r"Z|[+-]\d\d:\d\d", rest, re.ASCII)
    if zone is None:
        return _time_fault(text, layout, rest, "Z07:00")
    return f'parsing time "{text}": extra text: "{rest[zone.end() :]}"'


def _time_fault(text: str, layout: str, rest: str, step: str) -> str:
    return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{step}"'


_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def base64_text(text: str) -> str:
    """The same base64 text without line ends; ValueError names the first wrong byte."""
    if "\n" in text or "\r" in text:
        text = text.replace("\n", "").replace("\r", "")
    if _BASE64.fullmatch(text) is None:
        match = _BASE64.match(text)
        at = match.end() if match is not None else 0
        while at < len(text) and re.match(r"[A-Za-z0-9+/]", text[at]):
            at += 1
        raise ValueError(f"illegal base64 data at input byte {min(at, len(text))}")
    return text


def base64_length(text: str) -> int:
    """How many bytes a base64 text stands for."""
    return len(text) // 4 * 3 - text.count("=", -2)


def base64_bytes(text: str) -> bytes:
    """What a base64 text stands for."""
    return binascii.a2b_base64(text)
