"""The in-process doorbell: committed changes handed from the writing thread to the pump.

Only a hint: the pump applies them if they are the next ones, and reads the log if they are not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from listwatch.protocol.versions import Change
from listwatch.store.signals import changes_committed


class SignalDoorbell:
    """Forwards `changes_committed` into an event loop; connected from `connect` to `disconnect`.

    `offer` is called in the loop with changes in revision order. Nothing is promised about when,
    or whether at all.
    """

    def __init__(self, offer: Callable[[Sequence[Change]], None]) -> None:
        self._offer = offer
        self._loop: asyncio.AbstractEventLoop | None = None

    def connect(self) -> None:
        """Start forwarding into the running loop."""
        self._loop = asyncio.get_running_loop()
        changes_committed.connect(self._receive, weak=False, dispatch_uid=id(self))

    def disconnect(self) -> None:
        """Stop forwarding."""
        changes_committed.disconnect(dispatch_uid=id(self))
        self._loop = None

    def _receive(self, changes: Sequence[Change], **_: Any) -> None:  # Any: Django's keywords
        loop = self._loop
        if loop is None:
            return
        try:
            loop.call_soon_threadsafe(self._offer, changes)
        except RuntimeError:  # the loop has closed: the process is on its way out
            self._loop = None
