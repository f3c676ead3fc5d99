"""What the page and the banner tell of faults, as JSON values."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from listwatch.faults import FACTS, FaultSpec, FaultType

if TYPE_CHECKING:
    from listwatch.faults import Fault
    from listwatch.runtime import Runtime

JSON = dict[str, Any]  # Any: JSON values


def active(runtime: Runtime) -> list[JSON]:
    """Those that are on, as the banner shows them; empty where faults are off."""
    return [] if runtime.faults is None else [row(each) for each in runtime.faults.active()]


def tables(runtime: Runtime) -> JSON:
    """The whole page: what is on, what is over, and how often."""
    faults = runtime.faults
    if faults is None:
        return {"enabled": False, "active": [], "over": [], "counts": {}}
    statistics = faults.statistics()
    return {
        "enabled": True,
        "active": active(runtime),
        "over": [row(each) for each in faults.over()],
        "counts": {
            "injected": statistics.injected,
            "hits": statistics.hits,
            "held": statistics.held,
        },
    }


def row(fault: Fault) -> JSON:
    """One fault."""
    return {
        "id": str(fault.number),
        "type": str(fault.spec.type),
        "title": FACTS[fault.spec.type].title,
        "detail": detail(fault.spec),
        "reach": fault.spec.reach,
        "by": fault.by,
        "hits": fault.hits,
        "began_at": fault.began_at,
        "until": fault.until,
        "ended_at": fault.ended_at,
        "ended_by": fault.outcome or fault.ended_by,
    }


def detail(spec: FaultSpec) -> str:
    """What sets this one apart from others of its type."""
    match spec.type:
        case FaultType.EXPIRED:
            parts = ["as an ERROR event" if spec.form == "event" else "as an HTTP answer"]
        case FaultType.DELAY:
            parts = [f"{spec.delay_milliseconds:,} ms"]
        case FaultType.TOO_MANY_REQUESTS:
            parts = [f"Retry-After: {spec.retry_after_seconds}"]
        case _:
            parts = []
    if spec.times and not FACTS[spec.type].everywhere:
        parts.append("each client once" if spec.times == 1 else f"each client {spec.times} times")
    return ", ".join(parts)


def command(document: JSON) -> str:
    """The same by kubectl."""
    return f"echo {shlex.quote(json.dumps(document))} | kubectl create --raw /debug/faults -f -"
