"""All controllers of a process: made, started together, stopped together, counted in one record.

Run by `process`; tests run one against a server of their own.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from listwatch.controllers.catalogue import CONTROLLERS
from listwatch.controllers.clocks import clock_of
from listwatch.controllers.controller import Controller, ControllerStatistics
from listwatch.controllers.environment import Environment
from listwatch.controllers.events import EventStatistics
from listwatch.controllers.selection import selected
from listwatch.informer import LeaderElectionOptions, LeaderElector

if TYPE_CHECKING:
    from listwatch.controllers.options import ControllerOptions
    from listwatch.informer import ClientConfig
    from listwatch.informer.shared_informer import InformerStatistics
    from listwatch.informer.traffic import ClientStatistics
    from listwatch.protocol.clock import Clock

logger = logging.getLogger(__name__)

AGAIN = 5.0  # seconds until a controller that ended by itself is waited for again


@dataclass(frozen=True, slots=True)
class ManagerStatistics:
    """A process of controllers at one moment."""

    running: bool
    controllers: tuple[ControllerStatistics, ...]
    informers: tuple[InformerStatistics, ...]
    events: tuple[EventStatistics, ...]
    clients: tuple[ClientStatistics, ...]


class Manager:
    """Runs the controllers that the options select. One event loop; runs once.

    Each begins when its own caches are filled: one that is not answered holds up no other.
    """

    def __init__(
        self,
        config: ClientConfig,
        options: ControllerOptions,
        *,
        clock: Clock | None = None,
        identity: str = "listwatch",
    ) -> None:
        names = selected(options.controllers, CONTROLLERS)
        self.options = options
        self.environment = Environment(config, options, clock or clock_of(options.speed))
        self.controllers: list[Controller] = [CONTROLLERS[name](self.environment) for name in names]
        self._identity = identity
        self._running = False

    async def run(self) -> None:
        """Work until cancelled; with `lead`, only while no other process leads."""
        try:
            if self.options.lead:
                await self._run_as_leader()
            else:
                await self._run()
        finally:
            await self.environment.informers.shutdown()
            await self.environment.close()

    def statistics(self) -> ManagerStatistics:
        """A record of now."""
        environment = self.environment
        return ManagerStatistics(
            self._running,
            tuple(each.statistics() for each in self.controllers),
            environment.informers.statistics(),
            tuple(each.statistics() for each in environment.recorders),
            tuple(each.statistics() for each in environment.clients),
        )

    async def _run_as_leader(self) -> None:
        options = LeaderElectionOptions(
            "kube-controller-manager", self._identity, "kube-system", release_on_cancel=True
        )
        # Whether others still live is judged by real time, whatever time is played here.
        await LeaderElector(self.environment.client, options).run(self._run)

    async def _run(self) -> None:
        recorders = [
            self.environment.recorder(each.component or each.name) for each in self.controllers
        ]
        self.environment.informers.start()
        self._running = True
        try:
            async with asyncio.TaskGroup() as group:
                for recorder in dict.fromkeys(recorders):
                    group.create_task(recorder.run(), name=f"events {recorder.component}")
                for controller in self.controllers:
                    group.create_task(self._keep(controller), name=controller.name)
        finally:
            self._running = False

    async def _keep(self, controller: Controller) -> None:
        """Run a controller; one whose start failed is started again."""
        while True:
            try:
                await controller.run()
            except Exception:
                logger.exception("%s ended, and begins again", controller.name)
            await asyncio.sleep(AGAIN)
