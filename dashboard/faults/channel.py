"""The socket's channel of faults: the banner of every page, and the tables of their own page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboard.faults import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from listwatch.runtime import Runtime, RuntimeStatistics

JSON = dict[str, Any]  # Any: JSON values


class FaultChannel:
    """Tells at once when a fault begins or ends, and of hits with each look. For one browser."""

    def __init__(self, runtime: Runtime, argument: str, wake: Callable[[], None]) -> None:
        self._runtime = runtime
        self._wake = wake
        self._sent: JSON | None = None
        self.dirty = True
        if runtime.faults is not None:
            runtime.faults.on_change.append(self._changed)

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """The tables if anything in them is not as it was."""
        return self.take()

    def take(self) -> JSON | None:
        """The same, as soon as something begins or ends."""
        self.dirty = False
        tables = rows.tables(self._runtime)
        if tables == self._sent:
            return None
        self._sent = tables
        return tables

    def show(self, visible: bool) -> None:
        """Nothing is observed that could be spared."""

    def pause(self, paused: bool) -> None:
        """There is nothing to freeze."""

    def close(self) -> None:
        """Be told no more."""
        faults = self._runtime.faults
        if faults is not None and self._changed in faults.on_change:
            faults.on_change.remove(self._changed)

    def _changed(self) -> None:
        self.dirty = True
        self._wake()
