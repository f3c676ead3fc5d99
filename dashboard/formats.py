"""Numbers and ages as people read them; static/dashboard/format.js writes the same in the browser.

A test holds the two to one table. Revisions are never formatted. Used by the template tags.
"""

from __future__ import annotations

from listwatch.protocol.durations import human_duration

_UNITS = ("KiB", "MiB", "GiB", "TiB")


def count(value: int | None) -> str:
    """A number with thousands apart; '' for none."""
    return "" if value is None else f"{value:,}"


def counted(value: int, thing: str) -> str:
    """A number of things: `1 event`, `1,204 events`."""
    return f"{count(value)} {thing}" if value == 1 else f"{count(value)} {thing}s"


def rate(value: float | None) -> str:
    """Events a second: one digit below ten."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    return _fixed(value, 1) if value < 9.95 else f"{int(value + 0.5):,}"


def ms(value: float | None) -> str:
    """A duration given in milliseconds."""
    if value is None:
        return ""
    if value < 0.0005:
        return "0"
    if value < 9.95:
        return f"{_fixed(value, 2 if value < 0.995 else 1)} ms"
    if value < 999.5:
        return f"{int(value + 0.5)} ms"
    return f"{_fixed(value / 1000, 1)} s" if value < 120_000 else age(value / 1000)


def size(value: int | None) -> str:
    """Bytes in powers of 1024."""
    if value is None:
        return ""
    if value < 1024:
        return f"{value} B"
    scaled, unit = value / 1024, 0
    while scaled >= 1023.95 and unit < len(_UNITS) - 1:
        scaled, unit = scaled / 1024, unit + 1
    number = _fixed(scaled, 1) if scaled < 9.95 else f"{int(scaled + 0.5)}"
    return f"{number} {_UNITS[unit]}"


def _fixed(value: float, digits: int) -> str:
    # Half up: Python and JavaScript round halves each in their own way.
    scale = 10**digits
    return f"{int(value * scale + 0.5) / scale:.{digits}f}"


def age(seconds: float) -> str:
    """Kubectl's short form of a duration (`human_duration`)."""
    return human_duration(seconds)
