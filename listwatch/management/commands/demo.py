"""`demo`: the way of a pod through a running server, each hop with its time."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from listwatch.management.options import add_data, data_folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from listwatch.controllers.pods_way import Hop
    from listwatch.informer import ClientConfig

PATIENCE = 60.0  # seconds for all of it


class Command(BaseCommand):
    """Makes a namespace of its own on a server that runs with controllers, and removes it again."""

    help = "Create a deployment on a running server, and see who does what because of which watch."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Where the server is, and how many pods."""
        add_data(parser)
        parser.add_argument("--kubeconfig", metavar="FILE", help="of another server")
        parser.add_argument("--replicas", type=int, default=2, help="pods of the deployment")

    def handle(self, *args: Any, **given: Any) -> None:
        """Print every hop."""
        from listwatch.informer import kubeconfig
        from listwatch.informer.errors import ApiError, TransportError

        if not 1 <= given["replicas"] <= 50:
            raise CommandError("--replicas: from 1 to 50, or nobody could follow")
        path = given["kubeconfig"] or data_folder().kubeconfig
        try:
            asyncio.run(self._tell(kubeconfig.load(path), given["replicas"]))
        except TimeoutError as error:
            raise CommandError(
                f"not done within {PATIENCE:.0f} s: does the server run with its controllers?"
            ) from error
        except (ApiError, TransportError, ValueError, OSError) as error:
            raise CommandError(str(error)) from error

    async def _tell(self, config: ClientConfig, replicas: int) -> None:
        from listwatch.controllers.pods_way import PodsWay
        from listwatch.informer import Client

        async with asyncio.timeout(PATIENCE), Client(config, user_agent="listwatch-demo") as client:
            way = PodsWay(client, f"demo-{secrets.token_hex(3)}", replicas)
            async with way.watching():
                self.stdout.write(f"A deployment comes, in namespace {way.namespace}:\n")
                await self._print(way.hops())
                self.stdout.write("\nIt goes:\n")
                await self._print(way.leave())

    async def _print(self, hops: AsyncIterator[Hop]) -> None:
        async for hop in hops:
            watched = f", which watches {hop.watched}," if hop.watched else ""
            when = f"{hop.seconds * 1000:7.0f} ms  rv {hop.revision or '-':<8}"
            self.stdout.write(f"{when} {hop.actor}{watched} {hop.did}")
