"""What templates write of faults."""

from __future__ import annotations

import math
from typing import Any

from django import template

register = template.Library()


@register.simple_tag
def left(until: Any, now: Any) -> str:  # Any: None in the empty row of a <template>
    """The time until a moment, as static/dashboard/fault_banner.js counts it down."""
    if not isinstance(until, (int, float)) or not isinstance(now, (int, float)):
        return ""
    seconds = max(0, math.ceil(until - now))
    return f"{seconds}s" if seconds < 120 else f"{math.ceil(seconds / 60)}m"
