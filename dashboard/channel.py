"""What a channel of the socket is: it knows what one browser has, and says what is new to it.

The channels themselves are listed in `subscriptions`; `session` asks each for its part of a frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dashboard.machinery.recording import recorder_of
from dashboard.rates import Rates

if TYPE_CHECKING:
    from listwatch.runtime import Runtime, RuntimeStatistics

JSON = dict[str, Any]  # Any: JSON values
Wake = Callable[[], None]


class Subscription(Protocol):
    """One channel, for one browser."""

    dirty: bool

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """What changed in the statistics; None if nothing did."""

    def take(self) -> JSON | None:
        """What happened since; called when `dirty`."""

    def show(self, visible: bool) -> None:
        """Whether the page is looked at."""

    def pause(self, paused: bool) -> None:
        """Freeze or unfreeze the view."""

    def close(self) -> None:
        """The browser has it no longer."""


class Tables:
    """What channels of statistics have in common: they change only when looked at."""

    dirty = False

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        self._runtime = runtime
        self._recorder = recorder_of(runtime)
        self._rates = Rates(runtime.clock)
        self._parts: JSON = {}

    def take(self) -> JSON | None:
        """Nothing: only looks bring something."""
        return None

    def show(self, visible: bool) -> None:
        """Begin rates anew: what happened while hidden is not of this second.

        While any page is looked at, journeys are recorded, for whoever asks about one next.
        """
        self._rates = Rates(self._runtime.clock)
        if visible:
            self._recorder.listen(self._recorded)
        else:
            self._recorder.leave(self._recorded)

    def pause(self, paused: bool) -> None:
        """Nothing to freeze."""

    def close(self) -> None:
        """Record no more for this one."""
        self._recorder.leave(self._recorded)

    def _recorded(self) -> None:
        """Looks will tell."""

    def _changed(self, parts: JSON) -> JSON:
        """The parts that are not as they were sent last."""
        changed = {name: part for name, part in parts.items() if self._parts.get(name) != part}
        self._parts |= changed
        return changed
