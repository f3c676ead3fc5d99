"""`controllers`: the controllers by themselves, for a server anywhere."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from listwatch.management.options import add_data, data_folder


class Command(BaseCommand):
    """Runs until SIGINT or SIGTERM. `serve --no-controllers` leaves room for it."""

    help = "Run the controllers of a cluster, and its nodes, against an API server."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Where the server is, and which controllers run."""
        from listwatch.controllers.arguments import add_arguments

        add_data(parser)
        add_arguments(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        """Run; the server is that of the data folder unless another one is named."""
        from listwatch.controllers import process
        from listwatch.controllers.arguments import config_of, options_of

        folder = data_folder()
        if not given["server"] and not given["kubeconfig"] and folder.kubeconfig.is_file():
            given["kubeconfig"] = str(folder.kubeconfig)
            if not given["root_ca"] and folder.ca_certificate.is_file():
                given["root_ca"] = str(folder.ca_certificate)
        try:
            process.run(config_of(given), options_of(given))
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
