"""The channels of the socket, by name; each is a `channel.Subscription`.

`session` asks each for its part of the next frame. Those with statistics are asked once a second
or so (`look`); the flow whenever something happened (`dirty`, `take`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dashboard import frames
from dashboard.channel import Subscription, Tables, Wake
from dashboard.faults.channel import FaultChannel
from dashboard.machinery import channels, flows
from dashboard.tabular import TableChanges

if TYPE_CHECKING:
    from listwatch.runtime import Runtime, RuntimeStatistics

__all__ = ["CHANNELS", "Subscription", "Wake"]

JSON = dict[str, Any]  # Any: JSON values


class Overview(Tables):
    """Figures and the table of resources."""

    def __init__(self, runtime: Runtime, argument: str, wake: Wake) -> None:
        super().__init__(runtime, argument, wake)
        self._table = TableChanges()

    async def look(self, statistics: RuntimeStatistics) -> JSON | None:
        """Figures come with every look, since the sparkline takes a bar from each."""
        received = {name: each.received for name, each in statistics.cachers.items()}
        rates = self._rates.read(received)
        rows = frames.overview(self._runtime, statistics)["resources"]
        for row in rows:
            row["rate"] = rates.get(row["id"])
        total = sum(rates.values()) if rates else None
        changed = self._changed({"figures": frames.figures(statistics, total)})
        if total:  # a second with events is a bar of its own, even if it equals the last
            changed["figures"] = self._parts["figures"]
        if (table := self._table.update(rows)) is not None:
            changed["table"] = table
        return changed or None


Maker = Callable[["Runtime", str, Wake], Subscription]

CHANNELS: dict[str, Maker] = {
    "overview": Overview,
    "resource": channels.ResourceChannel,
    "watchers": channels.Watchers,
    "watcher": channels.Watcher,
    "ring": channels.Ring,
    "rings": channels.Rings,
    "flow": flows.Flow,
    "event": channels.Event,
    "faults": FaultChannel,
}
