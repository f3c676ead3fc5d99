"""Read the facts of the built-in API off a live API server into `listwatch/schemas/data`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from listwatch.schemas import refreshing
from listwatch.schemas.facts import DATA

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """What is done is done by `schemas.refreshing`; a running server must be started again."""

    help = "Reads resources and schemas of the built-in API off a live Kubernetes API server."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Where the server is, and where the files go."""
        parser.add_argument("url", help="the API server, as https://127.0.0.1:6443")
        parser.add_argument("--token", default="", help="a bearer token that may read everything")
        parser.add_argument(
            "--certificate-authority", type=Path, help="file with the CA of the server"
        )
        parser.add_argument(
            "--insecure", action="store_true", help="do not verify the server's certificate"
        )
        parser.add_argument("--output", type=Path, default=DATA, help="folder of the data files")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's signature
        """Read and write; fails with the address that could not be read."""
        try:
            server = refreshing.Server(
                options["url"],
                options["token"],
                options["certificate_authority"],
                options["insecure"],
            )
            facts = refreshing.read(server)
        except refreshing.RefreshError as error:
            raise CommandError(str(error)) from error
        for path in refreshing.write(facts, options["output"]):
            self.stdout.write(f"{path}")
        counts = f"{len(facts.resources)} resources and {len(facts.schemas)} schemas"
        self.stdout.write(f"{counts} of Kubernetes {facts.version}")
