"""What templates write: formatted numbers, ages, and the ring's drawing for still pages.

The modules in static/dashboard write the same once a page is live.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard import formats

register = template.Library()

Ring = dict[str, Any]  # Any: the frame's values, see `frames.ring`
_TYPES = ("ADDED", "MODIFIED", "DELETED", "unread")
# Each kind a shape of its own, so that colour never speaks alone; ring.js has the same.
_TICK = "M-4.5 15h9L.75 22v2h-1.5v-2z"
MARKS = {
    "fine": _TICK,
    "still": _TICK,
    "soon": "M0 13l5 5-4.25 4.25V24h-1.5v-1.75L-5 18z",
    "near": "M-4.5 13h9v7.5H.75V24h-1.5v-3.5h-3.75z",
    "lost": "M-5 15.5l1.5-1.5L0 17.5 3.5 14 5 15.5 1.5 19 5 22.5 3.5 24 0 20.5-3.5 24-5 22.5-1.5 19z",  # noqa: E501 (a path)
}
_KEY = re.compile(r"^([ ]*(?:- +)*)([^\s:#\"'-][^\s:]*|\"[^\"]*\")(:(?: .*)?)$")
_STRIP = 1000  # units of the strip's own width
_HEIGHT = 40


@register.filter
def count(value: Any) -> str:  # Any: None in the empty row of a <template>
    """A number with thousands apart."""
    return formats.count(value) if isinstance(value, int) else ""


@register.filter
def rate(value: Any) -> str:  # Any: as above
    """Events a second."""
    return formats.rate(value) if isinstance(value, (int, float)) else ""


@register.filter
def ms(value: Any) -> str:  # Any: as above
    """Milliseconds."""
    return formats.ms(value) if isinstance(value, (int, float)) else ""


@register.filter
def size(value: Any) -> str:  # Any: as above
    """Bytes."""
    return formats.size(value) if isinstance(value, int) else ""


@register.filter
def cell(row: Any, field: str) -> str:  # Any: a row of a table of objects, None as above
    """The text of one column of a row."""
    return str(row.get(field, "")) if isinstance(row, dict) else ""


@register.filter
def yaml_text(text: str) -> SafeString:
    """YAML with its keys marked, so that a reader's eye finds them."""
    return format_html_join(
        "\n",
        "{}{}{}",
        (
            (match[1], format_html('<span class="key">{}</span>', match[2]), match[3])
            if (match := _KEY.match(line))
            else ("", line, "")
            for line in text.rstrip("\n").split("\n")
        ),
    )


@register.simple_tag
def age(moment: Any, now: Any) -> SafeString | str:  # Any: as above
    """The age of a moment as kubectl writes it; the exact time is the tooltip."""
    if not isinstance(moment, (int, float)) or not isinstance(now, (int, float)):
        return ""
    exact = datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
    return format_html(
        '<time datetime="{}" title="{}" data-at="{}">{}</time>',
        exact,
        exact,
        repr(float(moment)),
        formats.age(now - moment),
    )


@register.simple_tag
def ringstrip(ring: Ring) -> SafeString:
    """The slots of the ring: one column a bucket, its parts by type, as ring.js draws them."""
    cell = _STRIP * ring["per_bucket"] / ring["capacity"]
    gap = 1 if cell > 4 else 0
    parts: list[tuple[str, str, str, str, str]] = []
    for index, counts in enumerate(ring["buckets"]):
        total, top = sum(counts), 0.0
        width = max(cell * total / ring["per_bucket"] - gap, 0.5)
        for name, each in zip(_TYPES, counts, strict=True):
            if each:
                height = _HEIGHT * each / total
                numbers = (index * cell, top, width, height)
                parts.append((*(f"{number:.2f}" for number in numbers), name))  # type: ignore[arg-type]
                top += height
    return format_html_join("", '<rect x="{}" y="{}" width="{}" height="{}" class="{}"/>', parts)


@register.simple_tag
def ringmarks(ring: Ring, of: str) -> SafeString:
    """Where each watcher stands (or each resume point), as ring.js draws it."""
    marks = []
    for mark in ring["marks"]:
        if mark["of"] != of:
            continue
        percent = 100 * mark["at"] / ring["capacity"]
        anchor = "end" if percent > 97 else "start" if percent < 3 else "middle"
        marks.append((
            f"{percent:.2f}%", mark["is"], mark["title"], MARKS[mark["is"]],
            "translate(0 28) scale(1 -1)" if of == "resume" else "",
            26 if of == "resume" else 10, anchor, mark["label"],
        ))  # fmt: skip
    return format_html_join(
        "",
        '<svg x="{}" overflow="visible" class="mark" data-is="{}"><title>{}</title>'
        '<path d="{}" transform="{}"/><text y="{}" text-anchor="{}">{}</text></svg>',
        marks,
    )


@register.simple_tag
def ringzones(ring: Ring) -> SafeString:
    """How long each stretch of the strip will last, as ring.js draws it."""
    share = 100 / ring["capacity"]
    zones = [
        (f"{zone['from'] * share:.2f}%", f"{zone['size'] * share:.2f}%", zone["is"])
        for zone in ring["zones"]
    ]
    return format_html_join("", '<rect x="{}" width="{}" height="6" fill="url(#hatch-{})"/>', zones)


@register.simple_tag
def until(moment: Any, now: Any) -> str:  # Any: as above
    """How long it is until a moment, as kubectl writes ages."""
    if not isinstance(moment, (int, float)) or not isinstance(now, (int, float)):
        return ""
    return formats.age(max(moment - now, 0))
