"""`login`: another login link, when the one that `serve` printed was used or is too old."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from listwatch.management.options import add_data, data_folder
from listwatch.serving.login import ensure_admin, make_token


class Command(BaseCommand):
    """Prints a link that logs a browser in as the admin, once."""

    help = "Print a link that logs a browser in once."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """The folder, and where the server is."""
        add_data(parser)
        parser.add_argument(
            "--url", default="http://127.0.0.1:8000", help="the server's plain port"
        )

    def handle(self, *args: Any, **given: Any) -> None:
        """Print it alone on a line."""
        if not data_folder().secret_key.is_file():
            raise CommandError("this folder was never served: `serve` prints a link when it starts")
        self.stdout.write(f"{given['url'].rstrip('/')}/login/{make_token(ensure_admin())}/")
