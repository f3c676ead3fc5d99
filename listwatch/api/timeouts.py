"""How long a request may take: the `timeout` parameter, a duration as Go writes it.

Watches have `timeoutSeconds` instead and are not bounded here.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from listwatch.protocol.errors import bad_request
from listwatch.protocol.options import first

if TYPE_CHECKING:
    from listwatch.protocol.options import Query

_SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"[+-]?(?:0|(?:{_PART.pattern})+)")


def parse_duration(text: str) -> float:
    """Seconds of a Go duration such as `1m30s`; raises ValueError if it is none."""
    if not _DURATION.fullmatch(text):
        raise ValueError(f"invalid duration {text!r}")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return -seconds if text.startswith("-") else seconds


def deadline(query: Query, maximum: float) -> float:
    """How many seconds this request has; raises 400 for a timeout that cannot be read."""
    text = first(query, "timeout") if query else ""
    if not text:
        return maximum
    try:
        seconds = parse_duration(text)
    except ValueError:
        raise bad_request(
            f'invalid timeout specified in the request URL - time: invalid duration "{text}"'
        ) from None
    return seconds if 0 < seconds < maximum else maximum


class Deadline:
    """While entered, the current task has so many seconds; then it is cancelled: TimeoutError.

    As `asyncio.timeout`, at a third of its price: every request has one, and hardly any is late.
    """

    __slots__ = ("_asked", "_expired", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._expired = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._asked = task.cancelling()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._expire)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        # Whoever else cancelled the task meanwhile has it stay cancelled.
        late = self._expired and self._task.uncancel() <= self._asked
        if late and kind is asyncio.CancelledError:
            raise TimeoutError

    def _expire(self) -> None:
        self._expired = True
        self._task.cancel()
