"""`token`: the admin's bearer token, for scripts."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from listwatch.management.options import add_data, data_folder, options


class Command(BaseCommand):
    """Prints the token that the server of this folder takes; made if there is none yet."""

    help = "Print the admin's token."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder."""
        add_data(parser)

    def handle(self, *args: Any, **given: Any) -> None:
        """Print it alone on a line."""
        self.stdout.write(data_folder().admin_token(options().token))
