"""What a page has started and sees live: watchers, informers, lessons, ways, comparisons.

`session` keeps them by name, starts, pauses and stops them, and sends what they `take`; `MAKERS`
is filled by `makers`, one for each kind.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dashboard.access import Visitor
    from listwatch.runtime import Runtime

JSON = dict[str, Any]  # Any: JSON values
Message = Mapping[str, Any]  # Any: JSON values


class Attached(Protocol):
    """Something that lives as long as the page wants it. Owned by the session's loop."""

    dirty: bool

    def start(self) -> None:
        """Begin, in tasks of its own."""

    async def stop(self) -> None:
        """End all it has begun, and wait for that."""

    def pause(self, paused: bool) -> None:
        """Freeze or unfreeze the view."""

    def show_page(self, visible: bool) -> None:
        """Whether somebody looks."""

    def take(self) -> JSON:
        """What the page has not seen yet; called when `dirty`."""

    async def act(self, message: Message) -> None:
        """Do what a button says; raises StatusError for what it does not know."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a live thing is made with: the server, who looks, and how to say that there is news."""

    runtime: Runtime
    visitor: Visitor
    wake: Callable[[], None]
    address: str = ""  # of the browser
    url: str = ""  # of this server, as the browser reached it


Maker = Callable[[Opening, Message], Awaitable[Attached]]
